# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What the tests of GR00T N1.5 share, whichever ``gr00t`` package they run on."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.models.gr00t.checkpoint import N1d5Facts
from n1d5_files import embodiment, write_json

STANDIN = Path(__file__).parent / "standin_gr00t"
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
DATA_CONFIG = """
from gr00t.data.transform.base import ComposedModalityTransform
from gr00t.data.transform.concat import ConcatTransform
from gr00t.data.transform.state_action import StateActionToTensor, StateActionTransform
from gr00t.data.transform.video import VideoColorJitter, VideoCrop, VideoResize, VideoToNumpy, VideoToTensor
from gr00t.experiment.data_config import BaseDataConfig
from gr00t.model.transforms import GR00TTransform


class Config(BaseDataConfig):
    video_keys = {video}
    state_keys = {state}
    action_keys = {action}
    language_keys = ["annotation.human.action.task_description"]
    observation_indices = [0]
    action_indices = list(range(16))

    def transform(self):
        state, action = (dict.fromkeys(keys, "min_max") for keys in (self.state_keys, self.action_keys))
        return ComposedModalityTransform(transforms=[
            VideoToTensor(apply_to=self.video_keys), VideoCrop(apply_to=self.video_keys, scale=0.95),
            VideoResize(apply_to=self.video_keys, height=224, width=224, interpolation="linear"),
            VideoColorJitter(apply_to=self.video_keys, brightness=0.3, contrast=0.4, saturation=0.5, hue=0.08),
            VideoToNumpy(apply_to=self.video_keys),
            StateActionToTensor(apply_to=self.state_keys),
            StateActionTransform(apply_to=self.state_keys, normalization_modes=state),
            StateActionToTensor(apply_to=self.action_keys),
            StateActionTransform(apply_to=self.action_keys, normalization_modes=action),
            ConcatTransform(video_concat_order=self.video_keys, state_concat_order=self.state_keys,
                            action_concat_order=self.action_keys),
            GR00TTransform(state_horizon=1, action_horizon=16, max_state_dim=64, max_action_dim=32),
        ])
"""
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


def write_checkpoint(
    directory: Path, tags: Sequence[str], video: Mapping[str, Any], state: Mapping[str, int], action: Mapping[str, int]
) -> Path:
    """Write a tiny checkpoint with random weights, and ``my_config.py`` beside it. Needs the stand-in.

    Args:
        directory: Where to.
        tags: Embodiments, all with the same parts.
        video: View -> (width, height).
        state: Part -> width.
        action: Part -> width.
    """
    from gr00t.model.gr00t_n1 import GR00T_N1_5, GR00T_N1_5_Config
    from safetensors.torch import save_file

    write_json(directory, {tag: embodiment(tag, video, state, action) for tag in tags})
    keys = {name: [f"{name}.{key}" for key in parts] for name, parts in (("video", video), ("state", state))}
    source = DATA_CONFIG.format(**keys, action=[f"action.{key}" for key in action])
    (directory / "my_config.py").write_text(source)
    torch.manual_seed(0)
    config = GR00T_N1_5_Config(**json.loads((directory / "config.json").read_text()))
    save_file(GR00T_N1_5(config, str(directory)).state_dict(), directory / "model.safetensors")
    return directory
