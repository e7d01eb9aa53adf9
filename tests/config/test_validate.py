# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from bases import only

from isaaclab_rlinf.config import checks_task
from isaaclab_rlinf.config.checks_arithmetic import nearest_multiples
from isaaclab_rlinf.config.placement import world_sizes
from isaaclab_rlinf.config.validate import examine, require_sound, validate


def test_the_bundled_yaml_is_valid(check):
    for mode in ("train", "play"):
        outcome = check(mode=mode)
        assert outcome.issues == ()
        assert outcome.notices == ()
        assert outcome.blocks["train"].success.termination == "success"


def test_the_shipped_yaml_only_lacks_its_checkpoint(trocar_yaml):
    from isaaclab_rlinf.config.compose import compose_config
    from isaaclab_rlinf.config.migrate import migrate

    cfg = compose_config(trocar_yaml)
    migrate(cfg)
    issue = only(examine(cfg, source=trocar_yaml, mode="train", num_accelerators=0))
    assert (issue.where, issue.file) == ("actor.model.model_path", trocar_yaml)
    assert "--model_path" in issue.fix
    assert only(examine(cfg, source=trocar_yaml, mode="play")).where == "rollout.model.model_path"


def test_the_shipped_yaml_is_valid_with_a_checkpoint_on_eight_gpus(check, trocar_yaml):
    # 8 ranks: 4 environments and a batch of 4 do not divide
    where = {issue.where for issue in check(source=trocar_yaml, accelerators=8).issues}
    assert where == {"env.train.total_num_envs", "actor.global_batch_size"}
    assert check(source=trocar_yaml, accelerators=2).issues == ()


# --- sections and keys


def test_a_missing_key_a_wrong_type_and_a_typo_in_rlinfs_sections(check):
    outcome = check("~actor.optim.lr", "algorithm.gamma=1.5", "runner.save_interval=often", "+algorithm.gea_lambda=0.9")
    found = {issue.where: issue for issue in outcome.issues}
    assert found["actor.optim.lr"].found == "missing"
    assert found["algorithm.gamma"].allowed == "a number >= 0 and <= 1"
    assert found["runner.save_interval"].found == "'often' is a text"
    assert "gae_lambda" in found["algorithm.gea_lambda"].fix


def test_an_unknown_section(check):
    assert "did you mean 'extensions'?" in only(check("+extension=[]")).fix


def test_keys_of_others_pass_with_a_notice(check):
    outcome = check("+actor.model.my_own_setting=3")
    assert outcome.issues == ()
    assert outcome.notices[0].startswith("actor.model.my_own_setting: passed through unchecked")


def test_null_is_not_silently_a_default(check):
    assert only(check("algorithm.update_epoch=null")).where == "algorithm.update_epoch"
    assert check("+algorithm.clip_log_ratio_min=null").issues == ()


def test_a_mandatory_value_left_open(check):
    assert only(check("actor.optim.lr='???'")).found.startswith("the value is mandatory")


def test_play_needs_no_optimiser(check):
    assert check("~actor.optim", "~algorithm.gamma", "~weight_syncer", mode="play").issues == ()


def test_action_parts_of_a_model_that_has_none(check):
    issue = only(check("+env.train.isaaclab.action_mapping.keys=[joints]"))
    assert issue.where == "env.train.isaaclab.action_mapping.keys" and "have no named parts" in issue.found
    assert "2 values for 3 model dims" in only(check("+env.train.isaaclab.action_mapping.scale=[1,2]")).found


# --- arithmetic


@pytest.mark.parametrize(
    ("override", "where", "fix"),
    [
        ("env.train.total_num_envs=63", "env.train.total_num_envs", "use 64"),
        ("env.train.max_steps_per_rollout_epoch=50", "env.train.max_steps_per_rollout_epoch", "use 48 or 64"),
        ("actor.global_batch_size=500", "actor.global_batch_size", "use 384 or 512"),
        ("actor.global_batch_size=640", "actor.global_batch_size", "use 512 or 768"),
        ("runner.val_check_interval=4", "runner.save_interval", "use 8 or 12"),
    ],
)
def test_numbers_that_do_not_divide(check, override, where, fix):
    two_env_workers = {"actor,rollout": "0", "env": "0:0-1"} if where == "env.train.total_num_envs" else None
    issue = only(check(override, placement=two_env_workers))
    assert (issue.where, issue.fix) == (where, fix)


