# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check every length that is counted in updates or training steps against the length of the run.

The actor's scheduler steps once per training step and knows nothing of the run's end: a cosine that is shorter rises
again, a warm-up that is longer never arrives.
"""

from __future__ import annotations

from isaaclab_rlinf.config.checks_placement import placed_sizes
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.fitting import rollout_samples

_COSINES = ("cosine", "torch_cosine")
_WITH_WARMUP = ("constant", "cosine")
_OPTIM = "actor.optim"
_LENGTH = f"{_OPTIM}.total_training_steps"
_FIX_LENGTH = "total_training_steps: ${runner.max_epochs}"
_TORCH_COSINE_END = 1e-6
"""``eta_min`` that rlinf 0.3.0 gives torch's cosine."""
_ADAMW_DEFAULT_LR = 1e-3
"""What transformers divides ``min_lr`` by: the default of AdamW's constructor, since every group has its own rate."""


def check_schedule(ctx: Context) -> None:
    """Check warm-ups and the learning-rate schedule.

    Args:
        ctx: The validation in progress; nothing when only evaluating.
    """
    planned = planned_steps(ctx)
    if planned is None or not ctx.training:
        return
    start = _check_critic_warmup(ctx, planned)
    schedule = ctx.get(f"{_OPTIM}.lr_scheduler", "constant")
    _check_warmup(ctx, schedule, planned - start)
    if schedule in _COSINES:
        _check_cosine(ctx, schedule, planned, planned - start)
        _check_minimum(ctx, schedule)
    elif ctx.whole(_LENGTH) and not ctx.number(f"{_OPTIM}.lr_warmup_steps_ratio"):
        ctx.notices.append(f"{_LENGTH}: has no effect, since lr_scheduler is {schedule!r}")


def planned_steps(ctx: Context) -> int | None:
    """Return the step at which the training ends, counted from a new run's start; None when it cannot be known.

    A resumed run counts on from its checkpoint, in ``max_epochs`` as in the scheduler.
    """
    epochs, steps = ctx.whole("runner.max_epochs"), ctx.whole("runner.max_steps")
    return epochs if epochs is None or steps is None else min(epochs, steps)


def _updates_per_step(ctx: Context) -> int | None:
    """Return how many optimizer updates each actor rank makes in one training step."""
    samples, batch, ranks = rollout_samples(ctx), ctx.whole("actor.global_batch_size"), placed_sizes(ctx).get("actor")
    rounds = ctx.get("algorithm.update_epoch", 1)
    if not samples or not batch or not ranks or not isinstance(rounds, int):
        return None
    return samples // batch * rounds or None


def _check_critic_warmup(ctx: Context, planned: int) -> int:
    """Check the critic's warm-up; return in how many training steps it ends, after which the schedule begins anew."""
    where, warmup, updates = f"{_OPTIM}.critic_warmup_steps", 0, _updates_per_step(ctx)
    if ctx.get("actor.model.add_value_head", None) is True:
        warmup = ctx.whole(where) or 0
    if not warmup or updates is None:
        return 0
    if warmup >= planned * updates:
        found = (
            f"{warmup} updates, but the run makes {planned * updates} ({planned} steps x {updates} updates): "
            "the policy would never be trained"
        )
        ctx.issue(where, found, f"less than {planned * updates}")
        return 0
    return (warmup - 1) // updates


