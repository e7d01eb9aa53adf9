# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Tables on the terminal; in a pipe or a file as wide as they need to be, so that nothing is cut."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 160


def open_console(stream: TextIO | None = None) -> Console:
    """Return a console that writes to a stream.

    Args:
        stream: Where to write; stdout by default.
    """
    from rich.console import Console

    stream = stream or sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else _PIPE_WIDTH, soft_wrap=False)


def print_table(console: Console, title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table under a title.

    Args:
        console: Where to print.
        title: What it shows.
        header: Column titles; empty for none.
        rows: One sequence of cells per row, shown with ``str``.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_header=any(header))
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console.print(table)
