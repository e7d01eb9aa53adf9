# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Videos of a rollout, recorded where every step is: in the simulator process.

A frame is a grid of a few environments; each tile shows the main camera, the wrist camera beside it, the instruction
and the state of the episode. Frames go straight to the encoder, so memory does not grow with a video's length.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from isaaclab_rlinf.mapping.observations import ObservationMap, map_observation

if TYPE_CHECKING:
    from isaaclab_rlinf.env.protocol import StepResult, VideoSpec
    from isaaclab_rlinf.mapping.layout import RawObs

_CAPTION = 34
"""Height of the caption in pixels: two lines of text."""
_COLOURS = {"running": (200, 200, 200), "success": (70, 200, 90), "failure": (230, 80, 70), "time-out": (235, 170, 60)}
_LINGER_SECONDS = 0.4
"""How long the verdict on an episode stays on screen once it is over."""


class VideoRecorder:
    """Records rollouts to ``rollout-NNN.mp4``, one file from :meth:`flush` to :meth:`flush`."""

    def __init__(self, spec: VideoSpec, mapping: ObservationMap, num_envs: int, step_seconds: float) -> None:
        """Prepares recording; the first frame opens the first file.

        Args:
            spec: Where and how.
            mapping: Names the cameras and instructions.
            num_envs: Environments of the simulator.
            step_seconds: Simulated seconds per action.

        Raises:
            ValueError: If the mapping has no camera.
        """
        if not mapping.images:
            raise ValueError("video_cfg.save_video is set, but the isaaclab block names no camera to record.")
        self._spec, self._map = spec, mapping
        self._shown = min(spec.max_envs, num_envs)
        self._fps = spec.fps or 1.0 / step_seconds
        self._max_frames = max(1, int(spec.max_seconds * self._fps))
        self._linger = max(1, round(_LINGER_SECONDS / step_seconds))
        self._instruction = [0] * self._shown
        self._verdicts: list[tuple[str, int]] = [("running", 0)] * self._shown
        self._writer: Any = None
        self._path: str | None = None
        self._frames = 0

    @property
    def recording(self) -> bool:
        """Whether another frame fits into the present file."""
        return self._frames < self._max_frames

    def begin(self, raw_obs: RawObs, instruction: torch.Tensor) -> None:
        """Shows the first observation of fresh episodes."""
        self._instruction = instruction[: self._shown].tolist()
        self._verdicts = [("running", 0)] * self._shown
        if self.recording:
            self._write(self._images(raw_obs))

    def set_instruction(self, env_mask: torch.Tensor, instruction: torch.Tensor) -> None:
        """Takes over the instruction of environments whose next episode begins."""
        for env in range(self._shown):
            if env_mask[env]:
                self._instruction[env] = int(instruction[env])

    def add(self, result: StepResult, active: torch.Tensor, ended: torch.Tensor) -> None:
        """Shows one step; an episode that ended in it is shown as it was before its reset."""
        if not self.recording:
            return
        images = self._images(result.observation)
        if result.final_observation is not None:
            last = self._images(result.final_observation)
            images = [last[i] if ended[i] else images[i] for i in range(self._shown)]
        for i in range(self._shown):
            if ended[i]:
                over = "success" if result.success[i] else "time-out" if result.truncated[i] else "failure"
                self._verdicts[i] = (over, self._linger)
            elif active[i]:
                name, left = self._verdicts[i]
                self._verdicts[i] = (name, left - 1) if left > 1 else ("running", 0)
        self._write(images)

    def flush(self) -> str | None:
        """Closes the present file.

        Returns:
            Its path, or None if nothing was recorded since the last call.
        """
        path, writer = self._path, self._writer
        self._writer, self._path, self._frames = None, None, 0
        if writer is not None:
            writer.close()
        return path

    def _images(self, raw_obs: RawObs) -> list[np.ndarray]:
        """Returns, per shown environment, its cameras side by side (H, W, 3) uint8."""
        rows = _first_rows(raw_obs, self._shown)
        mapped = map_observation(rows, self._map)
        views = [mapped[name] for name in ("main_images", "wrist_images") if name in mapped]
        if not views:
            views = list(mapped["extra_view_images"].unbind(dim=1))
        images = [view.cpu().numpy() for view in views]
        return [np.concatenate([self._enlarge(view[i]) for view in images], axis=1) for i in range(self._shown)]

    def _enlarge(self, image: np.ndarray) -> np.ndarray:
        """Enlarges by a whole factor to at least the tile height; all cameras get the tile's height."""
        from PIL import Image

        height = max(self._spec.tile_height, image.shape[0])
        width = round(image.shape[1] * height / image.shape[0])
        return np.asarray(Image.fromarray(image).resize((width, height), Image.Resampling.NEAREST))

    def _write(self, images: list[np.ndarray]) -> None:
        tiles = [self._caption(image, i) for i, image in enumerate(images)]
        columns = math.ceil(math.sqrt(len(tiles)))
        tiles += [np.zeros_like(tiles[0])] * (-len(tiles) % columns)
        frame = np.concatenate(
            [np.concatenate(tiles[i : i + columns], axis=1) for i in range(0, len(tiles), columns)], axis=0
        )
        # H.264 wants even sizes.
        frame = np.pad(frame, ((0, frame.shape[0] % 2), (0, frame.shape[1] % 2), (0, 0)))
        if self._writer is None:
            self._open()
        self._writer.append_data(frame)
        self._frames += 1

    def _caption(self, image: np.ndarray, env: int) -> np.ndarray:
        from PIL import Image, ImageDraw

        verdict, _ = self._verdicts[env]
        tile = Image.new("RGB", (image.shape[1], image.shape[0] + _CAPTION), (20, 20, 20))
        tile.paste(Image.fromarray(image), (0, _CAPTION))
        draw = ImageDraw.Draw(tile)
        draw.text((4, 3), self._map.instructions[self._instruction[env]], fill=(255, 255, 255))
        draw.text((4, 18), f"env {env}: {verdict}", fill=_COLOURS[verdict])
        draw.rectangle((0, 0, tile.width - 1, tile.height - 1), outline=_COLOURS[verdict])
        return np.asarray(tile)

    def _open(self) -> None:
        import imageio

        os.makedirs(self._spec.directory, exist_ok=True)
        self._path = _claim_path(self._spec.directory)
        self._writer = imageio.get_writer(
            self._path, format="FFMPEG", fps=self._fps, codec="libx264", macro_block_size=2, quality=7
        )


def _first_rows(raw_obs: RawObs, count: int) -> dict[str, Any]:
    return {
        group: _first_rows(value, count) if isinstance(value, dict) else value[:count]
        for group, value in raw_obs.items()
    }


def _claim_path(directory: str) -> str:
    """Returns the first unused ``rollout-NNN.mp4``, created empty so that no other simulator takes it."""
    for number in range(100_000):
        path = os.path.join(directory, f"rollout-{number:03d}.mp4")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            continue
        return path
    raise RuntimeError(f"no free rollout-NNN.mp4 in {directory}")
