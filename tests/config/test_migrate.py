# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

from omegaconf import OmegaConf

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.migrate import migrate


def test_the_shipped_yaml_gets_what_rlinf_demands_and_every_change_is_told(trocar_yaml):
    cfg = compose_config(trocar_yaml)
    notices = migrate(cfg)
    assert cfg.weight_syncer.type == "bucket"
    assert (cfg.env.train.rollout_epoch, cfg.env.eval.rollout_epoch) == (2, 1)
    assert cfg.rollout.sampling_params.top_k == 50
    assert "amp" not in cfg.actor.fsdp_config
    assert cfg.actor.fsdp_config.amp_autocast == {"enabled": False, "precision": "bf16"}
    told = [notice.split(":")[0] for notice in notices]
    assert told == [
        "weight_syncer",
        "env.train.rollout_epoch",
        "env.eval.rollout_epoch",
        "rollout.sampling_params",
        "actor.fsdp_config.amp",
        "env.eval.init_params.task_description",
    ]
    assert migrate(cfg) == []


def test_a_current_yaml_is_left_alone(bundled_yaml):
    assert migrate(compose_config(bundled_yaml)) == []


def test_set_values_are_never_replaced(trocar_yaml):
    cfg = compose_config(
        trocar_yaml, ["+env.train.rollout_epoch=7", "+weight_syncer.type=patch", "+weight_syncer.patch={}"]
    )
    notices = migrate(cfg)
    assert cfg.env.train.rollout_epoch == 7
    assert cfg.weight_syncer.type == "patch"
    assert "algorithm.rollout_epoch: 2 is not read; env.train.rollout_epoch (7) is" in notices


def test_rollout_model_inherits_and_its_own_settings_win(bundled_yaml):
    cfg = compose_config(
        bundled_yaml, ["rollout.model.precision=bf16", "+rollout.model.rl_head_config={noise_anneal: false}"]
    )
    migrate(cfg)
    assert cfg.rollout.model.precision == "bf16"
    assert cfg.rollout.model.action_dim == 3
    assert cfg.rollout.model.rl_head_config == {
        "noise_anneal": False,
        "noise_params": [0.4, 0.1, cfg.runner.max_epochs],
        "stochastic_steps": [3],
        "detach_critic_input": True,
    }


def test_a_later_change_of_the_actor_reaches_the_rollout_through_interpolations(bundled_yaml):
    cfg = compose_config(bundled_yaml)
    migrate(cfg)
    cfg.actor.model.model_path = "/elsewhere"
    assert cfg.rollout.model.model_path == "/elsewhere"


def test_eval_policy_path_becomes_ckpt_path_in_evaluation_only(trocar_yaml):
    cfg = compose_config(trocar_yaml, ["runner.eval_policy_path=/w.pt", "runner.only_eval=true"])
    assert any(notice.startswith("runner.ckpt_path: /w.pt") for notice in migrate(cfg))
    assert cfg.runner.ckpt_path == "/w.pt"
    cfg = compose_config(trocar_yaml, ["runner.eval_policy_path=/w.pt"])
    assert any("not used in training" in notice for notice in migrate(cfg))
    assert "ckpt_path" not in cfg.runner


def test_the_blocks_instruction_is_the_one_rlinf_sees(trocar_yaml):
    cfg = compose_config(trocar_yaml, ["env.train.isaaclab.task_description=lift it"])
    migrate(cfg)
    assert cfg.env.train.init_params.task_description == "lift it"
    cfg = compose_config(trocar_yaml, ["~env.train.isaaclab.task_description"])
    migrate(cfg)
    assert cfg.env.train.isaaclab.task_description == "assemble trocar from tray"


def test_offload_of_all_environments_is_dropped_and_said(trocar_yaml):
    cfg = compose_config(trocar_yaml, ["env.enable_offload=true"])
    assert sum(notice.startswith("env.enable_offload: true is dropped") for notice in migrate(cfg)) == 1
    assert "enable_offload" not in cfg.env
    assert not any(cfg.env[mode].get("enable_offload") for mode in ("train", "eval")), "which would be refused"


def test_offload_that_is_off_is_no_news(trocar_yaml):
    cfg = compose_config(trocar_yaml, ["env.enable_offload=false"])
    assert not any("offload" in notice for notice in migrate(cfg))


def test_anything_may_be_missing():
    for text in ("{}", "{env: null, runner: 3}", "{env: {train: {isaaclab: 1}}, actor: {model: [1]}, rollout: {}}"):
        migrate(OmegaConf.create(text))
