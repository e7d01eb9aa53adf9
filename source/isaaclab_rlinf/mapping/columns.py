# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which columns of the observations become ``states``, and which of those a GR00T key reads: twice, never, beyond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import Gr00tStateSpec, StateSpec

WHERE = "gr00t_mapping.state"


def repeated_states(states: Sequence[StateSpec]) -> Iterator[tuple[str, str]]:
    """Yield ``(key path below the block, problem)`` for entries that are the same columns of the same key again.

    Args:
        states: The block's.
    """
    for (i, one), (j, other) in combinations(enumerate(states), 2):
        if one.key and one == other:
            yield f"states[{j}]", f"{_said(other)} is states[{i}] already; the model would get these columns twice"


def overlapping_states(states: Sequence[StateSpec]) -> list[str]:
    """Return a line for every two entries that share columns without being the same, which may be meant.

    Args:
        states: The block's.
    """
    lines = []
    for (i, one), (j, other) in combinations(enumerate(states), 2):
        whole = one.slice is None or other.slice is None
        if one.key == other.key and one != other and (whole or _shared(one.slice, other.slice)):
            lines.append(f"states[{i}] and states[{j}] share columns: {_said(one)} and {_said(other)}")
    return lines


def beyond_states(state: Sequence[Gr00tStateSpec], width: int) -> Iterator[tuple[str, str, str]]:
    """Yield key path, finding and what is allowed for every GR00T slice that ends beyond ``states``.

    Args:
        state: ``gr00t_mapping.state``.
        width: Width of the concatenated states.
    """
    for index, part in enumerate(state):
        if part.slice[1] > width:
            found = f"ends at column {part.slice[1]}, but states is {width} wide"
            yield f"{WHERE}[{index}].slice", found, f"columns within [0, {width}]"


def use_of_states(state: Sequence[Gr00tStateSpec], width: int | None) -> list[str]:
    """Return a line for columns of ``states`` that several GR00T keys read, and for those that none reads.

    Args:
        state: ``gr00t_mapping.state``; nothing is said when it is empty.
        width: Width of the concatenated states, None when it is not known.
    """
    lines = [
        f"{WHERE}: {one.gr00t_key} and {other.gr00t_key} both read columns {list(shared)} of states"
        for one, other in combinations(state, 2)
        if (shared := _shared(one.slice, other.slice))
    ]
    used = {column for part in state for column in range(*part.slice)}
    unused = [column for column in range(width or 0) if column not in used]
    if state and unused:
        ranges = ", ".join(f"[{first}, {last}]" for first, last in _runs(unused))
        lines.append(f"{WHERE}: no key reads columns {ranges} of the {width} of states")
    return lines


def _said(state: StateSpec) -> str:
    return repr(state.key) if state.slice is None else f"{state.key!r} [{state.slice[0]}, {state.slice[1]}]"


def _shared(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int] | None:
    first, last = max(one[0], other[0]), min(one[1], other[1])
    return (first, last) if first < last else None


def _runs(columns: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ``[first, last)`` of each run of consecutive columns."""
    first = columns[0]
    for column, following in zip(columns, [*columns[1:], None], strict=True):
        if following != column + 1:
            yield first, column + 1
            first = following
