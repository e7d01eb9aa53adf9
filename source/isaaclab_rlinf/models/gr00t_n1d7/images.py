# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Images of the environment -> what the Qwen3-VL backbone takes, as N1.7's processor does it at evaluation.

Crop and resize happen once, at rollout, on uint8. The records that the trainer re-reads hold uint8 images too, an
eighth of the size of float patches; :func:`patchify` runs inside the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class ImageTransform:
    """Image settings of ``processor_config.json``.

    Attributes:
        target_size: Height and width after the transform; None leaves images as they are.
        crop_size: Height and width of the crop relative to ``target_size``, used when there is no ``crop_fraction``.
        shortest_edge: Size before the crop; default the target's height.
        crop_fraction: Share of height and width that the centre crop keeps.
        letter_box: Whether images are padded to a square first.
        albumentations: Whether the checkpoint was trained with the OpenCV pipeline.
    """

    target_size: tuple[int, int] | None
    crop_size: tuple[int, int] | None
    shortest_edge: int | None
    crop_fraction: float | None
    letter_box: bool
    albumentations: bool

    @classmethod
    def from_processor(cls, settings: Mapping[str, Any]) -> ImageTransform:
        """Read the settings from ``processor_kwargs``."""
        pair = lambda value: tuple(int(side) for side in value) if value is not None else None  # noqa: E731
        return cls(
            target_size=pair(settings.get("image_target_size")),
            crop_size=pair(settings.get("image_crop_size")),
            shortest_edge=settings.get("shortest_image_edge"),
            crop_fraction=settings.get("crop_fraction"),
            letter_box=bool(settings.get("letter_box_transform", False)),
            albumentations=bool(settings.get("use_albumentations", False)),
        )

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        """Transform uint8 (N, H, W, 3) to uint8 (N, h, w, 3)."""
        if self.target_size is None and not self.albumentations:
            return images
        return on_all_threads(self._with_opencv if self.albumentations else self._with_torch, images)

    def _with_torch(self, images: torch.Tensor) -> torch.Tensor:
        frames = images.permute(0, 3, 1, 2)
        height, width = frames.shape[-2:]
        if self.letter_box and height != width:
            side = max(height, width)
            left, top = (side - width) // 2, (side - height) // 2
            frames = torch.nn.functional.pad(frames, (left, side - width - left, top, side - height - top))
        edge = self.shortest_edge or self.target_size[0]
        frames = _bicubic(frames, edge, edge)
        fraction = self.crop_fraction
        if fraction is None and self.crop_size is not None:
            fraction = self.crop_size[0] / self.target_size[0]
        if fraction is not None and 0.0 < fraction < 1.0:
            crop = max(1, round(edge * fraction))
            start = (edge - crop) // 2
            frames = frames[..., start : start + crop, start : start + crop]
        return _bicubic(frames, *self.target_size).permute(0, 2, 3, 1)

    def _with_opencv(self, images: torch.Tensor) -> torch.Tensor:
        import numpy as np

        from isaaclab_rlinf.compat.lerobot_groot import albumentations_transform

        transform = albumentations_transform()
        frames = [
            transform(
                frame,
                image_crop_size=self.crop_size,
                image_target_size=self.target_size or (self.shortest_edge, self.shortest_edge),
                shortest_image_edge=self.shortest_edge,
                crop_fraction=self.crop_fraction,
                letter_box_transform=self.letter_box,
            )
            for frame in images.cpu().numpy()
        ]
        return torch.from_numpy(np.stack(frames)).to(images.device)


def on_all_threads(transform: Callable[[torch.Tensor], torch.Tensor], images: torch.Tensor) -> torch.Tensor:
    """Transform images with as many threads as torch has here: neither torch nor OpenCV resizes a batch on several.

    Args:
        transform: Works on each image alone.
        images: (N, ...).

    Returns:
        The transformed images in the same order.
    """
    threads = min(torch.get_num_threads(), len(images))
    if threads < 2 or images.device.type != "cpu":
        return transform(images)
    with ThreadPoolExecutor(threads) as pool:
        return torch.cat(list(pool.map(transform, images.chunk(threads))))


def _bicubic(frames: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """Resize uint8 (N, 3, H, W) with antialiasing."""
    if tuple(frames.shape[-2:]) == (height, width):
        return frames
    from torchvision.transforms.v2 import InterpolationMode
    from torchvision.transforms.v2 import functional as transforms

    return transforms.resize(frames, [height, width], interpolation=InterpolationMode.BICUBIC, antialias=True)


@dataclass(frozen=True)
class PatchSettings:
    """How Qwen's image processor cuts an image into patches.

    Attributes:
        patch: Side of a patch in pixels.
        merge: Patches per side that become one token.
        temporal: Frames per patch; a still image is repeated.
        min_pixels: Smallest number of pixels of an image.
        max_pixels: Largest.
        mean: Mean of each colour in [0, 1].
        std: Standard deviation of each colour.
    """

    patch: int
    merge: int
    temporal: int
    min_pixels: int
    max_pixels: int
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def from_image_processor(cls, processor: Any) -> PatchSettings:
        """Read the settings of a ``Qwen2VLImageProcessor``."""
        return cls(
            patch=processor.patch_size,
            merge=processor.merge_size,
            temporal=processor.temporal_patch_size,
            min_pixels=processor.size["shortest_edge"],
            max_pixels=processor.size["longest_edge"],
            mean=tuple(processor.image_mean),
            std=tuple(processor.image_std),
        )

    def fit(self, images: torch.Tensor) -> torch.Tensor:
        """Resize uint8 (N, H, W, 3) to whole tokens, within the limits on pixels; most checkpoints need no change."""
        from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

        height, width = images.shape[1:3]
        size = smart_resize(height, width, self.patch * self.merge, self.min_pixels, self.max_pixels)
        return on_all_threads(lambda part: _bicubic(part.permute(0, 3, 1, 2), *size).permute(0, 2, 3, 1), images)

    def tokens(self, height: int, width: int) -> int:
        """Tokens of an image that :meth:`fit` returned."""
        return (height // (self.patch * self.merge)) * (width // (self.patch * self.merge))

    def patchify(self, images: torch.Tensor) -> torch.Tensor:
        """Scale, normalise and cut uint8 (N, h, w, 3) into patches, as ``Qwen2VLImageProcessor`` orders them.

        Returns:
            float32 (N, h w / patch^2, 3 temporal patch^2).
        """
        count, height, width, _ = images.shape
        mean, std = (torch.tensor(values, device=images.device) * 255.0 for values in (self.mean, self.std))
        scaled = ((images.float() - mean) / std).permute(0, 3, 1, 2)
        unit = self.patch * self.merge
        cut = scaled.reshape(
            count, 3, height // unit, self.merge, self.patch, width // unit, self.merge, self.patch
        ).permute(0, 2, 5, 3, 6, 1, 4, 7)
        still = cut.unsqueeze(6).expand(*cut.shape[:6], self.temporal, self.patch, self.patch)
        return still.reshape(count, (height // self.patch) * (width // self.patch), -1)
