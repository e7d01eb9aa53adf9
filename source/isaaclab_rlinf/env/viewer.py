# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The camera of the video: none of the policy's, in the scene only while a video is recorded.

A task declares it as ``viewer_camera`` in its env cfg, an Isaac Lab ``CameraCfg`` with the data type ``rgb``, beside
the scene and not in it, so that it costs nothing otherwise. A scene that has a sensor of that name itself is used as
it is.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from isaaclab_rlinf.compat.newton_cameras import WorldSelection
    from isaaclab_rlinf.env.protocol import VideoSpec

VIEWER_CAMERA = "viewer_camera"


def add_viewer_camera(env_cfg: Any, video: VideoSpec | None) -> None:
    """Puts the task's viewer camera, if it declares one, into its scene when a video is to be recorded.

    Args:
        env_cfg: Configuration of the environment; changed.
        video: Settings of the video, with the size of the pictures.
    """
    camera = getattr(env_cfg, VIEWER_CAMERA, None)
    if video is None or camera is None or getattr(env_cfg.scene, VIEWER_CAMERA, None) is not None:
        return
    camera = copy.deepcopy(camera)
    camera.width, camera.height = video.width, video.height
    setattr(env_cfg.scene, VIEWER_CAMERA, camera)


class ViewerCamera:
    """Reads the viewer camera's pictures of the first few environments."""

    def __init__(self, sensor: Any, count: int, selection: WorldSelection, num_envs: int, device: torch.device) -> None:
        """Binds the sensor.

        Args:
            sensor: Isaac Lab's camera, one for each environment.
            count: Environments whose pictures are wanted.
            selection: Lets the others go unrendered where the renderer allows it.
            num_envs: Environments of the scene.
            device: The simulator's.
        """
        self.count = count
        self._sensor, self._selection = sensor, selection
        self._wanted = torch.arange(num_envs, device=device) < count

    def read(self) -> torch.Tensor:
        """Returns a copy of the present pictures (count, H, W, 3) uint8; reading is what renders them."""
        with self._selection.only(self._wanted):
            output = self._sensor.data.output["rgb"]
        return getattr(output, "torch", output)[: self.count, ..., :3].clone()


def find_viewer_camera(env: Any, video: VideoSpec | None, selection: WorldSelection) -> ViewerCamera | None:
    """Returns the viewer camera of a live environment that is to be recorded, None where there is none.

    Args:
        env: Unwrapped Isaac Lab environment.
        video: Settings of the video; None when none is recorded.
        selection: See :class:`ViewerCamera`.
    """
    sensor = getattr(getattr(env, "scene", None), "sensors", {}).get(VIEWER_CAMERA)
    if video is None or sensor is None:
        return None
    count = min(video.max_envs, env.num_envs)
    return ViewerCamera(sensor, count, selection, env.num_envs, torch.device(env.device))
