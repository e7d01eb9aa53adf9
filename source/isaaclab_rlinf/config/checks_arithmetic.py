# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the arithmetic that RLinf checks late or not at all: environments, workers, stages, chunks, batches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

from isaaclab_rlinf.config.batches import advise, multiples_around
from isaaclab_rlinf.config.checks_placement import placed_sizes
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.fitting import (
    BATCH,
    batches,
    env_parts,
    env_step,
    fewer_gpus,
    lone_value,
    rollout_samples,
    steps_step,
)


def check_arithmetic(ctx: Context) -> None:
    """Check every number that must divide another, with the numbers and the nearest valid values.

    Args:
        ctx: The validation in progress. Keys that are wrong by themselves are left to their own check.
    """
    sizes = placed_sizes(ctx)
    envs, steps = {}, {}
    for mode in ctx.env_modes():
        envs[mode] = _check_env_count(ctx, mode, sizes)
        steps[mode] = _check_steps(ctx, mode, sizes)
    if ctx.training:
        _check_batches(ctx, sizes.get("actor"), envs["train"], steps["train"])
        _check_normalized_samples(ctx, sizes.get("actor"))
        _check_intervals(ctx)


def nearest_multiples(value: int, step: int) -> str:
    """Return the multiples of ``step`` around a value, e.g. ``8 or 16``."""
    return _either(multiples_around(value, step))


def _either(numbers: tuple[int, ...]) -> str:
    return " or ".join(map(str, numbers))


def _or_fewer_gpus(ctx: Context) -> str:
    override = fewer_gpus(ctx)
    return f"; or leave the numbers and take fewer GPUs: {override}" if override else ""


def _check_env_count(ctx: Context, mode: str, sizes: Mapping[str, int | None]) -> tuple[int, ...]:
    """Check the number of environments; returns it, or in its place those that are advised."""
    where = f"env.{mode}.total_num_envs"
    total, parts = ctx.whole(where), env_parts(ctx, mode, sizes)
    if total is None or not parts:
        return () if total is None else (total,)
    step = math.lcm(*parts.values())
    # one text for each number: which of two equal ones is named makes no difference
    named = {part: text for text, part in reversed(parts.items()) if part > 1}
    failed = [text for part, text in named.items() if total % part]
    if not failed:
        return (total,)
    reasons = f" ({'; '.join(f'{part}: {text}' for part, text in named.items())})" if len(named) > 1 else ""
    found = f"{total} environments cannot be split over {', nor over '.join(failed)}"
    advised = multiples_around(total, env_step(ctx, sizes) if mode == "train" and ctx.training else step)
    fix = f"use {_either(advised)}{_or_fewer_gpus(ctx)}"
    ctx.issue(where, found, f"a multiple of {step}{reasons}", fix)
    return advised


def _check_steps(ctx: Context, mode: str, sizes: Mapping[str, int | None]) -> tuple[int, ...]:
    """Check the length of a rollout; returns it, or in its place the ones that are advised."""
    where = f"env.{mode}.max_steps_per_rollout_epoch"
    steps, chunk = ctx.whole(where), ctx.whole(f"{ctx.model_section}.num_action_chunks")
    episode = ctx.whole(f"env.{mode}.max_episode_steps")
    if steps is None:
        return ()
    advised = (steps,)
    if chunk is not None and steps % chunk:
        found = f"{steps} steps are not a whole number of {chunk}-step chunks ({ctx.model_section}.num_action_chunks)"
        # an evaluation that is shorter than an episode would be refused in turn
        least = episode or 0 if mode == "eval" else 0
        step = steps_step(ctx, chunk, sizes) if mode == "train" and ctx.training else chunk
        advised = multiples_around(max(steps, least), step)
        advised = tuple(number for number in advised if number >= least)
        ctx.issue(where, found, f"a multiple of {chunk}", f"use {_either(advised)}")
    if episode is None or episode <= steps:
        return advised
    if mode == "eval":
        found = f"{steps} steps end before an episode of max_episode_steps {episode} can; it would never be counted"
        least = -(-episode // (chunk or 1)) * (chunk or 1)
        ctx.issue(where, found, f"at least {episode}", "" if steps % (chunk or 1) else f"use {least}")
    elif ctx.get("env.train.auto_reset", None) is not True and ctx.get("env.train.ignore_terminations", None) is True:
        ctx.notices.append(
            f"{where}: with auto_reset false an episode of {episode} steps is cut after {steps} and never counted"
        )
    return advised


def _check_batches(ctx: Context, ranks: int | None, envs: tuple[int, ...], steps: tuple[int, ...]) -> None:
    """Check RLinf's ``global_batch % (micro * ranks)`` and ``rollout % (global_batch / ranks)``.

    Args:
        ctx: The validation in progress.
        ranks: Actor ranks.
        envs: The number of training environments; several that are advised in place of a wrong one.
        steps: The same for the length of a rollout.
    """
    rollouts = [rollout_samples(ctx, *sizes) for sizes in product(envs, steps)]
    samples = math.gcd(*rollouts) if rollouts and None not in rollouts else None
    cut = batches(ctx, ranks, samples)
    if cut is None:
        return
    wide = f" that divides the rollout of {cut.samples} samples" if cut.samples and len(rollouts) == 1 else ""
    if not cut.is_whole:
        found = f"{cut.batch} is not a multiple of micro_batch_size {cut.micro} x {ranks} actor ranks = {cut.unit}"
        ctx.issue(BATCH, found, f"a multiple of {cut.unit}{wide}", f"{advise(cut)}{_or_fewer_gpus(ctx)}")
    elif not cut.divides and len(rollouts) == 1:  # else the number of samples is about to change
        found = f"{cut.batch} does not divide the rollout of {cut.samples} samples ({_rollout_words(ctx)})"
        allowed = f"a divisor of {cut.samples} that is a multiple of {cut.unit}"
        ctx.issue(BATCH, found, allowed, f"{advise(cut)}{_or_fewer_gpus(ctx)}")


def _check_normalized_samples(ctx: Context, ranks: int | None) -> None:
    """Check that there is a standard deviation to divide by: RLinf normalizes GAE's advantages on each actor rank."""
    samples = rollout_samples(ctx)
    if not samples or not ranks or not lone_value(ctx, ranks, samples):
        return
    found = (
        f"{_rollout_words(ctx)} = {samples} sample{'s' if samples > 1 else ''} per step, {samples // ranks} on each "
        f"of {ranks} actor ranks: RLinf divides the advantages of a rank by their standard deviation, which "
        "one value has none of; every update would be NaN and skipped"
    )
    fix = "more environments, a longer max_steps_per_rollout_epoch or a larger rollout_epoch"
    ctx.issue("env.train.total_num_envs", found, "at least 2 samples per actor rank and step", fix)


def _rollout_words(ctx: Context) -> str:
    train, chunk = "env.train", ctx.whole("actor.model.num_action_chunks")
    steps, epochs = ctx.whole(f"{train}.max_steps_per_rollout_epoch"), ctx.whole(f"{train}.rollout_epoch")
    envs = ctx.whole(f"{train}.total_num_envs")
    return f"{steps} steps / {chunk} per chunk x {epochs} rollout epochs x {envs} environments"


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
