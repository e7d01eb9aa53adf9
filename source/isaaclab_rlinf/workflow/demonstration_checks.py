# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Whether demonstrations can be learned from: what is refused, and what the user should know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import Issue, raise_if
from isaaclab_rlinf.mapping.instructions import text_problem
from isaaclab_rlinf.workflow.dataset_info import WHERE

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.workflow.dataset_memory import Demonstrations

LARGEST = 1e15
"""No unit of a robot has larger numbers; squares and differences of them would leave float32."""


def check_demonstrations(demonstrations: Demonstrations) -> list[str]:
    """Refuse values that are no numbers and texts that say nothing; return notices about what is few or does not move.

    Args:
        demonstrations: All frames.

    Raises:
        ConfigError: With every column that has a value which is NaN, infinite or too large, by count and first place;
            every instruction that is none; or if there is one frame only.
    """
    frames = len(demonstrations.tasks)
    issues = [*_unusable(demonstrations, "observation.state"), *_unusable(demonstrations, "action")]
    for task in dict.fromkeys(demonstrations.tasks):
        if problem := text_problem(task):
            first = demonstrations.place(demonstrations.tasks.index(task))
            found = f"instruction of {first}: {problem}"
            issues.append(Issue(WHERE, found, "a text for each frame"))
    if frames < 2:
        found = f"{frames} frame in {demonstrations.episodes} episode: one moment has no statistics"
        issues.append(Issue(WHERE, found, "at least 2 frames, better some thousand"))
    raise_if(issues)
    return [*_few(demonstrations), *_still(demonstrations)]


def values_of(demonstrations: Demonstrations, feature: str) -> torch.Tensor:
    """Return ``observation.state`` or ``action`` of all frames, (N, D)."""
    return demonstrations.action if feature == "action" else demonstrations.state


def column_names(demonstrations: Demonstrations, feature: str) -> list[str]:
    """Return what to call each column of a feature in a message."""
    width = values_of(demonstrations, feature).shape[1]
    names = demonstrations.names.get(feature) or tuple(map(str, range(width)))
    return [
        f"{feature} column {index}" + (f" ({name})" if name != str(index) else "") for index, name in enumerate(names)
    ]


def unusable_values(values: torch.Tensor, name: str, demonstrations: Demonstrations) -> Iterator[Issue]:
    """Yield an issue if a column has values that are NaN, infinite or too large.

    Args:
        values: One per frame, (N,), or several, (N, ...).
        name: What to call the column.
        demonstrations: The frames.
    """
    flat = values.reshape(len(values), -1)
    nan, infinite = flat.isnan(), flat.isinf()
    large = (flat.abs() >= LARGEST) & ~infinite
    counts = {"NaN": nan, "infinite": infinite, f"above {LARGEST:.0g}": large}
    told = [f"{int(bad.any(dim=1).sum())} {what}" for what, bad in counts.items() if bad.any()]
    if told:
        rows = (nan | infinite | large).any(dim=1).nonzero().flatten().tolist()
        found = f"{name}: {' and '.join(told)} of {len(flat)} frames, first {demonstrations.place(rows[0])}"
        yield Issue(WHERE, found, "finite numbers", "record those episodes again, or remove them")


def _unusable(demonstrations: Demonstrations, feature: str) -> Iterator[Issue]:
    values = values_of(demonstrations, feature)
    for column, name in enumerate(column_names(demonstrations, feature)):
        yield from unusable_values(values[:, column], name, demonstrations)


def _few(demonstrations: Demonstrations) -> Iterator[str]:
    frames, ends = len(demonstrations.tasks), demonstrations.last_frame.unique()
    if demonstrations.episodes == 1:
        yield f"one episode only, of {frames} frames: a model can only repeat it"
    lengths = ends.diff(prepend=ends.new_tensor([-1]))
    short = (lengths == 1).nonzero().flatten().tolist()
    if short:
        yield f"{len(short)} of {demonstrations.episodes} episodes have one frame only, first episode {short[0]}"


def _still(demonstrations: Demonstrations) -> Iterator[str]:
    """Yield views whose pictures never change within an episode in which the state does."""
    moving, still = 0, dict.fromkeys(demonstrations.views, 0)
    start = 0
    for end in demonstrations.last_frame.unique().tolist():
        rows, start = slice(start, end + 1), end + 1
        state = demonstrations.state[rows]
        if (state - state[:1]).abs().max() <= 1e-3:
            continue
        moving += 1
        pictures = demonstrations.images[rows]
        for index, view in enumerate(demonstrations.views):
            still[view] += bool((pictures[:, index] == pictures[:1, index]).all())
    for view, count in still.items():
        if moving and count == moving:
            yield (
                f"WARNING: the pictures of {view} never change within an episode, in all {moving} episodes in which "
                "the state does: were they kept without a copy, or is the camera still?"
            )
