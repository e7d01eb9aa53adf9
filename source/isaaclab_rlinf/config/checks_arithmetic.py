# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the arithmetic that RLinf checks late or not at all: environments, workers, stages, chunks, batches."""

from __future__ import annotations

import math
from collections.abc import Mapping

from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import did_you_mean, listing
from isaaclab_rlinf.config.placement import COMPONENTS, world_sizes


def check_arithmetic(ctx: Context) -> None:
    """Check every number that must divide another, with the numbers and the nearest valid values.

    Args:
        ctx: The validation in progress. Keys that are wrong by themselves are left to their own check.
    """
    sizes = _world_sizes(ctx)
    for mode in ctx.env_modes():
        _check_env_count(ctx, mode, sizes)
        _check_steps(ctx, mode)
    if ctx.training:
        _check_batches(ctx, sizes)
        _check_normalized_samples(ctx, sizes.get("actor"))
        _check_intervals(ctx)


def nearest_multiples(value: int, step: int) -> str:
    """Return the multiples of ``step`` around a value, e.g. ``8 or 16``."""
    below = value // step * step
    return " or ".join(str(number) for number in (below, below + step) if number > 0)


def _world_sizes(ctx: Context) -> dict[str, int | None]:
    placement = ctx.get("cluster.component_placement", None)
    if not isinstance(placement, Mapping):
        return {}
    where = "cluster.component_placement"
    sizes, errors = world_sizes(placement, ctx.whole("cluster.num_nodes") or 1, ctx.num_accelerators)
    for error in errors:
        ctx.issue(where, error, "component names -> ranks, e.g. 'actor,env,rollout: all'")
    needed = COMPONENTS if ctx.training else ("rollout", "env")
    for component in needed:
        if component not in sizes and not errors:
            ctx.issue(where, f"no placement for {component!r}", listing(needed), did_you_mean(component, sizes))
    if any(size is None for size in sizes.values()):
        ctx.notices.append(f"{where}: 'all' depends on the cluster that RAY_ADDRESS names; divisibility is not checked")
    return sizes


def _check_env_count(ctx: Context, mode: str, sizes: Mapping[str, int | None]) -> None:
    where = f"env.{mode}.total_num_envs"
    total, stages = ctx.whole(where), ctx.whole("rollout.pipeline_stage_num")
    env, rollout, actor = (sizes.get(component) for component in ("env", "rollout", "actor"))
    if total is None or stages is None or env is None or rollout is None:
        return
    group = ctx.whole(f"env.{mode}.group_size") or 1
    parts = {
        f"{env} env workers x {stages} pipeline stages x group_size {group}": env * stages * group,
        f"{rollout} rollout workers x {stages} pipeline stages": rollout * stages,
    }
    if mode == "train" and actor is not None:
        parts[f"{actor} actor ranks and {env} env workers x {stages} pipeline stages"] = math.lcm(actor, env * stages)
    step = math.lcm(*parts.values())
    # one text for each number: which of two equal ones is named makes no difference
    named = {part: text for text, part in reversed(parts.items()) if part > 1}
    failed = [text for part, text in named.items() if total % part]
    if failed:
        reasons = f" ({'; '.join(f'{part}: {text}' for part, text in named.items())})" if len(named) > 1 else ""
        found = f"{total} environments cannot be split over {', nor over '.join(failed)}"
        ctx.issue(where, found, f"a multiple of {step}{reasons}", f"use {nearest_multiples(total, step)}")


def _check_steps(ctx: Context, mode: str) -> None:
    where = f"env.{mode}.max_steps_per_rollout_epoch"
    steps, chunk = ctx.whole(where), ctx.whole(f"{ctx.model_section}.num_action_chunks")
    episode = ctx.whole(f"env.{mode}.max_episode_steps")
    if steps is None:
        return
    if chunk is not None and steps % chunk:
        found = f"{steps} steps are not a whole number of {chunk}-step chunks ({ctx.model_section}.num_action_chunks)"
        ctx.issue(where, found, f"a multiple of {chunk}", f"use {nearest_multiples(steps, chunk)}")
    if episode is None or episode <= steps:
        return
    if mode == "eval":
        found = f"{steps} steps end before an episode of max_episode_steps {episode} can; it would never be counted"
        ctx.issue(where, found, f"at least {episode}")
    elif ctx.get("env.train.auto_reset", None) is not True and ctx.get("env.train.ignore_terminations", None) is True:
        ctx.notices.append(
            f"{where}: with auto_reset false an episode of {episode} steps is cut after {steps} and never counted"
        )


