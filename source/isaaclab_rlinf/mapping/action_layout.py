# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which columns of the model's actions reach the environment, and where: the one place that computes it.

A model's actions are named parts of known widths (GR00T), or one nameless part (every other model). ``check``,
``check --sim``, ``init``, the model's side (:func:`.actions.concatenate_parts`) and the environment's side
(:class:`.actions.ActionMap`) all read an :class:`ActionLayout`. Free of torch: a check imports this.

The width of the log-probabilities is the model's, whatever is left out or padded here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import Issue, did_you_mean, listing
from isaaclab_rlinf.mapping.errors import format_table

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import ActionMapping

WHERE = "action_mapping"
NAMELESS = ""
"""Name of the only part of a model whose actions have no names."""


@dataclass(frozen=True)
class ActionTermInfo:
    """One action term of the environment, in order."""

    name: str
    width: int
    detail: str = ""
    """What the dims are, such as the joint names in order."""


@dataclass(frozen=True)
class ActionPart:
    """One part of the model's actions."""

    name: str
    """Without the prefix ``action.``; :data:`NAMELESS` where the model has no names."""
    start: int
    """Its first column in the model's own action vector."""
    width: int

    def __str__(self) -> str:
        """Return the name with the width."""
        return f"{self.name} ({self.width})" if self.name else f"{self.width} columns"


@dataclass(frozen=True)
class ActionLayout:
    """The environment's action vector, from the model's: ``prefix``, then ``parts * scale + offset``, ``suffix``."""

    parts: tuple[ActionPart, ...]
    """What is emitted, in order."""
    left_out: tuple[ActionPart, ...]
    """What the model predicts and the environment does not get, in the model's order."""
    prefix: tuple[float, ...]
    """Values of the padding in front."""
    suffix: tuple[float, ...]
    """Values of the padding behind."""
    scale: tuple[float, ...]
    """One per emitted column."""
    offset: tuple[float, ...]

    @property
    def emitted(self) -> int:
        """Number of columns that come from the model."""
        return sum(part.width for part in self.parts)

    @property
    def width(self) -> int:
        """Number of columns with padding: the width of the environment's actions."""
        return len(self.prefix) + self.emitted + len(self.suffix)

    @property
    def columns(self) -> tuple[tuple[ActionPart, int] | None, ...]:
        """For each column of the environment's actions: part and column in it; None for padding."""
        emitted = [(part, column) for part in self.parts for column in range(part.width)]
        return (*[None] * len(self.prefix), *emitted, *[None] * len(self.suffix))


def nameless(width: int) -> dict[str, int]:
    """Return the parts of a model whose actions have no names."""
    return {NAMELESS: width}


def bare(key: str) -> str:
    """Return the name of an action part without GR00T N1.5's prefix."""
    return key.removeprefix("action.")


def lay_out_actions(
    mapping: ActionMapping, parts: Mapping[str, int] | None
) -> tuple[ActionLayout | None, tuple[Issue, ...]]:
    """Compute what the environment gets.

    Args:
        mapping: The task YAML's block.
        parts: Name -> width of the model's action parts in its own order, see :func:`nameless`; None when they are
            not known, so that only what is wrong with any model is found.

    Returns:
        The layout, None when there is an issue or the parts are not known; and every issue, at key paths that start
        with ``action_mapping``.
    """
    emitted, left_out, issues = select_parts(mapping.keys, parts)
    pads = mapping.prefix_pad + mapping.suffix_pad
    issues = [*issues, *list_issues(mapping, "pad_value", pads, "padded dims")]
    if emitted is None:
        return None, tuple(issues)
    width = sum(part.width for part in emitted)
    named = any(part.name for part in emitted)
    what = f"dims of {listing(emitted)}" if named else "model dims"
    for name in ("scale", "offset"):
        issues += list_issues(mapping, name, width, what)
    if issues:
        return None, tuple(issues)
    values = _each(mapping.pad_value, pads)
    layout = ActionLayout(
        emitted,
        left_out,
        values[: mapping.prefix_pad],
        values[mapping.prefix_pad :],
        _each(mapping.scale, width),
        _each(mapping.offset, width),
    )
    return layout, ()


