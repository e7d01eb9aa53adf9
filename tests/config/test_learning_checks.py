# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Settings with which a training would run to its end and learn nothing, or something else than asked for."""

import pytest
from bases import only

ONE_SAMPLE = (
    "env.train.total_num_envs=1",
    "env.train.max_steps_per_rollout_epoch=8",
    "env.train.rollout_epoch=1",
    "actor.micro_batch_size=1",
    "actor.global_batch_size=1",
)
COSINE = ("+actor.optim.lr_scheduler=cosine", "runner.max_epochs=60")


def length(steps):
    return f"+actor.optim.total_training_steps={steps}"


# --- one sample per step


def test_one_sample_has_no_standard_deviation(check):
    issue = only(check(*ONE_SAMPLE))
    assert issue.where == "env.train.total_num_envs"
    assert "8 steps / 8 per chunk x 1 rollout epochs x 1 environments = 1 sample per step" in issue.found
    assert "at least 2 samples per actor rank" in issue.allowed


def test_it_is_counted_for_each_actor_rank(check):
    two = [*ONE_SAMPLE, "env.train.total_num_envs=2", "actor.global_batch_size=2"]
    assert check(*two).issues == ()
    issue = only(check(*two, placement={"actor": "0:0-1", "env,rollout": "0"}))
    assert "= 2 samples per step, 1 on each of 2 actor ranks" in issue.found


@pytest.mark.parametrize("more", ["env.train.rollout_epoch=2", "env.train.max_steps_per_rollout_epoch=16"])
def test_two_samples_are_enough(check, more):
    assert check(*ONE_SAMPLE, more).issues == ()


def test_rewards_of_single_actions_count_singly(check):
    assert check(*ONE_SAMPLE, "algorithm.reward_type=action_level").issues == ()


# --- schedules


def test_the_schedule_may_follow_the_run(check):
    follows = [*COSINE, length("${runner.max_epochs}")]
    assert check(*follows) == check("runner.max_epochs=60")
    assert check(*follows, "runner.max_epochs=7").issues == ()


@pytest.mark.parametrize("schedule", ["cosine", "torch_cosine"])
def test_a_schedule_shorter_than_the_run(check, schedule):
    issue = only(check(f"+actor.optim.lr_scheduler={schedule}", "runner.max_epochs=60", length(40)))
    assert issue.where == "actor.optim.total_training_steps"
    assert "40, but the run goes on to step 60" in issue.found
    assert "${runner.max_epochs}" in issue.fix
    assert check(*COSINE, length(40), "runner.max_steps=40").issues == ()


def test_a_schedule_longer_than_the_run_is_told(check):
    outcome = check(*COSINE, length(100))
    assert outcome.issues == ()
    assert "100, and the run ends after 60 steps" in outcome.notices[0]


@pytest.mark.parametrize("steps", [0, None])
def test_a_schedule_without_length(check, steps):
    issue = only(check(*COSINE, *([] if steps is None else [length(steps)])))
    assert issue.where == "actor.optim.total_training_steps"
    assert "${runner.max_epochs}" in issue.fix


@pytest.mark.parametrize(
    ("overrides", "where", "found"),
    [
        (["+actor.optim.lr_warmup_steps=60"], "lr_warmup_steps", "60 warm-up steps, but the schedule runs for 60"),
        ([*COSINE, length(60), "+actor.optim.lr_warmup_steps=60"], "lr_warmup_steps", "never arrives"),
        (["+actor.optim.lr_warmup_steps_ratio=0.1"], "lr_warmup_steps_ratio", "total_training_steps, which is not"),
        (
            [*COSINE, length(60), "+actor.optim.lr_warmup_steps=0", "+actor.optim.lr_warmup_steps_ratio=0.1"],
            "lr_warmup_steps_ratio",
            "no effect beside lr_warmup_steps 0",
        ),
        (
            ["+actor.optim.lr_scheduler=torch_cosine", length(60), "+actor.optim.lr_warmup_steps=5"],
            "lr_warmup_steps",
            "has no warm-up",
        ),
        ([*COSINE, length(60), "+actor.optim.min_lr=1e-6"], "min_lr", "here 4e-08 for lr"),
        ([*COSINE, length(60), "+actor.optim.min_lr_rate=2"], "min_lr_rate", "would rise"),
        (
            ["+actor.optim.lr_scheduler=torch_cosine", length(60), "actor.optim.lr=5e-7"],
            "lr",
            "it would rise",
        ),
    ],
)
def test_schedules_that_do_something_else(check, overrides, where, found):
    issue = only(check("runner.max_epochs=60", "actor.optim.lr=4e-5", *overrides))
    assert issue.where == f"actor.optim.{where}"
    assert found in issue.found


