# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.5 before anything starts: YAML x data configuration x checkpoint, on Isaac Lab's own YAML."""

from __future__ import annotations

import json

import pytest
from bases import only

from isaaclab_rlinf.config.gr00t_block import attach_blocks
from n1d5_files import TROCAR_PARTS, TROCAR_VIDEO, embodiment, write_json

BLOCK = "env.train.isaaclab"


@pytest.fixture
def trocar(check, trocar_yaml):
    """Validate the trocar YAML with overrides, evaluation in between included when asked for."""
    return lambda *overrides: check(*overrides, source=trocar_yaml)


def both(setting):
    """The override for the blocks of train and eval."""
    sign = setting[0] if setting[0] in "+~" else ""
    return [f"{sign}env.{mode}.isaaclab.{setting.removeprefix(sign)}" for mode in ("train", "eval")]


def in_train(outcome):
    """The issues without those that only repeat one for the other block."""
    return [issue for issue in outcome.issues if not issue.where.startswith("env.eval.")]


def wheres(outcome):
    return [issue.where for issue in outcome.issues]


def test_isaac_labs_yaml_fits(trocar):
    outcome = trocar()
    assert outcome.issues == ()
    assert any("gr00t` (Isaac-GR00T) is not installed" in notice for notice in outcome.notices)


@pytest.mark.parametrize(
    ("overrides", "where", "found"),
    [
        (["actor.model.action_dim=43"], "actor.model.action_dim", "acts in 28 dims (left_arm 7"),
        (["actor.model.num_action_chunks=32"], "actor.model.num_action_chunks", "predicts 16 steps"),
        (["actor.model.rl_head_config.padding_value=768"], "actor.model.rl_head_config.padding_value", "768 tokens"),
        ([f"{BLOCK}.embodiment_tag_id=24"], f"{BLOCK}.embodiment_tag_id", "10 in RLinf, 31 in Isaac-GR00T N1.5"),
        ([f"~{BLOCK}.embodiment_tag_id"], f"{BLOCK}.embodiment_tag_id", "missing"),
        (both("embodiment_tag=gr2"), "actor.model.embodiment_tag", "it has: new_embodiment"),
        ([f"{BLOCK}.gr00t_mapping.video.main_images=video.rom_view"], f"{BLOCK}.gr00t_mapping.video", "video.rom_view"),
        ([f"{BLOCK}.gr00t_mapping.state.0.gr00t_key=state.lft_arm"], f"{BLOCK}.gr00t_mapping.state", "state.lft_arm"),
        ([f"{BLOCK}.gr00t_mapping.state.0.slice=[0,6]"], f"{BLOCK}.gr00t_mapping.state", "6 columns, the checkpoint 7"),
        ([f"+{BLOCK}.gr00t_mapping.language=task"], f"{BLOCK}.gr00t_mapping.language", "default instruction"),
        ([f"+{BLOCK}.action_mapping.keys=[left_amr]"], f"{BLOCK}.action_mapping.keys", "no action part 'left_amr'"),
        (
            [f"+{BLOCK}.action_mapping.keys=[left_arm,action.left_arm]"],
            f"{BLOCK}.action_mapping.keys",
            "'action.left_arm' is named twice",
        ),
        ([f"{BLOCK}.data_config_class=gr00t_config:Nope"], f"{BLOCK}.data_config_class", "no class 'Nope'"),
        ([f"{BLOCK}.data_config_class=gr00t_config"], f"{BLOCK}.data_config_class", "file.py:Class"),
        ([f"~{BLOCK}.data_config_class"], f"{BLOCK}.data_config_class", "RLinf has a data configuration only for"),
        (both("obs_converter_type=libero"), f"{BLOCK}.obs_converter_type", "reads neither gr00t_mapping"),
        (["actor.model.rl_head_config.joint_logprob=True"], "actor.model.rl_head_config.joint_logprob", "actor reads"),
        (["actor.model.rl_head_config.noise_method=flow_sd"], "actor.model.rl_head_config.noise_method", "flow_sd"),
        (["~actor.model.rl_head_config.ignore_last"], "actor.model.rl_head_config.ignore_last", "no default"),
        (["+actor.model.rl_model_path=/x"], "actor.model.rl_model_path", "no effect"),
    ],
)
def test_each_mismatch_is_one_issue(trocar, overrides, where, found):
    (issue,) = in_train(trocar(*overrides))
    assert issue.where == where
    assert found in issue.found or found in issue.allowed


def test_a_part_that_is_not_sent_is_told(trocar):
    keys = f"+{BLOCK}.action_mapping.keys=[right_arm,action.left_arm]"
    outcome = trocar(keys, f"+{BLOCK}.action_mapping.scale={[1.0] * 14}")
    assert outcome.issues == ()
    assert any(
        "not sent to the environment: left_hand (7), right_hand (7); it gets 14 of" in notice
        for notice in outcome.notices
    )
    assert any("right_arm (7), left_arm (7)" in notice for notice in outcome.notices)
    assert "28 values for 14" in only(trocar(keys, f"+{BLOCK}.action_mapping.scale={[1.0] * 28}")).found


def test_the_checkpoint_of_another_generation(trocar, model_dir):
    (model_dir / "config.json").write_text(json.dumps({"model_type": "Gr00tN1d7"}))
    issue = only(trocar())
    assert issue.where == "actor.model.model_path" and "'Gr00tN1d7'" in issue.found


