# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check settings of the learning algorithm that RLinf accepts and that cannot work, or silently do nothing."""

from __future__ import annotations

from isaaclab_rlinf.config.checks_placement import placed_sizes
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import show
from isaaclab_rlinf.config.rlinf_keys import SECTIONS

_NOT_HERE = {
    "grpo": "compares the members of a group, which must start from the same state; nothing on the environments' side "
    "reads group_size yet, so they start from different ones, and a member would be praised for an easier start",
    "grpo_dynamic": "is for conversations of agents: RLinf 0.3.0 gives it no turns to compare in an embodied run",
    "reinpp": "is written for one reward per text: RLinf 0.3.0's embodied run hands it rewards of another shape",
}
"""Advantages that RLinf knows by name and that cannot be right here, with the reason."""
_WITH_CRITIC = ("actor_critic", "decoupled_actor_critic")
_SAC = "embodied_sac"


def check_algorithm(ctx: Context) -> None:
    """Check combinations of algorithm, optimiser and sharding settings; nothing when only evaluating.

    Args:
        ctx: The validation in progress.
    """
    if not ctx.training:
        return
    checks = (_check_pairing, _check_groups, _check_masks, _check_critic_loss, _check_no_effect, _check_optimizer)
    for check in (*checks, _check_fsdp, _check_syncer):
        check(ctx)


def _check_pairing(ctx: Context) -> None:
    loss, advantage = ctx.get("algorithm.loss_type", None), ctx.get("algorithm.adv_type", None)
    known = (
        loss in SECTIONS["algorithm"]["loss_type"].choices and advantage in SECTIONS["algorithm"]["adv_type"].choices
    )
    if not known:
        return
    if (loss == _SAC) != (advantage == _SAC):
        ctx.issue("algorithm.adv_type", f"{advantage!r} with loss_type {loss!r}", f"{_SAC!r} for both, or for neither")
    elif loss in _WITH_CRITIC and advantage != "gae":
        ctx.issue("algorithm.adv_type", f"{advantage!r} with loss_type {loss!r}", "'gae': the critic needs returns")
    head = ctx.get("actor.model.add_value_head", None)
    if (loss in _WITH_CRITIC or advantage == "gae") and head is not True:
        found = f"{'missing' if head is None else show(head)}, but loss_type {loss!r} with {advantage!r} needs values"
        ctx.issue("actor.model.add_value_head", found, "true")
    if ctx.get("algorithm.filter_rewards", False) is True:
        low, high = ctx.number("algorithm.rewards_lower_bound"), ctx.number("algorithm.rewards_upper_bound")
        if low is None or high is None or low >= high:
            found = f"filter_rewards is true with bounds {show(low)} and {show(high)}"
            ctx.issue("algorithm.rewards_lower_bound", found, "two numbers, lower < upper")


def _check_groups(ctx: Context) -> None:
    """Refuse what compares members of a group, and tell of a group size that changes nothing."""
    advantage, size = ctx.get("algorithm.adv_type", None), ctx.whole("algorithm.group_size") or 1
    if isinstance(advantage, str) and advantage in _NOT_HERE:
        ctx.issue("algorithm.adv_type", f"{advantage!r} {_NOT_HERE[advantage]}", "'gae' or 'raw'", "adv_type: gae")
    elif size > 1 and ctx.get("algorithm.filter_rewards", False) is True:
        found = f"{size} with filter_rewards: {_NOT_HERE['grpo']}"
        ctx.issue("algorithm.group_size", found, "1, which filters single episodes")
    elif size > 1 and (uneven := _uneven_groups(ctx, size)):
        ctx.issue("algorithm.group_size", uneven, "1: a larger group changes nothing here")
    elif size > 1:
        ctx.notices.append(f"algorithm.group_size: {size} has no effect with {advantage!r}; environments are no groups")


def _uneven_groups(ctx: Context, size: int) -> str:
    """Return why RLinf could not sort a rank's episodes into groups, as it does with 'raw'; empty if it can."""
    envs, epochs = ctx.whole("env.train.total_num_envs"), ctx.whole("env.train.rollout_epoch")
    ranks = placed_sizes(ctx).get("actor")
    if ctx.get("algorithm.adv_type", None) != "raw" or None in (envs, epochs, ranks) or envs * epochs % ranks:
        return ""
    each = envs * epochs // ranks
    words = f"{envs} environments x {epochs} rollout epochs / {ranks} actor ranks"
    return f"{size} does not divide the {each} columns of a rank ({words}), which 'raw' reshapes by it" * (
        each % size > 0
    )


