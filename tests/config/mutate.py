# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Break a task YAML in every way a typo can, and say where a report must point."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutation:
    """One broken configuration."""

    name: str
    cfg: dict[str, Any]
    expected: tuple[str, ...]
    """Key paths, one of which must be in the report."""


FREE_SECTIONS = ("hydra", "defaults", "env.channel", "rollout.channel", "actor.channel", "algorithm.length_params")
"""Not read by RLinf 0.3.0's embodied path, or Hydra's own."""

ANY_NUMBER = (
    "reward_coef",
    "rewards_lower_bound",
    "rewards_upper_bound",
    "padding_value",
    "noise_params",
    "rewards.progress.weight",
)
"""Keys that may be negative."""


def mutations(base: dict[str, Any]) -> Iterator[Mutation]:
    """Yield every mutation of a valid configuration."""
    for path in paths(base):
        key_path = dotted(path)
        if key_path.startswith(FREE_SECTIONS):
            continue
        yield from _wrong_types(base, path)
        if not isinstance(path[-1], int):
            yield _misspelt(base, path)


def paths(node: Any, prefix: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every key and list entry."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*prefix, key)
        yield from paths(value, (*prefix, key))


def dotted(path: tuple[Any, ...]) -> str:
    """Return a path as a report writes it."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def get(node: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a path."""
    for part in path:
        node = node[part]
    return node


def changed(base: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return a copy with another value at a path."""
    cfg = copy.deepcopy(base)
    get(cfg, path[:-1])[path[-1]] = value
    return cfg


def removed(base: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """Return a copy without a key."""
    cfg = copy.deepcopy(base)
    del get(cfg, path[:-1])[path[-1]]
    return cfg


NONSENSE = (
    None,
    [],
    {},
    "",
    "\u00fcn\u00ef \u2603",
    10**30,
    -1,
    0,
    1e308,
    float("nan"),
    True,
    [None],
    {"a": None},
    "1e5",
    "../../x",
)
"""Values that somebody could write anywhere."""


def nonsense(base: dict[str, Any]) -> list[tuple[str, tuple[Any, ...], Any]]:
    """Return name, path and value of every change to nonsense; the value is ``...`` where the key goes."""
    every = [path for path in paths(base) if path[0] != "hydra"]
    return [(f"{dotted(path)}={value!r}", path, value) for path in every for value in (..., *NONSENSE)]


def _wrong_types(base: dict[str, Any], path: tuple[Any, ...]) -> Iterator[Mutation]:
    value, expected = get(base, path), (dotted(path),)
    if isinstance(path[-1], int) and not isinstance(value, dict):
        expected += (dotted(path[:-1]),)  # an entry of a list of scalars is reported with its list
    if path[:-1] == ("cluster", "component_placement"):
        expected += (dotted(path[:-1]),)
    if isinstance(value, bool):
        wrong: list[Any] = ["maybe", 3]
    elif isinstance(value, int | float):
        wrong = ["many", [1], *([] if set(path) & set(ANY_NUMBER) else [-77])]
    elif isinstance(value, str):
        wrong = [[1, 2], 3.5]
    elif isinstance(value, list):
        wrong = [17]
    elif isinstance(value, dict):
        wrong = [[1], *([] if path[-1] == "task_description" else ["text"])]  # a text is an instruction
    else:
        wrong = []
    for bad in wrong:
        yield Mutation(f"{dotted(path)}={bad!r}", changed(base, path, bad), expected)


def _misspelt(base: dict[str, Any], path: tuple[Any, ...]) -> Mutation:
    key = str(path[-1])
    typo = key[:-1] if len(key) > 4 else key + "x"
    cfg = copy.deepcopy(base)
    parent = get(cfg, path[:-1])
    # in place of the key, so that the order of the others stays
    items = [(typo if name == path[-1] else name, value) for name, value in parent.items()]
    parent.clear()
    parent.update(items)
    expected = (dotted(path), dotted((*path[:-1], typo)))
    if path[:-1] == ("cluster", "component_placement"):
        expected += (dotted(path[:-1]),)
    return Mutation(f"{dotted(path)} -> {typo}", cfg, expected)