def test_the_batch_error_shows_its_numbers(check):
    issue = only(check("actor.global_batch_size=640"))
    assert "1536 samples (48 steps / 8 per chunk x 4 rollout epochs x 64 environments)" in issue.found
    assert issue.allowed == "a divisor of 1536 that is a multiple of 128"


def test_stages_count_too(check):
    issue = only(
        check(
            "env.train.total_num_envs=2",
            "actor.micro_batch_size=1",
            "actor.global_batch_size=2",
            "rollout.pipeline_stage_num=4",
        )
    )
    assert (issue.where, issue.fix) == ("env.train.total_num_envs", "use 4")


def test_an_evaluation_that_cannot_finish_an_episode(check):
    issue = only(check("env.eval.max_steps_per_rollout_epoch=40", mode="play"))
    assert "would never be counted" in issue.found
    assert check("env.eval.max_steps_per_rollout_epoch=40", mode="train").issues == ()


def test_placement_errors(check):
    issue = only(check(placement={"actor,rollout": "all"}))
    assert "no placement for 'env'" in issue.found
    issue = only(check(placement={"actor,env,rollout": "0-3"}))
    assert "asks for resource 3, but there are 1" in issue.found
    assert check(placement={"actor,env,rollout": "0-1"}, accelerators=2).issues == ()


@pytest.mark.parametrize(
    ("text", "accelerators", "size"),
    [("all", 0, 1), ("all", 8, 8), (0, 1, 1), ("0-3", 4, 4), ("0:0-1", 0, 2), ("0-1:0-3,2-3", 4, 6), ("0-3:0-1", 4, 2)],
)
def test_world_sizes(text, accelerators, size):
    assert world_sizes({"env, actor": text}, 1, accelerators) == ({"env": size, "actor": size}, [])


def test_world_size_on_several_nodes_and_unknown_clusters():
    assert world_sizes({"env": "all"}, 3, 0)[0] == {"env": 3}
    assert world_sizes({"env": {"node_group": "node", "placement": "0-1:0-5"}}, 2, 8)[0] == {"env": 6}
    assert world_sizes({"env": "all"}, 1, None)[0] == {"env": None}
    assert world_sizes({"env": "0-3:0-7"}, 1, None)[0] == {"env": 8}


def test_nearest_multiples():
    assert nearest_multiples(10, 8) == "8 or 16"
    assert nearest_multiples(3, 8) == "8"


# --- algorithm


@pytest.mark.parametrize(
    ("overrides", "where"),
    [
        (["algorithm.normalize_advantages=false"], "algorithm.normalize_advantages"),
        (["algorithm.adv_type=grpo"], "algorithm.adv_type"),
        (["algorithm.adv_type=reinpp", "algorithm.loss_type=actor"], "algorithm.adv_type"),
        (["algorithm.value_clip=null"], "algorithm.value_clip"),
        (["~algorithm.huber_delta"], "algorithm.huber_delta"),
        (["algorithm.loss_type=embodied_sac"], "algorithm.adv_type"),
        (["actor.model.add_value_head=false"], "actor.model.add_value_head"),
        (["~actor.optim.value_lr"], "actor.optim.value_lr"),
        (["actor.optim.adam_beta2=1"], "actor.optim.adam_beta2"),
        (["+actor.optim.lr_scheduler=cosine"], "actor.optim.total_training_steps"),
        (["algorithm.filter_rewards=true"], "algorithm.rewards_lower_bound"),
        (["runner.max_steps=0"], "runner.max_steps"),
        (["weight_syncer.type=patch", "+weight_syncer.patch={}"], "weight_syncer.type"),
        (["weight_syncer.type=patch"], "weight_syncer.patch"),
        (
            [
                "+actor.fsdp_config.amp_autocast={enabled: true, precision: bf16}",
                "actor.fsdp_config.mixed_precision.param_dtype=bf16",
            ],
            "actor.fsdp_config.amp_autocast.enabled",
        ),
        (["actor.fsdp_config.strategy=fsdp3"], "actor.fsdp_config.strategy"),
        (["weight_syncer.type=buckets"], "weight_syncer.type"),
    ],
)
def test_settings_that_cannot_work(check, overrides, where):
    accelerators = 1 if where == "weight_syncer.patch" else 0
    assert where in [issue.where for issue in check(*overrides, accelerators=accelerators).issues]


