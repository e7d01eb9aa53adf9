# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf finds our environment class for the run's task ids, also for one that it knows itself."""

import pytest
from omegaconf import OmegaConf

from isaaclab_rlinf.env.registration import register_envs

STOCK = "Isaac-Stack-Cube-Franka-IK-Rel-Visuomotor-Rewarded-v0"


def section(task_id, **changes):
    return {"env_type": "isaaclab", "init_params": {"id": task_id}, "isaaclab": {"main_images": "x"}, **changes}


@pytest.fixture
def registry(monkeypatch):
    from rlinf.envs import isaaclab

    table = dict(isaaclab.REGISTER_ISAACLAB_ENVS)
    monkeypatch.setattr(isaaclab, "REGISTER_ISAACLAB_ENVS", table)
    return table


def test_registers_train_and_eval_once(registry, capsys):
    from rlinf.envs import get_env_cls

    from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv

    cfg = OmegaConf.create({"env": {"train": section("A-v0"), "eval": section("B-v0")}})
    register_envs(cfg)
    register_envs(cfg)
    assert get_env_cls("isaaclab", cfg.env.train) is IsaacLabGenericEnv
    assert registry["B-v0"] is IsaacLabGenericEnv
    assert capsys.readouterr().out == ""


def test_takes_over_a_stock_name_with_one_notice(registry, capsys):
    cfg = OmegaConf.create({"env": {"train": section(STOCK), "eval": section(STOCK)}})
    register_envs(cfg)
    register_envs(cfg)
    assert registry[STOCK].__name__ == "IsaacLabGenericEnv"
    assert capsys.readouterr().out.count("replaces RLinf's own IsaaclabStackCubeEnv") == 1


def test_leaves_other_sections_alone(registry):
    before = dict(registry)
    plain = {"env_type": "isaaclab", "init_params": {"id": STOCK}}
    register_envs(OmegaConf.create({"env": {"train": plain, "eval": section("C-v0", env_type="libero")}}))
    assert registry == before
