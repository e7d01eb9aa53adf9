# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The one error type of the mapping, and the table it shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class MappingError(ValueError):
    """The task YAML's mapping and the task (or the data flowing through it) do not fit together."""


def hint(name: str, available: Iterable[str]) -> str:
    """Returns `` Did you mean 'x'?`` when a name close to ``name`` is available, else an empty string."""
    close = get_close_matches(name, list(available), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def format_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Formats rows as an indented plain-text table with aligned columns.

    Args:
        header: Column titles.
        rows: One sequence of cells per row; cells are shown with ``str``.
    """
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(line.rstrip() for line in lines)
