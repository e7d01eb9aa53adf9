# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Videos of a rollout, recorded where every step is: in the simulator process.

A frame is a grid of a few environments. An episode that has ended keeps showing its last picture, under its outcome,
until the policy's next episode begins; should that be at once, the whole grid stands still for a moment first. Frames
go straight to the encoder, so memory does not grow with a video's length.

Isaac Lab's own ``VideoRecorder`` takes its pictures after the reset, and RLinf's ``RecordVideo`` keeps every frame in
memory and sees chunk boundaries only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from isaaclab_rlinf.env.video_frame import Tile, draw_grid, draw_tile, margin_height, side_by_side
from isaaclab_rlinf.mapping.observations import ObservationMap, map_observation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isaaclab_rlinf.env.protocol import StepResult, VideoSpec
    from isaaclab_rlinf.mapping.layout import RawObs

_LINGER_SECONDS = 0.8
"""How long the last picture of an episode stays on screen at least."""


class VideoRecorder:
    """Records rollouts to ``rollout-NNN.mp4``, one file from :meth:`flush` to :meth:`flush`."""

    def __init__(
        self, spec: VideoSpec, mapping: ObservationMap, num_envs: int, step_seconds: float, viewed: int = 0
    ) -> None:
        """Prepares recording; the first step opens the first file.

        Args:
            spec: Where and how.
            mapping: Names the cameras and instructions.
            num_envs: Environments of the simulator.
            step_seconds: Simulated seconds per action.
            viewed: Environments that a viewer camera shows; 0: the policy's own views are shown.

        Raises:
            ValueError: If there is no camera at all.
        """
        if not mapping.images and not viewed:
            raise ValueError(
                "video_cfg.save_video is set, but there is nothing to record: the isaaclab block names no camera and "
                "the task has no `viewer_camera`."
            )
        self._spec, self._map, self._viewed = spec, mapping, viewed
        self._shown = viewed or min(spec.max_envs, num_envs)
        self._fps = spec.fps or 1.0 / step_seconds
        self._max_frames = max(1, int(spec.max_seconds * self._fps))
        self._linger = max(1, round(_LINGER_SECONDS * self._fps))
        self._tiles: list[Tile] = []
        self._margin = 0
        self._opening = False
        """The present tiles begin episodes and are not in the file yet."""
        self._just_ended = False
        """The outcome of an episode has not been on screen for long."""
        self._writer: Any = None
        self._path: str | None = None
        self._frames = self._missed = 0

    @property
    def uses_viewer(self) -> bool:
        """Whether the pictures come from a viewer camera in place of the policy's views."""
        return self._viewed > 0

    def wants(self, active: torch.Tensor) -> bool:
        """Whether the next step is to be shown: one of the environments shown is in an episode, and there is room.

        Args:
            active: (B,) bool, environments whose episode goes on.
        """
        if not active[: self._shown].any():
            return False
        full = self._frames >= self._max_frames
        self._missed += full
        return not full

    def begin(self, raw_obs: RawObs, pictures: torch.Tensor | None, instruction: torch.Tensor) -> None:
        """Takes the first picture of fresh episodes in all environments.

        Args:
            raw_obs: Observation of the reset, cameras included.
            pictures: The viewer camera's, if there is one.
            instruction: (B,) int64, index of each environment's instruction.
        """
        self._stand_still()
        images = self._pictures(raw_obs, pictures)
        self._tiles = [Tile(f"env {self._spec.first_env + i}", image) for i, image in enumerate(images)]
        for i, tile in enumerate(self._tiles):
            tile.instruction = self._map.instructions[int(instruction[i])]
        self._margin = margin_height(self._map.instructions, images[0].shape[1])
        self._opening = True

    def add(
        self, result: StepResult, active: torch.Tensor, ended: torch.Tensor, metrics: Mapping[str, torch.Tensor]
    ) -> None:
        """Shows one step that was wanted. An environment that is not in an episode keeps its last picture.

        Args:
            result: The step, with pictures of its end before any reset.
            active: (B,) bool, environments whose episode this step belongs to.
            ended: (B,) bool, those whose episode it ended.
            metrics: Running metrics, see :class:`.metrics.EpisodeMetrics`, with this step.
        """
        if self._opening:
            self._write()
        images = self._pictures(result.observation, result.pictures)
        if result.pictures is None and result.final_observation is not None:
            last = self._pictures(result.final_observation, None)
            images = [last[i] if ended[i] else image for i, image in enumerate(images)]
        for i, tile in enumerate(self._tiles):
            if not active[i]:
                continue
            tile.picture, tile.step = images[i], int(metrics["episode_len"][i])
            tile.total = float(metrics["return"][i]) * self._spec.reward_scale
            if ended[i]:
                missed = "time-out" if result.truncated[i] else "failure"
                tile.outcome = "success" if metrics["success_once"][i] else missed
                self._just_ended = True
        self._write()

    def begin_some(
        self, env_mask: torch.Tensor, raw_obs: RawObs, pictures: torch.Tensor | None, instruction: torch.Tensor
    ) -> None:
        """Takes the first picture of the next episode of the environments in ``env_mask`` (B,); see :meth:`begin`."""
        if not self._tiles or not env_mask[: self._shown].any():
            return
        self._stand_still()
        images = self._pictures(raw_obs, pictures)
        for i, tile in enumerate(self._tiles):
            if env_mask[i]:
                text = self._map.instructions[int(instruction[i])]
                self._tiles[i] = Tile(tile.name, images[i], text)
        self._opening = True

    def flush(self) -> tuple[str, ...]:
        """Closes the present file.

        Returns:
            A line about it, its path first; nothing if nothing was recorded since the last call.
        """
        self._stand_still()
        path, writer, missed = self._path, self._writer, self._missed
        self._writer, self._path, self._frames, self._missed = None, None, 0, 0
        if writer is None:
            return ()
        writer.close()
        note = f" ({missed} steps more are not in it: video_cfg.max_seconds is {self._spec.max_seconds:g})"
        return (f"{path}{note if missed else ''}",)

    def _pictures(self, raw_obs: RawObs, pictures: torch.Tensor | None) -> list[np.ndarray]:
        """Returns a copy of each shown environment's picture (H, W, 3) uint8."""
        if pictures is not None:
            return list(pictures.cpu().numpy().copy())
        mapped = map_observation(_first_rows(raw_obs, self._shown), self._map)
        views = [mapped[name] for name in ("main_images", "wrist_images") if name in mapped]
        if not views:
            views = list(mapped["extra_view_images"].unbind(dim=1))
        images = [view.cpu().numpy() for view in views]
        return [side_by_side([view[i] for view in images], self._spec.height) for i in range(self._shown)]

    def _stand_still(self) -> None:
        """Shows the outcome of episodes that ended only just now a little longer, before it makes way."""
        if self._just_ended and self._writer is not None:
            for _ in range(self._linger):
                self._write()
        self._just_ended = False

    def _write(self) -> None:
        self._opening = False
        pictures = [draw_tile(tile, self._margin) if self._spec.captions else tile.picture for tile in self._tiles]
        frame = draw_grid(pictures)
        if self._writer is None:
            self._open()
        self._writer.append_data(frame)
        self._frames += 1

    def _open(self) -> None:
        import imageio

        os.makedirs(self._spec.directory, exist_ok=True)
        self._path = _claim_path(self._spec.directory, self._spec.suffix)
        self._writer = imageio.get_writer(
            self._path, format="FFMPEG", fps=self._fps, codec="libx264", macro_block_size=2, quality=7
        )


def _first_rows(raw_obs: RawObs, count: int) -> dict[str, Any]:
    return {
        group: _first_rows(value, count) if isinstance(value, dict) else value[:count]
        for group, value in raw_obs.items()
    }


def _claim_path(directory: str, suffix: str) -> str:
    """Returns the first unused ``rollout-NNN<suffix>.mp4``, created empty so that no other simulator takes it."""
    for number in range(100_000):
        path = os.path.join(directory, f"rollout-{number:03d}{suffix}.mp4")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            continue
        return path
    raise RuntimeError(f"no free rollout-NNN{suffix}.mp4 in {directory}")
