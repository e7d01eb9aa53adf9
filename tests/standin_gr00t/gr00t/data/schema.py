# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: the content of ``experiment_cfg/metadata.json``."""

from pydantic import BaseModel

from gr00t.data.embodiment_tags import EmbodimentTag


class StateActionMetadata(BaseModel):
    """One state or action part."""

    absolute: bool
    rotation_type: str | None
    shape: tuple[int, ...]
    continuous: bool


class VideoMetadata(BaseModel):
    """One view."""

    resolution: tuple[int, int]
    channels: int
    fps: float


class DatasetModalities(BaseModel):
    """All parts."""

    video: dict[str, VideoMetadata]
    state: dict[str, StateActionMetadata]
    action: dict[str, StateActionMetadata]


class DatasetStatisticalValues(BaseModel):
    """All six are required."""

    max: list[float]
    min: list[float]
    mean: list[float]
    std: list[float]
    q01: list[float]
    q99: list[float]


class DatasetStatistics(BaseModel):
    """Statistics of the training data."""

    state: dict[str, DatasetStatisticalValues]
    action: dict[str, DatasetStatisticalValues]


class DatasetMetadata(BaseModel):
    """One embodiment."""

    statistics: DatasetStatistics
    modalities: DatasetModalities
    embodiment_tag: EmbodimentTag
