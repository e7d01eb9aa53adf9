# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What the tests of GR00T N1.5 share, whichever ``gr00t`` package they run on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.models.gr00t.checkpoint import N1d5Facts

STANDIN = Path(__file__).parents[1] / "standin_gr00t"
HEAD = {
    "joint_logprob": False,
    "noise_method": "flow_sde",
    "ignore_last": False,
    "safe_get_logprob": False,
    "noise_anneal": False,
    "noise_params": [0.7, 0.3, 400],
    "noise_level": 0.3,
    "add_value_head": True,
    "disable_dropout": True,
    "use_vlm_value": False,
    "value_vlm_mode": "mean_token",
    "padding_value": 600,
}
TEXTS = ["pick up the red cube", "push", "open the drawer"]


@contextlib.contextmanager
def standin_package() -> Iterator[None]:
    """Make the stand-in importable as ``gr00t``; afterwards no module that saw it is left."""
    forget_gr00t()
    sys.path.insert(0, str(STANDIN))
    try:
        yield
    finally:
        sys.path.remove(str(STANDIN))
        forget_gr00t()


def forget_gr00t() -> None:
    """Forget ``gr00t`` and everything that was imported on top of it or patched for it."""
    own = ("gr00t", "rlinf.models.embodiment.gr00t", "isaaclab_rlinf.models.gr00t.n1d5_policy")
    for name in [*sys.modules]:
        if name.startswith(tuple(f"{prefix}." for prefix in own)) or name in own or name.startswith("_isaaclab_rlinf_"):
            del sys.modules[name]
    embodiment = sys.modules.get("rlinf.models.embodiment")
    if hasattr(embodiment, "gr00t"):
        del embodiment.gr00t


def block_for(facts: N1d5Facts, **extra: Any) -> dict[str, Any]:
    """Return an ``isaaclab`` block that fits a checkpoint: its first view is the main one, the others are extra."""
    videos = list(facts.video)
    state, start = [], 0
    for key, width in facts.state.items():
        state.append({"gr00t_key": f"state.{key}", "slice": [start, start + width]})
        start += width
    return {
        "task_description": "unused",
        "main_images": "camera_0",
        "extra_view_images": [f"camera_{index}" for index in range(1, len(videos))],
        "states": ["proprioception"],
        "gr00t_mapping": {
            "video": {
                "main_images": f"video.{videos[0]}",
                "extra_view_images": [f"video.{key}" for key in videos[1:]],
            },
            "state": state,
        },
        **extra,
    }


def model_cfg(facts: N1d5Facts, block: dict[str, Any], head: dict[str, Any] | None = None, **extra: Any) -> Any:
    """Return a model section."""
    return OmegaConf.create(
        {
            "model_type": "gr00t",
            "model_path": str(facts.path),
            "embodiment_tag": facts.tag,
            "action_dim": facts.action_dim,
            "num_action_chunks": 8,
            "denoising_steps": 4,
            "obs_converter_type": "isaaclab_rlinf",
            "rl_head_config": {**HEAD, **(head or {})},
            "isaaclab": block,
            **extra,
        }
    )


def observation(facts: N1d5Facts, batch: int = 3) -> dict[str, Any]:
    """Return RLinf's observation with the checkpoint's sizes."""
    generator = torch.Generator().manual_seed(1)
    sizes = [(height, width) for width, height in facts.video.values()]
    images = [torch.randint(0, 256, (batch, *size, 3), generator=generator, dtype=torch.uint8) for size in sizes]
    return {
        "main_images": images[0],
        "wrist_images": None,
        "extra_view_images": torch.stack(images[1:], dim=1) if images[1:] else None,
        "states": torch.rand(batch, sum(facts.state.values()), generator=generator) * 2 - 0.5,
        "task_descriptions": [TEXTS[index % 3] for index in range(batch)],
    }
