# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Images of a few environments for the price of a few (Isaac Lab 3.0.0, Newton Warp renderer, on a CPU).

Newton's tiled camera renders every world of the model and knows no selection. A final observation is wanted from the
few environments that ended, and the reset behind it makes all of them render again. Here the cameras of the other
worlds look away from everything while it is rendered: their rays hit nothing and cost next to nothing. The rows of
those worlds hold the background until the next render, which the reset brings in the same step.

On a GPU the worlds are rendered side by side and the launch is captured in a graph: nothing is changed there.

Private names touched: ``Camera._renderer`` (read), for the public ``NewtonWarpRenderer.newton_sensor.update``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

FAR_AWAY = (0.0, 0.0, 1.0e6, 1.0, 0.0, 0.0, 0.0)
"""Position in m and quaternion (x, y, z, w): a camera, which looks along -z, high up and turned to the sky."""


@dataclass
class WorldSelection:
    """Which worlds the cameras look at."""

    worlds: torch.Tensor | None = None
    """(N,) bool; None looks at all."""

    @contextlib.contextmanager
    def only(self, worlds: torch.Tensor | None) -> Iterator[None]:
        """Look at some worlds only for the duration of the context.

        Args:
            worlds: (N,) bool; None looks at all.
        """
        self.worlds = worlds
        try:
            yield
        finally:
            self.worlds = None


def install_world_selection(env: Any) -> WorldSelection:
    """Let a selection decide what an environment's Newton cameras look at.

    Args:
        env: Unwrapped Isaac Lab environment. Cameras of other renderers, or on a GPU, go on rendering everything.

    Returns:
        The selection.
    """
    selection = WorldSelection()
    if torch.device(env.device).type != "cpu":
        return selection
    sensors = getattr(getattr(env, "scene", None), "sensors", {})
    renderers = {id(r): r for sensor in sensors.values() if (r := getattr(sensor, "_renderer", None))}
    for renderer in renderers.values():
        camera = getattr(renderer, "newton_sensor", None)
        if camera is not None:
            _select_worlds_of(camera, selection)
    return selection


def _select_worlds_of(camera: Any, selection: WorldSelection) -> None:
    """Wrap one tiled camera's ``update(state, camera_transforms, ...)``."""
    update = camera.update

    def selected(state: Any, camera_transforms: Any, *args: Any, **kwargs: Any) -> Any:
        if selection.worlds is not None:
            camera_transforms = look_away(camera_transforms, ~selection.worlds)
        return update(state, camera_transforms, *args, **kwargs)

    camera.update = selected


def look_away(camera_transforms: Any, away: torch.Tensor) -> Any:
    """Return transforms in which the cameras of some worlds see nothing.

    Args:
        camera_transforms: Warp array (cameras, N) of transforms, on the CPU.
        away: (N,) bool, worlds whose cameras look away.
    """
    import warp as wp

    poses = camera_transforms.numpy().copy()
    poses[:, away.numpy()] = FAR_AWAY
    return wp.array(poses, dtype=wp.transformf, device="cpu")