def test_entropy_bonus_with_gr00t(check, trocar_yaml):
    issue = only(check("algorithm.entropy_bonus=0.1", source=trocar_yaml))
    assert (issue.where, issue.allowed) == ("algorithm.entropy_bonus", "0")


# --- model


def test_model_type(check, tmp_path, monkeypatch):
    assert "tiny_vla" in only(check("actor.model.model_type=tiny_vl")).fix
    without = only(check("actor.model.model_type=mine", "+extensions=[json]"))
    assert without.where == "actor.model.model_type"
    assert "none of the extensions (json) has a register()" in without.fix
    (tmp_path / "with_hook.py").write_text("def register():\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    outcome = check("actor.model.model_type=mine", "+extensions=[json, with_hook]")
    assert outcome.issues == ()
    assert "expected from one of the extensions" in outcome.notices[0]


def test_extension_that_cannot_be_imported(check):
    # a backend puts the extensions before the import_modules of each environment, which the user did not write
    merged = "++env.train.init_params.import_modules=[no_such_module]"
    issue = only(check("+extensions=[no_such_module]", merged))
    assert issue.where == "extensions"
    assert "no_such_module" in issue.found
    assert "PYTHONPATH" in issue.fix


def test_import_module_that_cannot_be_imported(check):
    issue = only(check("++env.train.init_params.import_modules=[no_such_module]"))
    assert issue.where == "env.train.init_params.import_modules"


@pytest.mark.parametrize("mode", ["train", "play"])
def test_model_path(check, tmp_path, mode):
    section = "actor" if mode == "train" else "rollout"
    both = lambda path: [f"{name}.model.model_path={path}" for name in ("actor", "rollout")]  # noqa: E731
    issue = only(check(*both("no/where"), mode=mode))
    assert issue.where == f"{section}.model.model_path"
    assert str(Path.cwd()) in issue.found
    (tmp_path / "weights.pt").write_bytes(b"")
    assert "--checkpoint" in only(check(*both(tmp_path / "weights.pt"), mode=mode)).fix
    assert "no config.json" in only(check(*both(tmp_path), mode=mode)).found


@pytest.mark.parametrize(
    ("facts", "where"),
    [
        ({"action_dim": 4}, "actor.model.action_dim"),
        ({"action_horizon": 4}, "actor.model.num_action_chunks"),
        ({"image_views": ("main_images",)}, "env.train.isaaclab.main_images"),
        ({"image_views": ("main_images", "extra_view_images_0")}, "env.train.isaaclab.main_images"),
        ({"vocabulary": ("touch",)}, "env.train.isaaclab.task_description.obs"),
        ({"max_text_length": 3}, "env.train.isaaclab.task_description.obs"),
    ],
)
def test_what_the_checkpoint_says(check, monkeypatch, facts, where):
    import isaaclab_rlinf.models.inspect as inspect

    fits = vars(inspect.checkpoint_facts("any"))
    monkeypatch.setattr(inspect, "checkpoint_facts", lambda path: SimpleNamespace(**{**fits, **facts}))
    assert where in [issue.where for issue in check().issues]


def test_a_checkpoint_with_a_state_needs_states(check):
    issue = only(check("~env.train.isaaclab.states"))
    assert (issue.where, issue.allowed) == ("env.train.isaaclab.states", "6 columns")


def test_state_width_against_the_checkpoint_when_slices_tell(check):
    states = "[{key: joint_pos, slice: [0, 3]}, {key: joint_vel, slice: [0, 2]}]"
    issues = check(f"env.train.isaaclab.states={states}").issues
    assert [(issue.where, issue.allowed) for issue in issues] == [("env.train.isaaclab.states", "6 columns")]


def test_actor_and_rollout_must_agree(check):
    assert only(check("+rollout.model.num_action_chunks=4")).where == "rollout.model.num_action_chunks"


def test_gr00t_cross_checks(check, trocar_yaml):
    outcome = check(
        "~env.train.isaaclab.gr00t_mapping.video.main_images",
        "actor.model.embodiment_tag=gr1",
        "rollout.model.embodiment_tag=gr1",
        "env.train.isaaclab.data_config_class=gr00t_confg:X",
        source=trocar_yaml,
    )
    assert {issue.where for issue in outcome.issues} == {
        "env.train.isaaclab.gr00t_mapping.video.main_images",
        "actor.model.embodiment_tag",
        "env.train.isaaclab.data_config_class",
    }


def test_named_checkpoints(check, tmp_path):
    assert only(check("runner.ckpt_path=/no/file.pt")).where == "runner.ckpt_path"
    (tmp_path / "global_step_3/actor").mkdir(parents=True)
    issue = only(check(f"runner.resume_dir={tmp_path}/global_step_3"))
    assert issue.where == "runner.resume_dir" and "half-written" in issue.found
    assert only(check(f"runner.resume_dir={tmp_path}/global_step_4")).where == "runner.resume_dir"


# --- task


@pytest.mark.parametrize(
    ("override", "where", "fix"),
    [
        ("main_images=front_camra", "main_images", "did you mean 'front_camera'?"),
        ("wrist_images=wrist", "wrist_images", "did you mean 'wrist_camera'?"),
        ("main_images=joint_pos", "main_images", "it is in group 'policy': set camera_group"),
        ("states=[joint_pos,joint_vle]", "states[1]", "did you mean 'joint_vel'?"),
        ("task_description={obs: instructon}", "task_description.obs", "did you mean 'instruction'?"),
        ("success={termination: sucess}", "success.termination", "did you mean 'success'?"),
        ("success={termination: time_out}", "success.termination", "name the term that means success"),
        ("+policy_group=polcy", "policy_group", "did you mean 'policy'?"),
    ],
)
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_keys_the_task_does_not_have(check, override, where, fix, mode):
    prefix = "+" if override.startswith("+") else ""
    issue = only(check(f"{prefix}env.{mode}.isaaclab.{override.removeprefix('+')}"))
    assert issue.where == f"env.{mode}.isaaclab.{where}"
    assert issue.fix == fix
    assert issue.allowed


def test_unknown_task(check):
    issue = only(check("env.train.init_params.id=Isaac-Touch-Colour-Arm3-v0"))
    assert (issue.where, issue.fix) == ("env.train.init_params.id", "did you mean 'Isaac-Touch-Color-Arm3-v0'?")


def test_env_overrides_are_applied_before_checking(check):
    where = "env.train.init_params.env_overrides"
    assert only(check(f"++{where}={{rewards.succes.weight: 2}}")).where == f"{where}.rewards.succes.weight"
    issue = only(check(f"++{where}={{rewards.success.weight: 0, rewards.wrong_ball.weight: 0}}"))
    assert "gives no reward" in issue.found
    assert check().issues == ()


def test_reward_coefficient_zero(check):
    assert only(check("env.train.reward_coef=0")).where == "env.train.reward_coef"


def test_several_terminations_without_a_named_success(check):
    outcome = check("~env.train.isaaclab.success")
    assert outcome.issues == ()
    assert "each of success, wrong_ball counts as success" in outcome.notices[0]


@pytest.mark.parametrize(
    ("key", "fine", "wrong", "read"),
    [
        ("env.train.init_params.num_envs", "${env.train.total_num_envs}", 7, "env.train.total_num_envs"),
        ("env.eval.init_params.max_episode_steps", 48, 96, "env.eval.max_episode_steps"),
    ],
)
def test_numbers_that_nothing_reads_must_not_say_something_else(check, key, fine, wrong, read):
    assert check(f"{key}={fine}").issues == ()
    issue = only(check(f"{key}={wrong}"))
    assert issue.where == key and read in issue.found and issue.fix == "remove it"


FLAGLESS = "++env.train.init_params.env_overrides={terminations.time_out.time_out: false}"


def test_a_time_out_without_its_flag_is_told_unless_the_yaml_says_so(check, monkeypatch):
    read = checks_task.read_task
    flagless = lambda *args: replace(read(*args), unflagged_time_outs=("wrong_ball",))  # noqa: E731
    monkeypatch.setattr(checks_task, "read_task", flagless)
    outcome = check()
    assert outcome.issues == ()
    assert any("{terminations.wrong_ball.time_out: true}" in notice for notice in outcome.notices)
    decided = "init_params.env_overrides={terminations.wrong_ball.time_out: false}"
    outcome = check(f"++env.train.{decided}", f"++env.eval.{decided}")
    assert outcome.issues == ()
    assert not any("wrong_ball" in notice for notice in outcome.notices)


def test_a_time_out_without_its_flag_is_no_success(check):
    issue = only(check(FLAGLESS, "env.train.isaaclab.success={termination: time_out}"))
    assert issue.where == "env.train.isaaclab.success.termination" and issue.allowed == "success, wrong_ball"
    issue = only(check(FLAGLESS, "~env.train.isaaclab.success"))
    assert issue.where == "env.train.isaaclab.success" and "looks like a time-out" in issue.found


def test_the_only_termination_is_named_too(check):
    alone = "++env.train.init_params.env_overrides={terminations.success: null}"
    outcome = check("~env.train.isaaclab.success", alone)
    assert "wrong_ball counts as success; set {reward_above: x} if it means failure" in outcome.notices[0]


def test_an_episode_longer_than_the_tasks_own(check):
    outcome = check("env.train.max_episode_steps=96", "env.train.max_steps_per_rollout_epoch=96")
    assert outcome.issues == ()
    assert "itself ends an episode after 48 steps" in outcome.notices[0]


def test_a_cfg_that_raises_is_reported(check):
    import gymnasium as gym

    gym.register("Broken-v0", entry_point="x:y", kwargs={"env_cfg_entry_point": "isaaclab_rlinf.tasks:NoSuchCfg"})
    try:
        issue = only(check("env.train.init_params.id=Broken-v0"))
    finally:
        del gym.registry["Broken-v0"]
    assert "NoSuchCfg" in issue.found


def test_direct_workflow_tasks_are_left_to_the_first_reset(check):
    outcome = check("env.train.init_params.id=Isaac-Cartpole-Camera-Direct")
    assert outcome.issues == ()
    assert any("direct-workflow" in notice for notice in outcome.notices)


# --- the whole


B = "env.train.isaaclab"


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        # one mistake of the text, of the task, of the model each
        (
            [
                f"{B}.hold_pose_on_midchunk_reset=maybe",
                f"{B}.main_images=fron_camera",
                f"+{B}.action_mapping.scale=[1,2]",
            ],
            ["hold_pose_on_midchunk_reset", "main_images", "action_mapping.scale"],
        ),
        ([f"{B}.states=[joint_pos,7,jont_vel]"], ["states[1]", "states[2]"]),
        ([f"{B}.wrist_images=3", f"{B}.main_images=fron_camera"], ["wrist_images", "main_images"]),
        (
            [f"{B}.success.termination=3", f"{B}.task_description=touch the purple ball"],
            ["success.termination", "task_description"],
        ),
        # nothing that only follows from the broken key
        ([f"{B}.wrist_images=3"], ["wrist_images"]),
        ([f"~{B}.wrist_images", f"+{B}.wrist_image=wrist_camera"], ["wrist_image"]),
        ([f"{B}.states=3"], ["states"]),
        ([f"{B}.states=[{{key: joint_pos, slice: [3, 0]}}]"], ["states[0].slice"]),
        ([f"+{B}.camera_group=3"], ["camera_group"]),
        ([f"{B}.task_description=3"], ["task_description"]),
        ([f"{B}.success=3"], ["success"]),
        ([f"+{B}.action_mapping.keys=3"], ["action_mapping.keys"]),
        ([f"+{B}.action_mapping={{prefix_pad: -1, pad_value: [1]}}"], ["action_mapping.prefix_pad"]),
    ],
)
def test_a_broken_key_hides_nothing_and_invents_nothing(check, overrides, expected):
    outcome = check(*overrides)
    assert sorted(issue.where for issue in outcome.issues) == sorted(f"{B}.{key}" for key in expected)
    assert not any("not set" in notice for notice in outcome.notices)


