# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A stand-in for the bundled task that needs no simulator: coloured discs, and an instruction that names one.

The world is the square [-1, 1]^2, drawn on 64x64 pixels (1 pixel = 0.031). The state is a position; the expert moves
from it to the named disc in a straight line over the chunk and holds there; the third action is the angle of the disc
seen from a corner, a non-linear function as inverse kinematics is.
"""

from dataclasses import dataclass

import numpy as np
import torch

COLOURS = {"red": (220, 40, 40), "green": (40, 200, 60), "blue": (50, 70, 230)}
PIXELS = 64
VIEWS = ("main_images", "wrist_images")


@dataclass(frozen=True)
class Scene:
    """A batch of drawn scenes.

    Attributes:
        images: uint8 (B, 2, 64, 64, 3); the second view is zoomed on the state's position.
        tasks: Instructions.
        state: float32 (B, 3), unnormalised.
        target: float32 (B, 2), the named disc.
    """

    images: torch.Tensor
    tasks: list[str]
    state: torch.Tensor
    target: torch.Tensor


def draw(centres: np.ndarray, view_centre: np.ndarray, scale: float, radius: float) -> np.ndarray:
    """One uint8 image (64, 64, 3); coverage is smooth, so positions finer than a pixel are visible."""
    axis = (np.arange(PIXELS) + 0.5) / PIXELS * 2 - 1
    x, y = np.meshgrid(axis / scale + view_centre[0], axis / scale + view_centre[1])
    image = np.full((PIXELS, PIXELS, 3), 128.0)
    for centre, colour in zip(centres, COLOURS.values(), strict=True):
        distance = np.hypot(x - centre[0], y - centre[1])
        cover = np.clip((radius - distance) * PIXELS * scale / 2 + 0.5, 0, 1)[..., None]
        image = image * (1 - cover) + np.array(colour) * cover
    return image.astype(np.uint8)


def make_scenes(count: int, seed: int, radius: float = 0.09) -> Scene:
    """Draw ``count`` random scenes."""
    rng = np.random.default_rng(seed)
    images, tasks, states, targets = [], [], [], []
    names = list(COLOURS)
    while len(images) < count:
        centres = rng.uniform(-0.9, 0.9, (3, 2))
        if min(np.linalg.norm(centres[i] - centres[j]) for i, j in ((0, 1), (0, 2), (1, 2))) < 3 * radius:
            continue
        state = rng.uniform(-0.9, 0.9, 3)
        chosen = int(rng.integers(3))
        images.append([draw(centres, np.zeros(2), 1.0, radius), draw(centres, state[:2], 3.0, radius)])
        tasks.append(f"touch the {names[chosen]} ball")
        states.append(state)
        targets.append(centres[chosen])
    return Scene(
        images=torch.from_numpy(np.array(images)),
        tasks=tasks,
        state=torch.tensor(np.array(states), dtype=torch.float32),
        target=torch.tensor(np.array(targets), dtype=torch.float32),
    )


def expert_chunk(scene: Scene, horizon: int = 8) -> torch.Tensor:
    """Expert actions (B, horizon, 3)."""
    goal = torch.cat([scene.target, torch.atan2(scene.target[:, 1] + 1.5, scene.target[:, 0] + 1.5)[:, None]], dim=1)
    fraction = torch.arange(1, horizon + 1)[None, :, None] / horizon
    return scene.state[:, None] * (1 - fraction) + goal[:, None] * fraction
