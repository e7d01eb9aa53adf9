# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Drawn pictures of coloured discs among clutter, on which a tiny backbone learns to see and to read.

They stand for the image-text data of a real backbone. Nothing in them is taken from a task: backgrounds, clutter,
sizes and shades are random; only the names of the colours are the instructions'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

_RADIUS = (0.028, 0.07)
"""Of a disc, as a share of the image's side: 2 to 4.5 pixels of 64."""
_PRESENT = 0.75
_CLUTTER = 3
_SHADE = 0.2


@dataclass(frozen=True)
class Scenes:
    """A batch of B pictures with up to C discs, one of each colour.

    Attributes:
        images: uint8 (B, S, S, 3).
        centres: (x, y) of every disc in pixels, float32 (B, C, 2).
        present: Whether it was drawn, bool (B, C).
    """

    images: torch.Tensor
    centres: torch.Tensor
    present: torch.Tensor


def draw_scenes(batch: int, side: int, colours: torch.Tensor, generator: torch.Generator) -> Scenes:
    """Draw pictures; at least one disc is present in each.

    Args:
        batch: Number B of pictures.
        side: Side S of the square pictures in pixels.
        colours: RGB in [0, 1], float32 (C, 3).
        generator: Where randomness comes from.
    """
    rand = lambda *shape: torch.rand(*shape, generator=generator)  # noqa: E731
    axis = torch.arange(side) + 0.5
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    grey = 0.35 + 0.35 * rand(batch, 1, 1, 1) + 0.06 * (rand(batch, 1, 1, 3) - 0.5)
    image = grey.expand(batch, side, side, 3)
    for _ in range(_CLUTTER):
        middle, size = rand(batch, 2, 1, 1) * side, (0.05 + 0.25 * rand(batch, 2, 1, 1)) * side
        inside = ((x - middle[:, 0]).abs() < size[:, 0] / 2) & ((y - middle[:, 1]).abs() < size[:, 1] / 2)
        # Mostly grey; sometimes of a colour that no instruction names, so that colour alone does not make a disc.
        paint = torch.where(rand(batch, 1) < 0.2, torch.tensor([0.9, 0.85, 0.05]), rand(batch, 1))
        image = torch.where(inside[..., None], paint[:, None, None], image)
    count = len(colours)
    centres = (0.05 + 0.9 * rand(batch, count, 2)) * side
    radius = (_RADIUS[0] + (_RADIUS[1] - _RADIUS[0]) * rand(batch, count)) * side
    present = rand(batch, count) < _PRESENT
    present[torch.arange(batch), torch.randint(count, (batch,), generator=generator)] = True
    for index in torch.randperm(count, generator=generator).tolist():
        dx, dy = x - centres[:, index, 0, None, None], y - centres[:, index, 1, None, None]
        disc = ((dx**2 + dy**2).sqrt() < radius[:, index, None, None]) & present[:, index, None, None]
        paint = (colours[index] + _SHADE * (2.0 * rand(batch, 3) - 1.0)).clamp(0.0, 1.0)[:, None, None]
        lit = 1.0 - 0.3 * dy.clamp(min=0.0) / radius[:, index, None, None]
        image = torch.where(disc[..., None], paint * lit[..., None], image)
    return Scenes((image.clamp(0.0, 1.0) * 255.0).byte(), centres, present)


def named_colours(instructions: Sequence[str]) -> torch.Tensor:
    """Return the colour that each instruction names: RGB in [0, 1], float32 (C, 3).

    Args:
        instructions: For example "touch the red ball"; a colour is a name of CSS, as Pillow knows them.

    Raises:
        ValueError: If one names no colour or several, or two name the same.
    """
    from PIL import ImageColor

    names: list[str] = []
    for text in instructions:
        found = [word for word in text.lower().split() if word in ImageColor.colormap]
        if len(found) != 1:
            raise ValueError(f"instruction {text!r} names {found or 'no colour'}; pre-training needs exactly one")
        if found[0] in names:
            raise ValueError(
                f"instruction {text!r} names the colour of another one; pre-training tells them apart by it"
            )
        names += found
    return torch.tensor([ImageColor.getrgb(name)[:3] for name in names]) / 255.0