def test_critic_warmup_is_counted_in_updates(check):
    # 1536 samples in batches of 512, two rounds: six updates in each of ten steps
    ten = ("runner.max_epochs=10", "algorithm.update_epoch=2")
    issue = only(check(*ten, "actor.optim.critic_warmup_steps=60"))
    assert issue.where == "actor.optim.critic_warmup_steps"
    assert "60 updates, but the run makes 60 (10 steps x 6 updates)" in issue.found
    assert check(*ten, "actor.optim.critic_warmup_steps=59").issues == ()


def test_the_schedule_begins_when_the_critics_warmup_ends(check):
    late = ("runner.max_epochs=10", "algorithm.update_epoch=2", "actor.optim.critic_warmup_steps=12")
    cosine = "+actor.optim.lr_scheduler=cosine"
    assert check(*late, cosine, length(9)).issues == ()  # the twelfth update ends the second step
    assert "9 of them with this schedule" in only(check(*late, cosine, length(8))).found


# --- groups and masks


def test_groups_do_not_share_their_start(check):
    issue = only(check("algorithm.adv_type=grpo", "algorithm.loss_type=actor", "algorithm.group_size=4"))
    assert issue.where == "algorithm.adv_type"
    assert "nothing on the environments' side reads group_size" in issue.found
    bounds = ("algorithm.filter_rewards=true", "+algorithm.rewards_lower_bound=0", "+algorithm.rewards_upper_bound=1")
    assert only(check(*bounds, "algorithm.group_size=4")).where == "algorithm.group_size"
    assert "no effect with 'gae'" in check("algorithm.group_size=4").notices[0]


@pytest.mark.parametrize(("size", "ranks", "divides"), [(4, 1, True), (5, 1, False), (128, 1, True), (128, 2, False)])
def test_raw_returns_are_reshaped_by_the_group_size(check, size, ranks, divides):
    raw = ("algorithm.adv_type=raw", "algorithm.loss_type=actor", "~algorithm.normalize_advantages")
    raw += ("env.train.auto_reset=false", f"algorithm.group_size={size}", "env.train.total_num_envs=32")
    raw += ("actor.micro_batch_size=8", "actor.global_batch_size=64")
    outcome = check(*raw, placement={"actor": f"0:0-{ranks - 1}", "env,rollout": "0"})
    if divides:
        assert outcome.issues == () and any("no effect with 'raw'" in notice for notice in outcome.notices)
        return
    issue = only(outcome)
    assert issue.where == "algorithm.group_size"
    assert f"{size} does not divide the {128 // ranks} columns" in issue.found


def test_raw_returns_need_the_mask_of_valid_steps(check):
    raw = ("algorithm.adv_type=raw", "algorithm.loss_type=actor", "~algorithm.normalize_advantages")
    assert only(check(*raw)).where == "env.train.auto_reset"
    assert check(*raw, "env.train.auto_reset=false").issues == ()
    assert only(check(*raw, "env.train.auto_reset=false", "+algorithm.normalize_advantages=true")).where == (
        "algorithm.normalize_advantages"
    )


# --- keys without effect