def _check_warmup(ctx: Context, schedule: object, steps: int) -> None:
    where, ratio_where = f"{_OPTIM}.lr_warmup_steps", f"{_OPTIM}.lr_warmup_steps_ratio"
    given, ratio, length = ctx.get(where, -1), ctx.number(ratio_where) or 0.0, ctx.whole(_LENGTH)
    if not isinstance(given, int):
        return
    if (given > 0 or ratio > 0) and schedule not in _WITH_WARMUP:
        used = where if given > 0 else ratio_where
        ctx.issue(used, f"{given if given > 0 else ratio:g}, but lr_scheduler {schedule!r} has no warm-up", "0")
        return
    if given >= 0 and ratio > 0:
        ctx.issue(ratio_where, f"{ratio:g} has no effect beside lr_warmup_steps {given}", "one of the two")
        return
    if given < 0 and ratio > 0 and length is None:
        ctx.issue(ratio_where, f"{ratio:g} of total_training_steps, which is not given", fix=_FIX_LENGTH)
        return
    warmup = given if given >= 0 else int(ratio * (length or 0))
    if warmup and warmup >= steps:
        found = f"{warmup} warm-up steps, but the schedule runs for {steps} steps: the learning rate never arrives"
        ctx.issue(where if given >= 0 else ratio_where, found, f"less than {steps} steps")
    elif warmup and schedule == "cosine" and length is not None and warmup >= length:
        ctx.issue(where, f"{warmup} warm-up steps of {length} (total_training_steps)", f"less than {length}")


def _check_cosine(ctx: Context, schedule: str, planned: int, steps: int) -> None:
    length = ctx.whole(_LENGTH)
    if length is None:
        written = ctx.get(_LENGTH, None)
        if written in (None, 0):
            found = f"{'missing' if written is None else written}, but lr_scheduler {schedule!r} needs its length"
            ctx.issue(_LENGTH, found, f"a whole number >= {steps}, the steps of this run", _FIX_LENGTH)
        return
    if length < steps:
        found = (
            f"{length}, but the run goes on to step {planned} (runner.max_epochs, max_steps; {steps} of them with this "
            f"schedule): the learning rate of {schedule!r} would rise again after step {length}"
        )
        ctx.issue(_LENGTH, found, f"at least {steps}", _FIX_LENGTH)
    elif length > steps:
        ctx.notices.append(
            f"{_LENGTH}: {length}, and the run ends after {steps} steps of it, before the learning rate is at its end"
        )
    cycles = ctx.number(f"{_OPTIM}.num_cycles")
    if cycles is not None and cycles > 0.5 and schedule == "cosine":
        bottom = f"{length / 2 / cycles:.0f}"
        ctx.notices.append(f"{_OPTIM}.num_cycles: {cycles:g}; the learning rate falls until step {bottom}, then rises")


def _check_minimum(ctx: Context, schedule: str) -> None:
    where, lr = f"{_OPTIM}.min_lr", ctx.number(f"{_OPTIM}.lr")
    minimum, rate = ctx.number(where), ctx.number(f"{_OPTIM}.min_lr_rate")
    if schedule == "torch_cosine":
        for key, value in ((where, minimum), (f"{_OPTIM}.min_lr_rate", rate)):
            if value:
                ctx.issue(key, f"{value:g} has no effect: 'torch_cosine' always ends at {_TORCH_COSINE_END:g}", "0")
        for key in ("lr", "value_lr"):
            value = ctx.number(f"{_OPTIM}.{key}")
            if value is not None and value < _TORCH_COSINE_END:
                found = f"{value:g}, but 'torch_cosine' always ends at {_TORCH_COSINE_END:g}: it would rise"
                ctx.issue(f"{_OPTIM}.{key}", found, f"at least {_TORCH_COSINE_END:g}", "lr_scheduler: cosine")
        return
    if minimum and rate is None:
        means = f", here {lr * minimum / _ADAMW_DEFAULT_LR:g} for lr" if lr else ""
        found = f"{minimum:g}: RLinf 0.3.0 takes it as a fraction, min_lr / {_ADAMW_DEFAULT_LR:g} of each rate{means}"
        fix = f"min_lr_rate: {minimum / lr:g}, the same fraction of lr and value_lr" if lr and minimum <= lr else ""
        ctx.issue(where, found, "min_lr_rate instead, a fraction of the rates", fix)
    elif minimum and rate is not None:
        ctx.issue(where, f"{minimum:g} has no effect beside min_lr_rate {rate:g}", "one of the two")
    if rate is not None and rate > 1:
        ctx.issue(f"{_OPTIM}.min_lr_rate", f"{rate:g}: the learning rate would rise", "a number >= 0 and <= 1")
