# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""How many tokens an image takes, from the JSON files of checkpoint and backbone: for checks before heavy imports."""

from __future__ import annotations

import math
from pathlib import Path

from isaaclab_rlinf.models.inspect import read_json

from .files import CheckpointFiles

_PREPROCESSOR = "preprocessor_config.json"
_DEFAULTS = {"patch_size": 14, "merge_size": 2, "min_pixels": 56 * 56, "max_pixels": 28 * 28 * 1280}
"""Of transformers' ``Qwen2VLImageProcessor``."""


def image_tokens(files: CheckpointFiles, backbone: Path) -> int | None:
    """Return how many tokens one view takes at least; None when the files leave it to the camera, or do not say.

    Exactly so many, unless a checkpoint with ``use_albumentations`` meets a camera whose images are not square: that
    transform keeps the ratio of the sides, so the longer one has more.

    Args:
        files: The checkpoint.
        backbone: Result of :func:`~.backbone.backbone_directory`.

    Raises:
        ValueError: If the backbone's ``preprocessor_config.json`` is not JSON.
    """
    target = files.processor.get("image_target_size")
    if target is None or not (backbone / _PREPROCESSOR).is_file():
        return None
    height, width = (int(side) for side in target)
    if files.processor.get("use_albumentations"):
        height = width = int(files.processor.get("shortest_image_edge") or height)
    given = read_json(backbone / _PREPROCESSOR)
    size = given.get("size") or {}
    limits = {"min_pixels": size.get("shortest_edge"), "max_pixels": size.get("longest_edge")}
    found = {key: given.get(key) or limits.get(key) or default for key, default in _DEFAULTS.items()}
    unit = int(found["patch_size"]) * int(found["merge_size"])
    height, width = fitted_size(height, width, unit, int(found["min_pixels"]), int(found["max_pixels"]))
    return (height // unit) * (width // unit)


def fitted_size(height: int, width: int, unit: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    """Return the size in pixels to which Qwen's image processor resizes: whole tokens, within limits on the area.

    Equal to ``transformers.models.qwen2_vl.image_processing_qwen2_vl.smart_resize``, whose module loads torch.

    Args:
        height: In pixels.
        width: In pixels.
        unit: Side of a token in pixels.
        min_pixels: Smallest area.
        max_pixels: Largest area.
    """
    rows, columns = round(height / unit), round(width / unit)
    area = rows * columns * unit**2
    if area > max_pixels:
        scale = math.sqrt(height * width / max_pixels)
        rows, columns = (max(1, math.floor(side / scale / unit)) for side in (height, width))
    elif area < min_pixels:
        scale = math.sqrt(min_pixels / (height * width))
        rows, columns = (math.ceil(side * scale / unit) for side in (height, width))
    return rows * unit, columns * unit
