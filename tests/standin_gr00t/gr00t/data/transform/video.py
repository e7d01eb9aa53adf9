# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: images (..., T, H, W, C) uint8 in and out, floats in between."""

from typing import Any

import numpy as np
import torch
from torch.nn.functional import interpolate

from gr00t.data.transform.base import ModalityTransform


class VideoTransform(ModalityTransform):
    """Applies ``change`` to every view."""

    def set_metadata(self, dataset_metadata: Any) -> None:
        super().set_metadata(dataset_metadata)
        self.resolutions = {}
        for key in self.apply_to:
            _, name = self.part(key)
            if name not in dataset_metadata.modalities.video:
                raise ValueError(f"Video key {name} not found in dataset metadata")
            self.resolutions[key] = dataset_metadata.modalities.video[name].resolution

    def apply(self, data: dict[str, Any]) -> dict[str, Any]:
        for key in self.apply_to:
            data[key] = self.change(key, data[key])
        return data


class VideoToTensor(VideoTransform):
    """To float (..., C, H, W) in [0, 1]."""

    def change(self, key: str, video: Any) -> torch.Tensor:
        assert isinstance(video, np.ndarray), f"{key} is {type(video)}"
        assert video.dtype == np.uint8, f"{key} is {video.dtype}"
        assert video.ndim in (4, 5) and video.shape[-1] == 3, f"{key} has shape {video.shape}"
        size = (video.shape[-2], video.shape[-3])
        assert size == tuple(self.resolutions[key]), f"{key} is {size}, expected {self.resolutions[key]}"
        return torch.from_numpy(video).movedim(-1, -3).float() / 255


class VideoCrop(VideoTransform):
    """Centre crop, random in training; all views have one size."""

    def set_metadata(self, dataset_metadata: Any) -> None:
        super().set_metadata(dataset_metadata)
        assert len(set(self.resolutions.values())) == 1, f"one resolution expected: {self.resolutions}"

    def change(self, key: str, video: torch.Tensor) -> torch.Tensor:
        height, width = (int(side * self.scale) for side in video.shape[-2:])
        top, left = video.shape[-2] - height, video.shape[-1] - width
        top, left = (
            (torch.randint(top + 1, ()), torch.randint(left + 1, ())) if self.training else (top // 2, left // 2)
        )
        return video[..., top : top + height, left : left + width]


class VideoResize(VideoTransform):
    """To ``height`` x ``width``."""

    def change(self, key: str, video: torch.Tensor) -> torch.Tensor:
        flat = video.flatten(0, -4)
        flat = interpolate(flat, size=(self.height, self.width), mode="bilinear", antialias=True)
        return flat.view(*video.shape[:-2], self.height, self.width)


class VideoColorJitter(VideoTransform):
    """Augmentation."""

    def change(self, key: str, video: torch.Tensor) -> torch.Tensor:
        return (video * (0.7 + 0.6 * torch.rand(()))).clamp(0, 1) if self.training else video


class VideoToNumpy(VideoTransform):
    """Back to uint8 (..., H, W, C)."""

    def change(self, key: str, video: torch.Tensor) -> np.ndarray:
        return (video.movedim(-3, -1) * 255).round().to(torch.uint8).numpy()
