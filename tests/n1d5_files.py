# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The JSON files of a GR00T N1.5 checkpoint, as small as they may be. Used by the tests of several packages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weight_stubs import write_safetensors

HORIZON, MAX_ACTION, MAX_STATE = 16, 32, 64
TROCAR_VIDEO = dict.fromkeys(("room_view", "left_wrist_view", "right_wrist_view"), (224, 224))
TROCAR_PARTS = dict.fromkeys(("left_arm", "right_arm", "left_hand", "right_hand"), 7)


def config_json(**head: Any) -> dict[str, Any]:
    """Return ``config.json``; ``head`` goes into ``action_head_cfg``."""
    sizes = {
        "action_dim": MAX_ACTION,
        "action_horizon": HORIZON,
        "max_state_dim": MAX_STATE,
        "max_num_embodiments": 32,
        "num_inference_timesteps": 4,
    }
    return {
        "model_type": "gr00t_n1_5",
        "architectures": ["GR00T_N1_5"],
        "backbone_cfg": {},
        "action_head_cfg": {**sizes, **head},
        "action_horizon": HORIZON,
        "action_dim": MAX_ACTION,
        "compute_dtype": "float32",
    }


def embodiment(
    tag: str, video: Mapping[str, tuple[int, int]], state: Mapping[str, int], action: Mapping[str, int]
) -> dict[str, Any]:
    """Return one entry of ``metadata.json``; statistics span [-1, 3], so that normalising shows."""
    return {
        "statistics": {
            name: {key: _statistics(width) for key, width in parts.items()}
            for name, parts in (("state", state), ("action", action))
        },
        "modalities": {
            "video": {key: {"resolution": list(size), "channels": 3, "fps": 30.0} for key, size in video.items()},
            **{
                name: {
                    key: {"absolute": True, "rotation_type": None, "shape": [width], "continuous": True}
                    for key, width in parts.items()
                }
                for name, parts in (("state", state), ("action", action))
            },
        },
        "embodiment_tag": tag,
    }


def _statistics(width: int) -> dict[str, list[float]]:
    values = {"max": 3.0, "min": -1.0, "mean": 1.0, "std": 1.0, "q01": -0.9, "q99": 2.9}
    return {name: [value] * width for name, value in values.items()}


def write_json(directory: Path, embodiments: Mapping[str, dict[str, Any]], **head: Any) -> Path:
    """Write ``config.json``, ``experiment_cfg/metadata.json`` and a stub of weights; returns the directory."""
    (directory / "experiment_cfg").mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config_json(**head)))
    (directory / "experiment_cfg/metadata.json").write_text(json.dumps(dict(embodiments)))
    if not (directory / "model.safetensors").exists():
        write_safetensors(directory / "model.safetensors", {"weight": (1,)})
    return directory


def write_trocar(directory: Path) -> Path:
    """Write the files of a checkpoint for Isaac Lab's assemble-trocar task."""
    entry = embodiment("new_embodiment", TROCAR_VIDEO, TROCAR_PARTS, TROCAR_PARTS)
    return write_json(directory, {"new_embodiment": entry})