def test_states_that_overlap_are_told(check):
    outcome = check(f"{B}.states=[joint_pos, {{key: joint_vel, slice: [0, 2]}}, {{key: joint_vel, slice: [1, 2]}}]")
    assert any("states[1] and states[2] share columns" in notice for notice in outcome.notices)


def test_equal_blocks_are_reported_once(check):
    both = [f"env.{mode}.isaaclab.main_images=fron_camera" for mode in ("train", "eval")]
    assert only(check(*both)).where == f"{B}.main_images"
    assert len(check(*both, "env.eval.isaaclab.success.termination=time_out").issues) == 3


def test_everything_is_reported_at_once(check):
    outcome = check("algorithm.gamma=2", "env.train.isaaclab.main_images=fron_camera", "actor.global_batch_size=640")
    assert len(outcome.issues) == 3


def test_require_sound_reports_everything_once_something_is_missing(load, bundled_yaml):
    from isaaclab_rlinf.config.errors import ConfigError

    cfg, _ = load("env.train.isaaclab.main_images=fron_camera")
    require_sound(cfg, source=bundled_yaml, mode="train")
    cfg, _ = load("~env.eval.init_params", "env.train.isaaclab.main_images=fron_camera")
    with pytest.raises(ConfigError) as error:
        require_sound(cfg, source=bundled_yaml, mode="train")
    assert {issue.where for issue in error.value.issues} == {
        "env.eval.init_params",
        "env.train.isaaclab.main_images",
    }


