# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The box that opens a run, in the look of Isaac Lab's other libraries but as wide as the terminal.

Isaac Lab 3.0.0's own (``LoadingScreen.summary``) is 50 columns wide whatever the terminal's width, which breaks every
path in the middle of a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import IO

PIPE_WIDTH = 100
"""Columns where the output is no terminal."""
_LEAST_WIDTH = 40


def summary_box(title: str, fields: Mapping[str, str], stream: IO[str]) -> str:
    """Return a box with one row per field.

    Args:
        title: Text in the top border.
        fields: Label -> value.
        stream: Where the box will be written, for its width and its characters.

    Returns:
        The box, without a trailing newline.
    """
    labels = max(map(len, fields)) + 2
    room = max(_LEAST_WIDTH, _columns(stream)) - labels - 4
    rows = [
        (label if first else "", part)
        for label, value in fields.items()
        for first, part in _numbered(wrap_path(_shown(value), room))
    ]
    width = max([len(title) + 4, *(labels + len(part) for _, part in rows)])
    body = [f"│ {label:<{labels}}{part:<{width - labels}} │" for label, part in rows]
    box = [f"╭─ {title} {'─' * (width - len(title) - 1)}╮", *body, f"╰{'─' * (width + 2)}╯"]
    text = "\n".join(box)
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return text.translate(str.maketrans("╭╮╰╯─│", "++++-|"))
    return text


def wrap_path(text: str, width: int) -> list[str]:
    """Break a text after a path separator or a space, and inside a word only where one alone is too long.

    Args:
        text: Path or words.
        width: Columns per line.

    Returns:
        The lines, at least one; joined they are the text.
    """
    lines = [""]
    for piece in re.findall(r"[^/ ]*[/ ]|[^/ ]+", text):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > width:
            lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return lines


def _numbered(lines: list[str]) -> list[tuple[bool, str]]:
    return [(index == 0, line.rstrip()) for index, line in enumerate(lines)]


def _shown(value: str) -> str:
    """Return a value as it is shown; control characters would break the box."""
    return "".join(character if character.isprintable() else "?" for character in value)


def _columns(stream: IO[str]) -> int:
    """Return the width of the terminal behind a stream."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or PIPE_WIDTH
    except (OSError, ValueError):
        return PIPE_WIDTH
