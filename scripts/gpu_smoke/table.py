# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The table, on the terminal and as the file that can be sent."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from .outcome import FAILED, PASSED, Result
from .plan import Check

HEADER = ("check", "proves (defect)", "seconds", "result", "reason, or what was measured")
_WIDTHS = (18, 42, 7, 13, 50)


def rows(checks: Sequence[Check], results: Mapping[str, Result]) -> list[tuple[str, str, str, str, str]]:
    """Return one row per check, in the order of the plan."""
    found = []
    for check in checks:
        result = results[check.name]
        numbers = f" ({', '.join(map(str, check.defects))})" if check.defects else ""
        status = f"{result.status} (kept)" if result.kept else result.status
        found.append((check.name, check.proves + numbers, f"{result.seconds:.0f}", status, result.note))
    return found


def terminal_table(checks: Sequence[Check], results: Mapping[str, Result]) -> str:
    """Return the table for a terminal; long cells are wrapped, nothing is left out."""
    lines = [_line(HEADER), "-" * (sum(_WIDTHS) + 2 * (len(_WIDTHS) - 1))]
    for row in rows(checks, results):
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, _WIDTHS, strict=True)]
        height = max(map(len, cells))
        lines += [_line([cell[at] if at < len(cell) else "" for cell in cells]) for at in range(height)]
    return "\n".join(lines)


def summary(results: Mapping[str, Result], clock: float) -> str:
    """Return how many checks ended how, and how long this call took by the clock."""
    states = [result.status for result in results.values()]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    return f"{counts}; this call took {clock:.0f} s"


def report(
    checks: Sequence[Check],
    results: Mapping[str, Result],
    where: Mapping[str, str],
    details: Mapping[str, str],
    clock: float,
) -> str:
    """Return the whole report in Markdown: machine, table, and the reasons of failures in full.

    Paths below the home directory are shortened: the report is meant to be sent.
    """
    lines = ["# GPU lane", "", *(f"- {key}: {value}" for key, value in {**where, **details}.items()), ""]
    lines += [f"| {' | '.join(HEADER)} |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows(checks, results)]
    lines += ["", summary(results, clock)]
    for check in checks:
        result = results[check.name]
        if result.status == FAILED:
            lines += ["", f"## {check.name}", "", "```", result.reason.strip(), "```"]
        if result.status != PASSED and result.measured:
            lines += [
                "",
                f"{check.name} measured {', '.join(f'{key} {value}' for key, value in result.measured.items())}",
            ]
    return "\n".join(lines).replace(str(Path.home()), "~") + "\n"


def _line(cells: Sequence[str]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