def test_validate_is_the_issues_of_examine(load, bundled_yaml):
    cfg, _ = load("algorithm.gamma=2")
    assert [issue.where for issue in validate(cfg, source=bundled_yaml, mode="train")] == ["algorithm.gamma"]
    with pytest.raises(ValueError, match="mode is 'test'"):
        validate(cfg, source=bundled_yaml, mode="test")


FROM_TASK = "++env.train.init_params.env_overrides"


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("[touch the red ball, '', touch the blue ball]", "instructions[1]` of the task's env cfg: empty"),
        ("[touch the red ball, null]", "instructions[1]` of the task's env cfg: missing"),
        ("[touch the red ball, 3]", "3 is a whole number"),
        ("[]", "is empty"),
        ("null", "has no `instructions`"),
        ("[touch the red ball, touch the purple ball]", "instructions[1]: 'touch the purple ball'; the checkpoint"),
        ("[touch the red ball and then touch the green ball]", "does not know and, then"),
    ],
)
def test_the_texts_that_an_index_points_into(check, texts, words):
    issues = check(f"{FROM_TASK}={{instructions: {texts}}}").issues
    assert {issue.where for issue in issues} == {"env.train.isaaclab.task_description.obs"}
    assert any(words in issue.found for issue in issues)


def test_an_empty_text_does_not_hide_the_words_of_the_others(check):
    issues = check(f"{FROM_TASK}={{instructions: ['', touch the purple ball]}}").issues
    assert ["empty" in issue.found or "purple" in issue.found for issue in issues] == [True, True]


