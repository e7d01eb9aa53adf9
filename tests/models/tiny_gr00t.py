# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A GR00T N1.7 of a few ten thousand parameters, for tests: made in a second, run in milliseconds."""

from pathlib import Path

import torch

from isaaclab_rlinf.models.gr00t_n1d7.tiny import make_tiny_checkpoint
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment, TinySizes

INSTRUCTIONS = ["touch the red ball", "touch the green ball", "touch the blue ball"]
MICRO = TinySizes(
    width=32, vision_width=32, vision_layers=2, action_width=32, heads=2, patch=16, merge=2, embodiments=3
)
ARM = TinyEmbodiment(embodiment_id=2, relative={"joint_target": "joint_pos"})
"""The bundled task's embodiment, with actions relative to the joint positions."""


def make(path: Path, embodiment: TinyEmbodiment = ARM, sizes: TinySizes = MICRO, seed: int = 0) -> Path:
    return make_tiny_checkpoint(path, INSTRUCTIONS, embodiment, sizes, seed)


def observation(batch: int = 4, seed: int = 0, views: int = 2) -> dict:
    generator = torch.Generator().manual_seed(seed)
    images = torch.randint(0, 256, (views, batch, 64, 64, 3), dtype=torch.uint8, generator=generator)
    return {
        "main_images": images[0],
        "wrist_images": images[1],
        "extra_view_images": None,
        "states": torch.randn(batch, 6, generator=generator),
        "task_descriptions": [INSTRUCTIONS[index % 3] for index in range(batch)],
    }


def settings(path: Path, **changes) -> dict:
    """A model section."""
    section = {
        "model_type": "gr00t_n1d7",
        "model_path": str(path),
        "implementation": "lerobot",
        "embodiment_tag": "new_embodiment",
        "precision": "fp32",
        "is_lora": False,
        "action_dim": 3,
        "num_action_chunks": 6,
        "rl_head_config": {"noise_level": 0.4, "padding_value": 40},
    }
    return section | changes
