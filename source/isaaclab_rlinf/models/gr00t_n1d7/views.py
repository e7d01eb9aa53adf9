# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Where the model's views and state groups are in RLinf's observation: the task YAML's ``gr00t_mapping``, applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_rlinf.mapping.action_layout import select_parts

from .inspect import Gr00tN1d7Facts

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.config.schema import IsaacLabBlock


@dataclass(frozen=True)
class ObservationMapping:
    """A checked mapping.

    Attributes:
        images: Name of the observation's image for each view of the model, in model order; None takes the images as
            they come, main, wrist, then extra views.
        count: Number of views.
        slices: Columns ``[a, b)`` of ``states`` for each state group of the model, in model order.
        state_width: Width that ``states`` must have; None when the groups need not cover it.
        action_keys: Action groups in the order in which the environment takes them; None keeps the model's.
    """

    images: tuple[str, ...] | None
    count: int
    slices: Mapping[str, tuple[int, int]]
    state_width: int | None
    action_keys: tuple[str, ...] | None = None

    @classmethod
    def from_block(cls, block: IsaacLabBlock | None, facts: Gr00tN1d7Facts) -> ObservationMapping:
        """Check a task YAML's block against a checkpoint.

        Args:
            block: Its ``gr00t_mapping`` and ``action_mapping.keys`` count, keys written with or without ``video.``,
                ``state.`` and ``action.``; None maps by position.
            facts: The checkpoint's.

        Raises:
            ValueError: With every key that the model lacks or that is missing.
        """
        if block is None:
            return cls(None, len(facts.image_views), _consecutive(facts), facts.state_dim)
        problems = [f"{key}: {text}" for key, text in mapping_problems(block, facts)]
        _, _, mistakes = select_parts(block.action_mapping.keys, {part.key: part.width for part in facts.action})
        problems += map(str, mistakes)
        if problems:
            raise ValueError(
                f"the task YAML does not fit embodiment {facts.embodiment_tag!r} of {str(facts.path)!r}: "
                + "; ".join(problems)
            )
        named = _view_names(block)
        slices = {_bare(part.gr00t_key): part.slice for part in block.gr00t_mapping.state}
        return cls(
            tuple(named[key] for key in facts.image_views),
            len(facts.image_views),
            {part.key: slices[part.key] for part in facts.state},
            None,
            block.action_mapping.keys,
        )

    def views(self, images: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Stack images (B, H, W, 3) by name to uint8 (B, V, H, W, 3) in model order.

        Raises:
            ValueError: On missing or surplus images, another dtype, or sizes that differ.
        """
        import torch

        names = self.images if self.images is not None else tuple(images)
        missing, surplus = [n for n in names if n not in images], [n for n in images if n not in names]
        if missing or surplus or len(names) != self.count:
            raise ValueError(
                f"the observation has the images {list(images)}, the model takes {self.count} views"
                + (f" from {list(names)}" if self.images is not None else "")
                + f" (missing: {missing or 'none'}, not used: {surplus or 'none'})"
            )
        chosen = [images[name] for name in names]
        shapes = {(tuple(image.shape), image.dtype) for image in chosen}
        if len(shapes) != 1 or chosen[0].dtype != torch.uint8 or chosen[0].shape[-1] != 3:
            found = {name: (tuple(images[name].shape), str(images[name].dtype)) for name in names}
            raise ValueError(f"images must be uint8 (B, H, W, 3) of one size; they are {found}")
        return torch.stack(chosen, dim=1)

    def state_groups(self, states: torch.Tensor) -> dict[str, torch.Tensor]:
        """Cut ``states`` (B, D) into groups (B, width) in model order.

        Raises:
            ValueError: If the width does not fit.
        """
        needed = self.state_width or max(stop for _, stop in self.slices.values())
        width = states.shape[-1]
        if width < needed or (self.state_width is not None and width != self.state_width):
            raise ValueError(
                f"states has width {width}, the model's state groups need {needed}: "
                + ", ".join(f"{key} [{start}, {stop})" for key, (start, stop) in self.slices.items())
            )
        return {key: states[:, start:stop] for key, (start, stop) in self.slices.items()}


def _consecutive(facts: Gr00tN1d7Facts) -> dict[str, tuple[int, int]]:
    slices, start = {}, 0
    for part in facts.state:
        slices[part.key] = (start, start + part.width)
        start += part.width
    return slices


def mapping_problems(block: IsaacLabBlock, facts: Gr00tN1d7Facts) -> Iterator[tuple[str, str]]:
    """Yield ``(key path below the block, problem)`` for every ``gr00t_mapping`` key that the checkpoint lacks.

    Args:
        block: The task YAML's block.
        facts: The checkpoint's.
    """
    yield from _differences("gr00t_mapping.video", list(_view_names(block)), facts.image_views)
    widths = {part.key: part.width for part in facts.state}
    given = {_bare(part.gr00t_key): part.slice for part in block.gr00t_mapping.state}
    yield from _differences("gr00t_mapping.state", list(given), list(widths))
    for key, (start, stop) in given.items():
        if key in widths and stop - start != widths[key]:
            yield "gr00t_mapping.state", f"{key} has {stop - start} columns, the model takes {widths[key]}"


def _differences(where: str, given: Sequence[str], own: Sequence[str]) -> Iterator[tuple[str, str]]:
    missing, unknown = [key for key in own if key not in given], [key for key in given if key not in own]
    if missing or unknown:
        yield where, f"lacks {missing or 'nothing'}, has unknown {unknown or 'nothing'}; the model's keys: {list(own)}"


def _view_names(block: IsaacLabBlock) -> dict[str, str]:
    """Video key -> name of the observation's image."""
    mapping = block.gr00t_mapping
    pairs = [(mapping.main_images, "main_images"), (mapping.wrist_images, "wrist_images")]
    pairs += [(key, f"extra_view_images_{index}") for index, key in enumerate(mapping.extra_view_images)]
    return {_bare(key): name for key, name in pairs if key}


def _bare(key: str) -> str:
    return key.removeprefix("video.").removeprefix("state.")