def test_many_bad_texts_are_counted(check):
    texts = ", ".join(f"touch ball {index}" for index in range(9))
    issues = check(f"{FROM_TASK}={{instructions: [{texts}]}}").issues
    assert len(issues) == 6 and "4 more such problems" in issues[-1].found


def test_a_longer_instruction_than_the_model_takes(check):
    issue = only(check("env.train.isaaclab.task_description='touch the red ball touch the green ball the'"))
    assert "has 9 words" in issue.found and issue.allowed == "1 to 8 words (max_text_length of the model)"


def test_an_instruction_in_words_that_the_checkpoint_does_not_know_is_an_error(check):
    assert not check("env.train.isaaclab.task_description='Touch the red ball!'").issues
    issue = only(check("env.train.isaaclab.task_description='touch the crimson ball'"))
    assert issue.where == "env.train.isaaclab.task_description"
    assert "does not know crimson" in issue.found
    assert issue.allowed == "words of the checkpoint: ball, blue, green, red, the, touch"


def test_evaluations_that_count_short_episodes_more_often_are_told(check):
    told = [
        any("counts short episodes more often" in notice for notice in outcome.notices)
        for outcome in (
            check("runner.val_check_interval=10", "env.eval.auto_reset=true"),
            check("runner.val_check_interval=10"),
            check("env.eval.auto_reset=true"),
        )
    ]
    assert told == [True, False, False]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gr00t_mapping", "{state: [{gr00t_key: state.arm, slice: [0, 3]}]}"),
        ("gr00t_mapping", "{language: annotation.task.text}"),
        ("embodiment_tag", "gr1"),
        ("embodiment_tag_id", "3"),
        ("obs_converter_type", "libero"),
        ("data_config_class", "my_module:Config"),
    ],
)
def test_what_only_gr00t_reads_is_refused_with_another_model(check, key, value):
    issue = only(check(f"+env.train.isaaclab.{key}={value}", f"+env.eval.isaaclab.{key}={value}"))
    assert issue.where == f"env.train.isaaclab.{key}"
    assert "read by GR00T models only, and actor.model.model_type is 'tiny_vla'" in issue.found
