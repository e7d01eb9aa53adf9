# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Show every issue at once: file, key path, found, allowed, fix."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from isaaclab_rlinf.config.errors import Issue
from isaaclab_rlinf.config.locate import Locator


def print_report(issues: Sequence[Issue], notices: Iterable[str] = (), stream: TextIO | None = None) -> None:
    """Print a report, coloured on a terminal.

    Args:
        issues: What is wrong; nothing is printed when there is neither an issue nor a notice.
        notices: Lines shown before the issues.
        stream: Where to print; stderr by default.
    """
    stream = stream or sys.stderr
    lines = report_lines(issues, notices)
    if not lines:
        return
    if stream.isatty():
        _print_rich(lines, stream)
    else:
        stream.write("\n".join(text for _, text in lines) + "\n")
    stream.flush()


def report_text(issues: Sequence[Issue], notices: Iterable[str] = ()) -> str:
    """Return the report as plain text."""
    return "\n".join(text for _, text in report_lines(issues, notices))


def report_lines(issues: Sequence[Issue], notices: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return ``(style, text)`` of each line; styles are ``title``, ``where``, ``plain`` and ``note``."""
    lines = [("note", f"note: {notice}") for notice in notices]
    if not issues:
        return lines
    count = "1 problem" if len(issues) == 1 else f"{len(issues)} problems"
    subject = "command line" if all(issue.on_command_line for issue in issues) else "configuration"
    lines.append(("title", f"The {subject} has {count}; nothing was started."))
    locator = Locator()
    places = [_place(issue) for issue in issues]
    for place in dict.fromkeys(places):
        if place:
            lines += [("plain", ""), ("plain", place)]
        for issue, of_issue in zip(issues, places, strict=True):
            if of_issue == place:
                lines += _issue_lines(issue, locator)
    return lines


def _place(issue: Issue) -> str:
    """Return the heading under which an issue stands; empty when it is about no place that a user writes in."""
    if issue.on_command_line:
        return "on the command line"
    return f"in {short_path(issue.file)}" if issue.file is not None else ""


def _issue_lines(issue: Issue, locator: Locator) -> list[tuple[str, str]]:
    line = issue.line or (locator.line(issue.file, issue.where) if issue.file is not None else None)
    at = f" (line {line})" if line is not None and not issue.where.startswith("line ") else ""
    rows = [("where", f"  {issue.where}{at}"), ("plain", f"      found:   {issue.found}")]
    if issue.allowed:
        rows.append(("plain", f"      allowed: {issue.allowed}"))
    if issue.fix:
        rows.append(("plain", f"      fix:     {issue.fix}"))
    return rows


def short_path(file: Path) -> str:
    """Return a path relative to the working directory when it lies below."""
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)


def _print_rich(lines: list[tuple[str, str]], stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    styles = {"title": "bold red", "where": "bold cyan", "note": "yellow", "plain": ""}
    console = Console(file=stream, highlight=False, soft_wrap=True)
    for style, text in lines:
        console.print(Text(text, style=styles[style]))