def test_files_that_are_missing_or_broken(trocar, model_dir):
    metadata = model_dir / "experiment_cfg/metadata.json"
    metadata.write_text('{"new_embodiment": {"modalities": {"video": {}}}}')
    assert "lacks the entry 'action'" in only(trocar()).found
    metadata.write_text("{")
    assert "not valid JSON" in only(trocar()).found
    metadata.unlink()
    assert f"{metadata} is missing" in only(trocar()).found


def test_the_data_configuration_against_the_checkpoint(trocar, model_dir):
    parts = {**TROCAR_PARTS, "waist": 3}
    write_json(model_dir, {"new_embodiment": embodiment("new_embodiment", TROCAR_VIDEO, TROCAR_PARTS, parts)})
    outcome = trocar("actor.model.action_dim=31")
    assert [issue.where for issue in in_train(outcome)] == [f"{BLOCK}.data_config_class"]
    assert "action.waist" in outcome.issues[0].found


def test_more_states_than_the_model_takes_are_not_cut(trocar, model_dir):
    wide = {**TROCAR_PARTS, "left_arm": 7}
    entry = embodiment("new_embodiment", TROCAR_VIDEO, wide, TROCAR_PARTS)
    write_json(model_dir, {"new_embodiment": entry}, max_state_dim=20)
    (issue,) = in_train(trocar())
    assert issue.where == f"{BLOCK}.gr00t_mapping.state" and "would drop the rest" in issue.found


def test_a_stock_converter_without_mapping_is_told(trocar):
    outcome = trocar(*both("~gr00t_mapping"), *both("obs_converter_type=libero"))
    assert outcome.issues == ()
    assert any("'libero' is RLinf's own converter" in notice for notice in outcome.notices)


def test_train_and_eval_cannot_ask_for_two_models(trocar):
    validate = "runner.val_check_interval=2"
    assert trocar(validate).issues == ()
    outcome = trocar(validate, "env.eval.isaaclab.embodiment_tag_id=10")
    assert wheres(outcome) == ["env.eval.isaaclab.embodiment_tag_id"]


def test_n1d7_and_broken_stock_converters(trocar):
    outcome = trocar("actor.model.model_type=gr00t_n1d7", f"{BLOCK}.obs_converter_type=isaaclab_stack_cube")
    found = [issue.found for issue in outcome.issues if issue.where == f"{BLOCK}.obs_converter_type"]
    assert any("fails with N1.7" in text for text in found)


# --- migration and the way to the builder


def test_the_model_section_takes_tag_and_converter_from_the_block(load, trocar_yaml):
    cfg, _ = load("~actor.model.embodiment_tag", "~rollout.model.embodiment_tag", source=trocar_yaml)
    assert cfg.actor.model.embodiment_tag == cfg.rollout.model.embodiment_tag == "new_embodiment"
    unnamed = [f"~{section}.model.obs_converter_type" for section in ("actor", "rollout")]
    cfg, _ = load(*unnamed, *both("~obs_converter_type"), source=trocar_yaml)
    assert cfg.actor.model.obs_converter_type == "isaaclab_rlinf"


@pytest.mark.parametrize(
    ("implementation", "generation", "told"),
    [
        ("isaac_gr00t", None, 1),
        ("auto", "gr00t_n1d7", 1),
        ("auto", None, 0),
        ("lerobot", "gr00t_n1d7", 0),
    ],
)
def test_noise_after_the_log_probability_is_off_and_said_once(
    load, trocar_yaml, monkeypatch, implementation, generation, told
):
    import isaaclab_rlinf.compat.gr00t_package as gr00t_package

    monkeypatch.setattr(gr00t_package, "gr00t_generation", lambda: generation)
    kind = ["actor.model.model_type=gr00t_n1d7", f"+actor.model.implementation={implementation}"]
    cfg, notices = load(*kind, source=trocar_yaml)
    assert sum("action_noise_scale: 0" in notice for notice in notices) == told
    if told:
        assert cfg.actor.model.rl_head_config.action_noise_scale == 0
        assert cfg.rollout.model.rl_head_config.action_noise_scale == 0
    cfg, notices = load(*kind, "+actor.model.rl_head_config.action_noise_scale=0.1", source=trocar_yaml)
    assert cfg.actor.model.rl_head_config.action_noise_scale == 0.1
    assert not any("action_noise_scale" in notice for notice in notices)


def test_the_block_reaches_the_builder_with_an_absolute_data_configuration(load, trocar_yaml):
    from isaaclab_rlinf.models.gr00t.converters import block_of
    from isaaclab_rlinf.models.gr00t.data_config import declared, locate

    cfg, _ = load(source=trocar_yaml)
    attach_blocks(cfg, trocar_yaml)
    attach_blocks(cfg, trocar_yaml)  # of a YAML that is a former run's params/resolved.yaml
    for section in (cfg.actor.model, cfg.rollout.model):
        block = block_of(section)
        assert block.data_config_class == f"{trocar_yaml.parent / 'gr00t_config.py'}:IsaacLabDataConfig"
        assert block.gr00t_mapping.main_images == "video.room_view"
        keys = declared(locate(block.data_config_class, trocar_yaml.parent))
        assert keys["action_horizon"] == 16 and keys["video_keys"][2] == "video.room_view"


def test_other_models_get_no_block(load, bundled_yaml):
    cfg, _ = load()
    attach_blocks(cfg, bundled_yaml)
    assert "isaaclab" not in cfg.actor.model and "isaaclab" not in cfg.rollout.model