def _check_batches(ctx: Context, sizes: Mapping[str, int | None]) -> None:
    """Check RLinf's ``global_batch % (micro * ranks)`` and ``rollout % (global_batch / ranks)``."""
    micro, batch = ctx.whole("actor.micro_batch_size"), ctx.whole("actor.global_batch_size")
    ranks = sizes.get("actor")
    if micro is None or batch is None or ranks is None:
        return
    unit = micro * ranks
    fits = batch % unit == 0
    if not fits:
        found = f"{batch} is not a multiple of micro_batch_size {micro} x {ranks} actor ranks = {unit}"
        ctx.issue("actor.global_batch_size", found, f"a multiple of {unit}", f"use {nearest_multiples(batch, unit)}")
    samples = rollout_samples(ctx)
    if samples is None or ctx.get("algorithm.loss_type", None) == "embodied_sac":
        return
    counted = {"env.train.total_num_envs", "env.train.max_steps_per_rollout_epoch"}
    if samples % ranks or not fits or any(issue.where in counted for issue in ctx.issues):
        return  # the number of samples is about to change
    per_rank, per_batch = samples // ranks, batch // ranks
    if per_rank % per_batch:
        valid = [size * ranks for size in _divisors(per_rank) if size % micro == 0]
        nearest = sorted(sorted(valid, key=lambda size: abs(size - batch))[:2])
        found = f"{batch} does not divide the rollout of {samples} samples ({_rollout_words(ctx)})"
        fix = f"use {' or '.join(map(str, nearest))}"
        if not nearest:
            size = max(size for size in _divisors(per_rank) if size <= micro)
            fix = f"there is none: e.g. actor.micro_batch_size: {size} with actor.global_batch_size: {samples}"
        ctx.issue("actor.global_batch_size", found, f"a divisor of {samples} that is a multiple of {unit}", fix)


def _check_normalized_samples(ctx: Context, ranks: int | None) -> None:
    """Check that there is a standard deviation to divide by: RLinf normalizes GAE's advantages on each actor rank."""
    samples = rollout_samples(ctx)
    if ctx.get("algorithm.adv_type", None) != "gae" or not samples or not ranks or samples % ranks:
        return
    by_action = ctx.get("algorithm.reward_type", None) == "action_level"
    values = samples // ranks * ((ctx.whole("actor.model.num_action_chunks") or 1) if by_action else 1)
    if values > 1:
        return
    found = (
        f"{_rollout_words(ctx)} = {samples} sample{'s' if samples > 1 else ''} per step, {values} on each of {ranks} "
        "actor ranks: RLinf divides the advantages of a rank by their standard deviation, which one value has none of; "
        "every update would be NaN and skipped"
    )
    fix = "more environments, a longer max_steps_per_rollout_epoch or a larger rollout_epoch"
    ctx.issue("env.train.total_num_envs", found, "at least 2 samples per actor rank and step", fix)


def actor_ranks(ctx: Context) -> int | None:
    """Return the number of actor ranks, None when it is unknown or the placement is wrong."""
    placement = ctx.get("cluster.component_placement", None)
    if not isinstance(placement, Mapping):
        return None
    return world_sizes(placement, ctx.whole("cluster.num_nodes") or 1, ctx.num_accelerators)[0].get("actor")


def rollout_samples(ctx: Context) -> int | None:
    """Return how many chunk samples one rollout gives all actor ranks together, None when a factor is unknown.

    That is ``(max_steps_per_rollout_epoch // num_action_chunks) * rollout_epoch * total_num_envs``.
    """
    steps, chunk = ctx.whole("env.train.max_steps_per_rollout_epoch"), ctx.whole("actor.model.num_action_chunks")
    epochs, envs = ctx.whole("env.train.rollout_epoch"), ctx.whole("env.train.total_num_envs")
    if None in (steps, chunk, epochs, envs) or steps % chunk:
        return None
    return steps // chunk * epochs * envs


def _rollout_words(ctx: Context) -> str:
    train, chunk = "env.train", ctx.whole("actor.model.num_action_chunks")
    steps, epochs = ctx.whole(f"{train}.max_steps_per_rollout_epoch"), ctx.whole(f"{train}.rollout_epoch")
    envs = ctx.whole(f"{train}.total_num_envs")
    return f"{steps} steps / {chunk} per chunk x {epochs} rollout epochs x {envs} environments"


def _divisors(number: int) -> list[int]:
    small = [size for size in range(1, math.isqrt(number) + 1) if number % size == 0]
    return sorted({*small, *(number // size for size in small)})


def _check_intervals(ctx: Context) -> None:
    save, val = ctx.whole("runner.save_interval"), ctx.whole("runner.val_check_interval")
    if save is not None and val is not None and save % val:
        found = f"{save} is not a multiple of val_check_interval {val}"
        ctx.issue("runner.save_interval", found, f"a multiple of {val}, or -1", f"use {nearest_multiples(save, val)}")
    if save is None and ctx.get("runner.save_interval", None) in (0, -1):
        ctx.notices.append("runner.save_interval: no checkpoint will be saved")
    if ctx.training and val is not None and ctx.get("env.eval.auto_reset", None) is True:
        ctx.notices.append(
            "env.eval.auto_reset: true; an evaluation within the training then counts short episodes more often, with "
            "false each start once"
        )
