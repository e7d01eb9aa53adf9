# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The tiny checkpoint's JSON files: model configuration, processor, statistics and embodiment ids."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from .tiny_spec import TinyEmbodiment, TinySizes


def model_config(embodiment: TinyEmbodiment, sizes: TinySizes) -> dict[str, Any]:
    """Return the contents of ``config.json``."""
    heads = {"num_attention_heads": sizes.heads, "dropout": 0.0, "final_dropout": True, "positional_embeddings": None}
    return {
        "model_type": "Gr00tN1d7",
        "architectures": ["Gr00tN1d7"],
        "model_name": "Qwen/Qwen3-VL-tiny",
        "backbone_model_type": "qwen",
        "model_dtype": "float32",
        "dtype": "float32",
        "backbone_embedding_dim": sizes.width,
        "select_layer": sizes.language_layers,
        "tune_llm": True,
        "tune_visual": True,
        "image_crop_size": None,
        "image_target_size": [embodiment.image_size] * 2,
        "max_state_dim": sizes.max_state_dim,
        "max_action_dim": sizes.max_action_dim,
        "action_horizon": embodiment.horizon,
        "hidden_size": sizes.action_width,
        "input_embedding_dim": sizes.action_width,
        "max_num_embodiments": sizes.embodiments,
        "max_seq_len": 64,
        "attn_dropout": 0.0,
        "state_dropout_prob": 0.0,
        "diffusion_model_cfg": {
            **heads,
            "num_layers": sizes.action_layers,
            "attention_head_dim": sizes.action_width // sizes.heads,
            "norm_type": "ada_norm",
            "output_dim": sizes.action_width,
            "interleave_self_attention": True,
        },
        "vl_self_attention_cfg": {**heads, "num_layers": 1, "attention_head_dim": sizes.width // sizes.heads},
    }


def write_processor(out: Path, embodiment: TinyEmbodiment, sizes: TinySizes) -> None:
    """Write ``processor_config.json``, ``statistics.json`` and ``embodiment_id.json`` into a directory."""
    modality = lambda keys, steps, **extra: {  # noqa: E731
        "delta_indices": list(range(steps)),
        "modality_keys": list(keys),
        "sin_cos_embedding_keys": None,
        "mean_std_embedding_keys": None,
        "action_configs": None,
        **extra,
    }
    configs = [
        {
            "rep": "RELATIVE" if key in embodiment.relative else "ABSOLUTE",
            "type": "NON_EEF",
            "format": "DEFAULT",
            "state_key": embodiment.relative.get(key),
        }
        for key in embodiment.action
    ]
    kwargs = {
        "modality_configs": {
            embodiment.tag: {
                "video": modality(embodiment.views, 1),
                "state": modality(embodiment.state, 1),
                "action": modality(embodiment.action, embodiment.horizon, action_configs=configs),
                "language": modality([embodiment.language_key], 1),
            }
        },
        "image_crop_size": [embodiment.image_size] * 2,
        "image_target_size": [embodiment.image_size] * 2,
        "use_albumentations": False,
        "random_rotation_angle": None,
        "color_jitter_params": None,
        "shortest_image_edge": None,
        "crop_fraction": None,
        "letter_box_transform": False,
        "model_name": "Qwen/Qwen3-VL-tiny",
        "model_type": "qwen",
        "formalize_language": True,
        "max_state_dim": sizes.max_state_dim,
        "max_action_dim": sizes.max_action_dim,
        "max_action_horizon": embodiment.horizon,
        "use_percentiles": False,
        "use_mean_std": False,
        "clip_outliers": True,
        "apply_sincos_state_encoding": False,
        "use_relative_action": bool(embodiment.relative),
        "exclude_state": False,
        "state_dropout_prob": 0.0,
    }
    bounds = lambda widths: {key: _uniform_statistics(width, embodiment.limit) for key, width in widths.items()}  # noqa: E731
    statistics = {"state": bounds(embodiment.state), "action": bounds(embodiment.action)}
    if embodiment.relative:
        statistics["relative_action"] = bounds({key: embodiment.action[key] for key in embodiment.relative})
    contents = {
        "processor_config.json": {"processor_class": "Gr00tN1d7Processor", "processor_kwargs": kwargs},
        "statistics.json": {embodiment.tag: statistics},
        "embodiment_id.json": {embodiment.tag: embodiment.embodiment_id},
    }
    for name, content in contents.items():
        (out / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _uniform_statistics(width: int, limit: float) -> dict[str, list[float]]:
    values = {"min": -limit, "max": limit, "mean": 0.0, "std": limit / math.sqrt(3), "q01": -limit, "q99": limit}
    return {name: [value] * width for name, value in values.items()}
