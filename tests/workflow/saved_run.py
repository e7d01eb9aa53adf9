# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A run directory as training leaves it, written without training."""

import json
from pathlib import Path

import torch
from omegaconf import OmegaConf


def save_run(root: Path, model, model_cfg: dict, *, name="20260101-run", task="Task-v0", step=7, extensions=()) -> Path:
    """Change the model's trainable weights, save everything below ``root/logs/rlinf``; return global_step_N."""
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.02 * torch.randn_like(parameter))
    run = root / "logs/rlinf" / name
    weights = run / f"experiment/checkpoints/global_step_{step}/actor/model_state_dict/full_weights.pt"
    weights.parent.mkdir(parents=True)
    torch.save(model.state_dict(), weights)
    (run / "params").mkdir()
    OmegaConf.save({"actor": {"model": model_cfg}, "extensions": list(extensions)}, run / "params/resolved.yaml")
    manifest = {"version": 1, "library": "rlinf", "task": task, "created_at": "2026-01-01T00:00:00+00:00"}
    (run / "run.json").write_text(json.dumps({**manifest, "metadata": {"config_name": "my_yaml"}}))
    return weights.parents[2]