@pytest.mark.parametrize(
    ("override", "asks_for_nothing"),
    [
        ("runner.use_training_pipeline=true", "runner.use_training_pipeline=false"),
        ("runner.enable_decoupled_mode=true", "runner.enable_decoupled_mode=false"),
        ("runner.enable_dynamic_batch_size=true", "runner.enable_dynamic_batch_size=false"),
        ("runner.expert_ckpt_path=expert.pt", "runner.expert_ckpt_path=null"),
        ("rollout.expert_model={model_path: there}", "rollout.expert_model=null"),
        ("reward.use_reward_model=true", "reward.use_reward_model=false"),
        ("reward.use_realworld_reward=true", "reward.use_realworld_reward=false"),
        ("critic.use_critic_model=true", "critic.use_critic_model=false"),
        ("actor.enable_sft_co_train=true", "actor.enable_sft_co_train=false"),
        ("actor.lr_sched_sync_with_optim=true", "actor.lr_sched_sync_with_optim=false"),
        ("actor.critic_optim={lr: 1e-3}", "actor.critic_optim=null"),
        ("actor.fsdp_config.fsdp_size=2", "actor.fsdp_config.fsdp_size=-1"),
        ("actor.fsdp_config.use_liger_kernel=true", "actor.fsdp_config.use_liger_kernel=false"),
        ("actor.fsdp_config.amp_autocast.enabled=true", "actor.fsdp_config.amp_autocast.enabled=false"),
        ("actor.fsdp_config.grad_scaler.enabled=true", "actor.fsdp_config.grad_scaler.enabled=false"),
        ("algorithm.kl_beta=0.1", "algorithm.kl_beta=0"),
        ("algorithm.loss_agg_func=seq-mean-token-sum", "algorithm.loss_agg_func=token-mean"),
        ("algorithm.shuffle_rollout=false", "algorithm.shuffle_rollout=true"),
        ("algorithm.recompute_logprobs=true", "algorithm.recompute_logprobs=false"),
        ("algorithm.reward_coef=2.0", "algorithm.reward_coef=1.0"),
        ("algorithm.bootstrap_type=allways", "algorithm.bootstrap_type=always"),
        ("env.train.enable_offload=true", "env.train.enable_offload=false"),
        ("env.train.data_collection.enabled=true", "env.train.data_collection.enabled=false"),
        ("env.train.override_cfg={seed: 3}", "env.train.override_cfg={}"),
        ("env.train.wm_env_type=wan", "env.train.wm_env_type=null"),
        ("env.train.use_step_penalty=true", "env.train.use_step_penalty=false"),
        ("env.train.specific_reset_id=0", "env.train.specific_reset_id=null"),
        ("env.train.video_cfg.extra_info_on_video=[a]", "env.train.video_cfg.extra_info_on_video=[]"),
        ("rollout.enable_torch_compile=true", "rollout.enable_torch_compile=false"),
        ("rollout.enable_cuda_graph=true", "rollout.enable_cuda_graph=false"),
    ],
)
def test_a_key_that_cannot_do_what_it_asks(check, override, asks_for_nothing):
    assert only(check(f"++{override}")).where == override.partition("=")[0]
    outcome = check(f"++{asks_for_nothing}")
    assert (outcome.issues, outcome.notices) == ((), ())


def test_sac_needs_an_accelerator_and_fsdp1(check):
    sac = ("algorithm.loss_type=embodied_sac", "algorithm.adv_type=embodied_sac")
    where = [issue.where for issue in check(*sac).issues]
    assert where == ["algorithm.loss_type", "actor.fsdp_config.strategy"]
    assert check(*sac, "actor.fsdp_config.strategy=fsdp", accelerators=1).issues == ()


def test_evaluation_refuses_what_its_environments_cannot(check):
    assert only(check("++env.eval.enable_offload=true", mode="play")).where == "env.eval.enable_offload"
    assert check("++env.train.enable_offload=true", mode="play").issues == ()


def test_what_the_shipped_yaml_carries_along_is_told(check, trocar_yaml):
    outcome = check(source=trocar_yaml)
    assert outcome.issues == ()
    text = "\n".join(outcome.notices)
    for key in ("env.train.use_fixed_reset_state_ids", "env.train.use_rel_reward", "algorithm.clip_ratio_c"):
        assert key in text


# --- sampling parameters


def test_a_sampling_parameter_that_no_model_is_given(check):
    issue = only(check("+rollout.sampling_params={do_sample: true, min_p: 0.1}"))
    assert issue.where == "rollout.sampling_params.min_p"
    assert issue.allowed.startswith("do_sample, max_new_tokens, temperature")


def test_which_sampling_parameters_have_an_effect_is_told(check, trocar_yaml):
    notices = check("+rollout.sampling_params={do_sample: true}").notices
    assert any(notice.startswith("rollout.sampling_params: without effect; tiny_vla") for notice in notices)
    assert any("sampling_params: without effect; gr00t" in notice for notice in check(source=trocar_yaml).notices)
    openvla = ("actor.model.model_type=openvla", "+rollout.sampling_params={top_k: 5, add_BOS: false}")
    (told,) = [notice for notice in check(*openvla).notices if "sampling" in notice]
    assert told.startswith("rollout.sampling_params.add_BOS: without effect, RLinf 0.3.0 reads do_sample")
    assert not any("sampling" in notice for notice in check().notices)
