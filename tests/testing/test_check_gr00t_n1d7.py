# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The conformance kit on GR00T N1.7, sharded over two processes."""

import importlib.util
import sys
from pathlib import Path

from isaaclab_rlinf.testing import check_policy, example_env_obs, registered_builder

_spec = importlib.util.spec_from_file_location("tiny_gr00t", Path(__file__).parents[1] / "models" / "tiny_gr00t.py")
tiny_gr00t = sys.modules.setdefault("tiny_gr00t", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(tiny_gr00t)


def test_gr00t_n1d7_keeps_the_contract(tmp_path):
    cfg = tiny_gr00t.settings(tiny_gr00t.make(tmp_path / "tiny"), add_value_head=True)
    build = registered_builder(cfg)
    report = check_policy(
        build(),
        env_obs=example_env_obs(batch=4, state_dim=6, wrist=True),
        model_cfg=cfg,
        build=build,
    )
    assert not report.not_run
    assert "sharding" in report.passed