def select_parts(
    keys: Sequence[str] | None, parts: Mapping[str, int] | None
) -> tuple[tuple[ActionPart, ...] | None, tuple[ActionPart, ...], list[Issue]]:
    """Choose and order the model's parts.

    Args:
        keys: ``action_mapping.keys``, in either spelling; None takes all in the model's order.
        parts: See :func:`lay_out_actions`.

    Returns:
        The parts to emit, None when they are not known; those left out; and what is wrong with the keys.
    """
    where, issues = f"{WHERE}.keys", []
    wanted = None if keys is None else [bare(key) for key in keys]
    for index, key in enumerate(wanted or ()):
        if key in wanted[:index]:
            found = f"part {keys[index]!r} is named twice; the environment would get its columns two times"
            issues.append(Issue(where, found, "each part once", "remove one"))
    if parts is None:
        return None, (), issues
    own, start = {}, 0
    for name, width in parts.items():
        own[bare(name)] = ActionPart(bare(name), start, width)
        start += width
    if wanted is None:
        return tuple(own.values()), (), issues
    if set(own) == {NAMELESS}:
        found = "has no effect: the actions of this model have no named parts"
        return None, (), [Issue(where, found, "no such key", "remove it; the model's columns come in its own order")]
    for given, key in zip(keys, wanted, strict=True):
        if key not in own:
            found = f"the model has no action part {given!r}"
            issues.append(Issue(where, found, listing(own.values()), did_you_mean(key, own)))
    if issues:
        return None, (), issues
    left_out = tuple(part for name, part in own.items() if name not in wanted)
    return tuple(own[key] for key in wanted), left_out, []


def list_issues(mapping: ActionMapping, name: str, width: int, what: str) -> list[Issue]:
    """Return an issue when a list has another length than the columns that it speaks of.

    Args:
        mapping: The block.
        name: ``scale``, ``offset`` or ``pad_value``.
        width: Number of columns.
        what: What they are.
    """
    value = getattr(mapping, name)
    if not isinstance(value, tuple) or len(value) == width:
        return []
    order = " (prefix_pad + suffix_pad), prefix first" if name == "pad_value" else ""
    allowed = f"one number, or {width}{order}" if width else "one number"
    return [Issue(f"{WHERE}.{name}", f"{len(value)} values for {width} {what}", allowed)]


def width_problem(layout: ActionLayout, terms: Sequence[ActionTermInfo]) -> str:
    """Return why a layout does not fill the environment's actions, with both sides' tables; empty when it does.

    Args:
        layout: What the environment would get.
        terms: Its action terms in order.
    """
    env_dim = sum(term.width for term in terms)
    if layout.width == env_dim:
        return ""
    rows = [("prefix_pad", len(layout.prefix))]
    rows += [(part.name or "model (actor.model.action_dim)", part.width) for part in layout.parts]
    rows += [("suffix_pad", len(layout.suffix)), ("total", layout.width)]
    rows += [(f"({part.name}: left out of keys)", part.width) for part in layout.left_out]
    env_rows = [(term.name, term.width, term.detail) for term in terms] + [("total", env_dim, "")]
    named = any(part.name for part in layout.parts)
    return (
        f"{WHERE}: the model's actions make {layout.width} dims after padding, the environment takes {env_dim}.\n"
        f"{format_table(('model side', 'dims'), rows)}\n"
        f"{format_table(('environment term', 'dims', 'what'), env_rows)}\n"
        f"Change prefix_pad / suffix_pad, {'keys' if named else 'or actor.model.action_dim'}"
        f"{', or take another checkpoint' if named else ''}."
    )


def _each(value: float | tuple[float, ...], width: int) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (float(value),) * width
