# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Refuse keys that are set to something which RLinf 0.3.0 never reads on this path, or which cannot work on it.

A value that asks for nothing (false, null, RLinf's own default) is left alone, so that YAMLs may say so explicitly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import show
from isaaclab_rlinf.config.keys_model import SAMPLING, SAMPLING_READ

_NO_REWARD_WORKER = "no reward model is started here: the environments would wait for its answers for ever"
_ISAACLAB_ENV = "read for other simulators only"
_DAGGER = "an expert only acts in DAgger training, which this package does not start"
_LANGUAGE = "read when language models are trained only"


def _is_true(value: Any) -> bool:
    return value is True


def _is_false(value: Any) -> bool:
    return value is False


def _is_set(value: Any) -> bool:
    return value not in (None, False, "", 0) and value != {} and value != []


def _other_than(*fine: Any) -> Callable[[Any], bool]:
    return lambda value: value is not None and value not in fine


@dataclass(frozen=True)
class Refusal:
    """A key, the values that ask for what will not happen, and why."""

    where: str
    asks: Callable[[Any], bool]
    reason: str
    allowed: str = "false"
    fix: str = ""


WHEN_TRAINING = (
    Refusal("runner.use_training_pipeline", _is_true, "needs RLinf's pipeline actor, which is not started here"),
    Refusal("runner.enable_decoupled_mode", _is_true, "works with RLinf's asynchronous runner only"),
    Refusal("runner.enable_dynamic_batch_size", _is_true, _LANGUAGE),
    Refusal("runner.expert_ckpt_path", _is_set, _DAGGER, "null"),
    Refusal("rollout.expert_model", _is_set, _DAGGER, "null"),
    Refusal("algorithm.dagger", _is_set, _DAGGER, "null"),
    Refusal("reward.use_reward_model", _is_true, _NO_REWARD_WORKER, fix="give the task a reward term"),
    Refusal("reward.use_realworld_reward", _is_true, _NO_REWARD_WORKER),
    Refusal("reward.standalone_realworld", _is_true, _NO_REWARD_WORKER),
    Refusal(
        "critic.use_critic_model",
        _is_true,
        "there is no critic of its own for embodied policies: RLinf 0.3.0 never reads it",
        fix="the critic is the policy's value head, actor.model.add_value_head",
    ),
    Refusal("actor.lr_sched_sync_with_optim", _is_true, _LANGUAGE, fix="the schedule steps once per training step"),
    Refusal("actor.sync_precision", _other_than(), _LANGUAGE, "null", "rollout.model.precision is the rollout's"),
    Refusal("actor.fsdp_config.fsdp_size", _other_than(-1), "RLinf 0.3.0 never reads it", "-1"),
    Refusal("actor.fsdp_config.use_liger_kernel", _is_true, _LANGUAGE),
    Refusal(
        "actor.fsdp_config.use_reentrant",
        _other_than(),
        "RLinf 0.3.0 never reads it",
        "no such key",
        "gradient_checkpointing_use_reentrant",
    ),
    Refusal(
        "actor.fsdp_config.wrap_policy.no_split_modules",
        _is_set,
        "RLinf 0.3.0 never reads it",
        "null",
        "transformer_layer_cls_to_wrap, module_classes_to_wrap and no_split_names are read",
    ),
    Refusal("actor.fsdp_config.wrap_policy.min_num_params", _is_set, "RLinf 0.3.0 never reads it", "null or 0"),
)
"""Whatever the algorithm is."""

WITH_POLICY_GRADIENT = (
    Refusal("algorithm.kl_beta", _is_set, "a penalty of language models: RLinf 0.3.0 computes none here", "0"),
    Refusal("algorithm.loss_agg_func", _other_than("token-mean"), _LANGUAGE, "token-mean"),
    Refusal("algorithm.recompute_logprobs", _is_true, "works with RLinf's asynchronous runner only"),
    Refusal("algorithm.shuffle_rollout", _is_false, "RLinf 0.3.0 shuffles every rollout here regardless", "true"),
    Refusal("actor.critic_optim", _is_set, "read for embodied_sac only", "null", "actor.optim.value_lr"),
)
"""With the losses that :class:`~isaaclab_rlinf.workers.actor.ActorWorker` trains with, which are all but SAC's."""

OF_ENVIRONMENTS = (
    Refusal(
        "enable_offload",
        _is_true,
        "a simulator cannot leave the device and come back",
        fix="actor.enable_offload and rollout.enable_offload free device memory",
    ),
    Refusal("override_cfg", _is_set, _ISAACLAB_ENV, "null", "init_params.env_overrides changes the task's config"),
    Refusal("override_cfgs", _is_set, _ISAACLAB_ENV, "null", "init_params.env_overrides changes the task's config"),
    Refusal("wm_env_type", _is_set, _ISAACLAB_ENV, "null"),
    Refusal("reset_gripper_open", _is_true, _ISAACLAB_ENV),
    Refusal("use_step_penalty", _is_true, _ISAACLAB_ENV, fix="a reward term of the task"),
    Refusal(
        "video_cfg.extra_info_on_video",
        _is_set,
        "the margin of a video shows instruction, step, return and outcome",
        "null",
        "env.<mode>.video_cfg.info_on_video: false leaves the margin out",
    ),
    Refusal("specific_reset_id", lambda value: value is not None, _ISAACLAB_ENV, "null"),
)
"""Keys of ``env.<mode>``."""

_SAC_ONLY = (
    "entropy_tuning",
    "replay_buffer",
    "demo_buffer",
    "tau",
    "critic_actor_ratio",
    "target_update_freq",
    "backup_entropy",
    "agg_q",
    "q_head_type",
)
_N1D6_ON = ("clip_ratio_c", "clip_log_ratio_min", "clip_log_ratio_max")
_UNCOMPILED = ("tiny_vla", "gr00t", "gr00t_n1d6", "gr00t_n1d7", "openvla", "openvla_oft")
"""Models whose rollout can be neither compiled nor captured; an extension's may bring both."""
NO_SAMPLING = (
    "tiny_vla",
    "openpi",
    "mlp_policy",
    "gr00t",
    "gr00t_n1d6",
    "gr00t_n1d7",
    "abot_m0",
    "dreamzero",
    "cnn_policy",
    "cfg_model",
)
"""Ours, and those to which ``rlinf.workers.rollout.hf.huggingface_worker`` hands the mode in the parameters' place."""


def check_effects(ctx: Context) -> None:
    """Refuse what would have no effect or could not work; tell of what upstream YAMLs carry along.

    Args:
        ctx: The validation in progress.
    """
    for mode in ctx.env_modes():
        _check_environments(ctx, mode)
    _check_acceleration(ctx)
    _tell_sampling(ctx)
    if not ctx.training:
        return
    is_sac = ctx.get("algorithm.loss_type", None) == "embodied_sac"
    for refusal in WHEN_TRAINING if is_sac else (*WHEN_TRAINING, *WITH_POLICY_GRADIENT):
        _refuse(ctx, refusal.where, refusal)
    _check_sac(ctx) if is_sac else _tell_unread(ctx)
    _check_co_training(ctx)
    _check_reward_coef(ctx)


def _refuse(ctx: Context, where: str, refusal: Refusal) -> None:
    value = ctx.get(where, None)
    if refusal.asks(value):
        ctx.issue(
            where,
            f"{show(value)} would have no effect or could not work: {refusal.reason}",
            refusal.allowed,
            refusal.fix,
        )


def _check_environments(ctx: Context, mode: str) -> None:
    for refusal in OF_ENVIRONMENTS:
        _refuse(ctx, f"env.{mode}.{refusal.where}", refusal)
    where = f"env.{mode}.data_collection"
    collection = ctx.get(where, None)
    if isinstance(collection, dict) and collection.get("enabled", False) is not False:
        found = "RLinf's collector wants every step's observation, but only those at chunk boundaries exist here"
        ctx.issue(f"{where}.enabled", f"{show(collection['enabled'])}: {found}", "false", "isaaclab-rlinf collect")
    for key, why in (
        ("use_fixed_reset_state_ids", "an Isaac Lab task draws its start states from env.<mode>.seed"),
        ("use_rel_reward", "the reward is the sum of the task's own reward terms"),
    ):
        if ctx.get(f"env.{mode}.{key}", None) is True:
            ctx.notices.append(f"env.{mode}.{key}: true has no effect, {why}")


def _check_acceleration(ctx: Context) -> None:
    """Check what speeds up a rollout, or needs an accelerator."""
    model = ctx.get(f"{ctx.model_section}.model_type", None)
    for key, name in (("enable_torch_compile", "be compiled"), ("enable_cuda_graph", "be captured as a CUDA graph")):
        if ctx.get(f"rollout.{key}", None) is not True:
            continue
        if key == "enable_cuda_graph" and ctx.num_accelerators == 0:
            ctx.issue(f"rollout.{key}", "true, on a machine without an accelerator", "false")
        elif model in _UNCOMPILED or (model == "openpi" and key == "enable_cuda_graph"):
            ctx.issue(f"rollout.{key}", f"true, but model_type {show(model)} cannot {name}", "false")
    if not ctx.training or ctx.num_accelerators != 0:
        return
    for key in ("amp_autocast", "grad_scaler"):
        if ctx.get(f"actor.fsdp_config.{key}.enabled", None) is True:
            found = "true has no effect on a machine without an accelerator: RLinf 0.3.0 asks for CUDA's"
            ctx.issue(f"actor.fsdp_config.{key}.enabled", found, "false")


def _tell_sampling(ctx: Context) -> None:
    """Tell which sampling parameters have an effect: upstream's YAMLs carry a language model's along."""
    given = ctx.get("rollout.sampling_params", None)
    if not isinstance(given, dict) or not given:
        return
    model = ctx.get(f"{ctx.model_section}.model_type", None)
    if model in NO_SAMPLING:
        ctx.notices.append(
            f"rollout.sampling_params: without effect; {model} is told only whether it acts for training or evaluation"
        )
        return
    unread = [key for key in given if key in SAMPLING and key not in SAMPLING_READ]
    if unread:
        ctx.notices.append(
            f"rollout.sampling_params.{', '.join(unread)}: without effect, RLinf 0.3.0 reads {', '.join(SAMPLING_READ)}"
        )


def _check_sac(ctx: Context) -> None:
    if ctx.num_accelerators == 0:
        found = "'embodied_sac' on a machine without an accelerator: RLinf 0.3.0's SAC worker calls CUDA by name"
        ctx.issue("algorithm.loss_type", found, "'actor_critic' on this machine")
    if ctx.get("actor.fsdp_config.strategy", "fsdp") == "fsdp2":
        found = "'fsdp2' with 'embodied_sac', whose worker clips gradients through a method of FSDP1 models"
        ctx.issue("actor.fsdp_config.strategy", found, "fsdp")


def _check_co_training(ctx: Context) -> None:
    if ctx.get("actor.enable_sft_co_train", None) is not True:
        return
    where, model = "actor.enable_sft_co_train", ctx.get("actor.model.model_type", None)
    if model != "openpi":
        ctx.issue(where, f"true, but RLinf 0.3.0 co-trains 'openpi' only, and model_type is {show(model)}", "false")
        return
    missing = [key for key in ("sft_data_path", "config_name") if not ctx.get(f"actor.{key}", None)]
    for key in missing:
        ctx.issue(f"actor.{key}", "missing, but actor.enable_sft_co_train is true", "a text")


def _check_reward_coef(ctx: Context) -> None:
    """Check the scale of rewards that older YAMLs keep in ``algorithm``, where nothing reads it."""
    unread, read = ctx.number("algorithm.reward_coef"), ctx.get("env.train.reward_coef", 1.0)
    if unread is not None and unread not in (1, read):
        found = f"{unread:g} is not read; env.train.reward_coef is, and it is {show(read)}"
        ctx.issue("algorithm.reward_coef", found, show(read), f"env.train.reward_coef: {unread:g}")


def _tell_unread(ctx: Context) -> None:
    """Tell of keys that are harmless leftovers of another algorithm or model."""
    algorithm = ctx.get("algorithm", {})
    algorithm = algorithm if isinstance(algorithm, dict) else {}
    unread = [key for key in _SAC_ONLY if algorithm.get(key) is not None]
    if unread:
        ctx.notices.append(f"algorithm.{', '.join(unread)}: read for embodied_sac only, without effect here")
    model = ctx.get("actor.model.model_type", None)
    unread = [key for key in _N1D6_ON if algorithm.get(key) is not None]
    if unread and model not in ("gr00t_n1d6", "gr00t_n1d7"):
        ctx.notices.append(
            f"algorithm.{', '.join(unread)}: without effect, RLinf 0.3.0 passes it for gr00t_n1d6 and gr00t_n1d7 only"
        )
