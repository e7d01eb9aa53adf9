# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Export of a GR00T N1.7: its processor files, statistics and backbone travel along."""

import sys
from pathlib import Path

import torch
from saved_run import save_run

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.models.build import build_registered

sys.path.append(str(Path(__file__).parents[1] / "models"))
import tiny_gr00t


def test_exported_n1d7_acts_the_same_without_its_base(tmp_path, capsys):
    base = tiny_gr00t.make(tmp_path / "base")
    cfg = tiny_gr00t.settings(base, add_value_head=True)
    model = build_registered(cfg).eval()
    step_dir = save_run(tmp_path, model, cfg)
    out = tmp_path / "out"
    assert main(["export", "--checkpoint", str(step_dir), "--out", str(out)]) == 0
    assert f"{len(model.state_dict())} tensors, float32" in capsys.readouterr().out
    files = {str(file.relative_to(base)) for file in base.rglob("*") if file.is_file()}
    assert files <= {str(file.relative_to(out)) for file in out.rglob("*")}
    base.rename(tmp_path / "away")
    again = build_registered({**cfg, "model_path": str(out)}).eval()
    assert all(torch.equal(value, again.state_dict()[key]) for key, value in model.state_dict().items())
    ours, theirs = (policy.predict_action_batch(tiny_gr00t.observation(), mode="eval") for policy in (model, again))
    assert torch.allclose(ours[0], theirs[0], atol=1e-5, rtol=0)
    assert torch.allclose(ours[1]["prev_values"], theirs[1]["prev_values"], atol=1e-5, rtol=0)