def _check_masks(ctx: Context) -> None:
    """Check that there is the mask of valid steps that every advantage but GAE multiplies with."""
    auto_reset, ignore = (ctx.get(f"env.train.{key}", None) for key in ("auto_reset", "ignore_terminations"))
    if ctx.get("algorithm.adv_type", None) != "raw" or ctx.get("algorithm.filter_rewards", False) is True:
        return
    for key, value in (("auto_reset", auto_reset), ("ignore_terminations", ignore)):
        if value is True:
            found = "true, but 'raw' gives an episode's return to its steps, and RLinf marks those only when false"
            ctx.issue(f"env.train.{key}", found, "false")


def _check_critic_loss(ctx: Context) -> None:
    """Check what the critic's loss computes with, where RLinf's default of null ends the first update."""
    if ctx.get("algorithm.loss_type", None) not in _WITH_CRITIC:
        return
    for key in ("value_clip", "huber_delta"):
        value = ctx.get(f"algorithm.{key}", None)
        if value is None:
            found = f"{'null' if key in ctx.get('algorithm', {}) else 'missing'}, but the critic's loss needs it"
            ctx.issue(f"algorithm.{key}", found, "a number > 0", "a large number, such as 1e6, switches it off")


def _check_no_effect(ctx: Context) -> None:
    if ctx.get("algorithm.normalize_advantages", True) is False and ctx.get("algorithm.adv_type", None) == "gae":
        found = "false has no effect: RLinf 0.3.0 normalises advantages on this path regardless"
        ctx.issue("algorithm.normalize_advantages", found, "true")
    if ctx.get("algorithm.normalize_advantages", None) is True and ctx.get("algorithm.adv_type", None) == "raw":
        found = "true has no effect with 'raw': RLinf 0.3.0 does not pass it on"
        ctx.issue("algorithm.normalize_advantages", found, "no such key")
    bonus, model = ctx.number("algorithm.entropy_bonus"), ctx.get("actor.model.model_type", None)
    if bonus and isinstance(model, str) and model.startswith("gr00t"):
        ctx.issue("algorithm.entropy_bonus", f"{bonus:g}, but {model} has no entropy", "0")
    warmup = ctx.whole("actor.optim.critic_warmup_steps")
    if warmup and ctx.get("actor.model.add_value_head", None) is not True:
        ctx.issue("actor.optim.critic_warmup_steps", f"{warmup} without a value head", "0, or add_value_head: true")
    steps, epochs = ctx.get("runner.max_steps", None), ctx.whole("runner.max_epochs")
    if steps == 0:
        ctx.issue("runner.max_steps", "0: training would end before it starts", "-1 for no limit, or at least 1")
    elif ctx.whole("runner.max_steps") and epochs and steps < epochs:
        ctx.notices.append(f"runner.max_steps: {steps} ends training before max_epochs {epochs}")


def _check_optimizer(ctx: Context) -> None:
    has_head, optim = ctx.get("actor.model.add_value_head", None) is True, ctx.get("actor.optim", None)
    if has_head and isinstance(optim, dict) and optim.get("value_lr") is None:
        ctx.issue("actor.optim.value_lr", "missing, but the model has a value head", "a number > 0")
    for beta in ("adam_beta1", "adam_beta2"):
        if ctx.number(f"actor.optim.{beta}") == 1:
            ctx.issue(f"actor.optim.{beta}", "1: the average would never move", "a number >= 0 and < 1")


def _check_fsdp(ctx: Context) -> None:
    section = "actor.fsdp_config"
    precisions = [ctx.get(f"{section}.mixed_precision.{name}_dtype", None) for name in ("param", "reduce", "buffer")]
    mixed = any(precision not in (None, "fp32") for precision in precisions)
    if ctx.get(f"{section}.amp_autocast.enabled", False) is True and mixed:
        found = "true together with mixed_precision other than fp32"
        ctx.issue(
            f"{section}.amp_autocast.enabled", found, "one of the two", "set false, or all mixed_precision to fp32"
        )
    if ctx.num_accelerators == 0 and ctx.get(f"{section}.strategy", "fsdp") == "fsdp":
        ctx.notices.append(f"{section}.strategy: 'fsdp' is made for accelerators; on this machine use 'fsdp2'")


def _check_syncer(ctx: Context) -> None:
    kind = ctx.get("weight_syncer.type", None)
    if kind in ("bucket", "patch") and not isinstance(ctx.get(f"weight_syncer.{kind}", None), dict):
        ctx.issue(f"weight_syncer.{kind}", f"missing, but type is {kind!r}", "a mapping")
    if kind == "patch" and ctx.num_accelerators == 0:
        ctx.issue("weight_syncer.type", "'patch' pins memory, which needs an accelerator", "'bucket' on this machine")
