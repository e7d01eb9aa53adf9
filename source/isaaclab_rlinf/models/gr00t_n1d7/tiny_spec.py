# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""How large a tiny GR00T N1.7 checkpoint is, and which robot it is for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TinySizes:
    """Widths and depths; the defaults make 1.66 M parameters and 16 tokens per 64x64 image.

    Attributes:
        width: Width of language and vision-language features.
        vision_width: Width inside the vision tower.
        vision_layers: Blocks of the vision tower.
        language_layers: Layers of the language model that are kept (``select_layer``).
        action_width: Width of the DiT.
        action_layers: Blocks of the DiT; of four, one attends to text, one to images, two to the actions themselves.
        heads: Attention heads everywhere.
        patch: Side of an image patch in pixels.
        merge: Patches per side that make a token.
        embodiments: Number of projectors.
        max_state_dim: Width of the padded state.
        max_action_dim: Width of the padded action.
    """

    width: int = 96
    vision_width: int = 64
    vision_layers: int = 1
    language_layers: int = 2
    action_width: int = 96
    action_layers: int = 4
    heads: int = 4
    patch: int = 8
    merge: int = 2
    embodiments: int = 11
    max_state_dim: int = 16
    max_action_dim: int = 8


@dataclass(frozen=True)
class TinyEmbodiment:
    """What the checkpoint is for; the defaults are the bundled task's.

    Attributes:
        tag: Embodiment tag.
        embodiment_id: Projector index.
        state: State groups and their widths.
        action: Action groups and their widths.
        relative: Action group -> state group that it is relative to.
        views: Video keys.
        image_size: Side of the square images in pixels.
        horizon: Actions per chunk.
        language_key: Key of the instruction.
        limit: Statistics say that all values lie in [-limit, limit], until a training replaces them.
    """

    tag: str = "new_embodiment"
    embodiment_id: int = 10
    state: Mapping[str, int] = field(default_factory=lambda: {"joint_pos": 3, "joint_vel": 3})
    action: Mapping[str, int] = field(default_factory=lambda: {"joint_target": 3})
    relative: Mapping[str, str] = field(default_factory=dict)
    views: Sequence[str] = ("front_view", "wrist_view")
    image_size: int = 64
    horizon: int = 8
    language_key: str = "annotation.human.action.task_description"
    limit: float = math.pi
