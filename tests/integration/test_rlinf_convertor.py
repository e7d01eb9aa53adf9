# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's own ``convert_pt_to_hf`` reads our run directories; and where it stops short of our export."""

import json
import os
import subprocess
import sys

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.models.build import build_registered

pytestmark = pytest.mark.integration


def test_it_reads_our_checkpoint_with_the_resolved_config_of_the_run(tmp_path):
    model_cfg = {
        "model_type": "tiny_vla",
        "model_path": str(bundled_checkpoint()),
        "precision": "fp32",
        "is_lora": False,
        "action_dim": 3,
        "num_action_chunks": 8,
    }
    model = build_registered(model_cfg)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.02)
    torch.save(model.state_dict(), tmp_path / "full_weights.pt")
    OmegaConf.save({"actor": {"model": model_cfg}}, tmp_path / "resolved.yaml")
    out = tmp_path / "converted"
    command = [sys.executable, "-m", "rlinf.utils.ckpt_convertor.fsdp_convertor.convert_pt_to_hf"]
    command += ["--config-name", "fsdp_dreamzero_convertor"]  # the only one in the wheel that needs no checkout
    command += [f"convertor.train_config_path={tmp_path / 'resolved.yaml'}"]
    command += [f"convertor.ckpt_path={tmp_path / 'full_weights.pt'}", f"convertor.save_path={out}"]
    environment = {**os.environ, "RLINF_EXT_MODULE": "isaaclab_rlinf.extension", "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    again = build_registered({**model_cfg, "model_path": str(out)}).state_dict()
    assert all(torch.equal(value, again[key]) for key, value in model.state_dict().items())
    assert json.loads((out / "config.json").read_text())["model_type"] == "tiny_vla"
