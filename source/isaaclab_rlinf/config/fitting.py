# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which numbers of a configuration fit a number of processes, and which ones would have to change for another one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from isaaclab_rlinf.config.accelerators import visible_gpus, visible_value
from isaaclab_rlinf.config.batches import Batches, advise, nearest_multiple, needed_step
from isaaclab_rlinf.config.command_overrides import PLACEMENT, for_the_shell, quoted_override
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.placement import COMPONENTS, ranks_text

MICRO, BATCH = "actor.micro_batch_size", "actor.global_batch_size"


def env_parts(ctx: Context, mode: str, sizes: Mapping[str, int | None]) -> dict[str, int]:
    """Return what the environments of a mode are split over, in words, and the number of parts.

    Args:
        ctx: The validation in progress.
        mode: ``train`` or ``eval``.
        sizes: Number of processes by component; nothing is returned for an unknown one.
    """
    stages = ctx.whole("rollout.pipeline_stage_num")
    env, rollout, actor = (sizes.get(component) for component in ("env", "rollout", "actor"))
    if stages is None or env is None or rollout is None:
        return {}
    group = ctx.whole(f"env.{mode}.group_size") or 1
    parts = {
        f"{env} env workers x {stages} pipeline stages x group_size {group}": env * stages * group,
        f"{rollout} rollout workers x {stages} pipeline stages": rollout * stages,
    }
    if mode == "train" and actor is not None:
        parts[f"{actor} actor ranks and {env} env workers x {stages} pipeline stages"] = math.lcm(actor, env * stages)
    return parts


def rollout_samples(ctx: Context, envs: int | None = None, steps: int | None = None) -> int | None:
    """Return how many chunk samples one rollout gives all actor ranks together, None when a factor is unknown.

    That is ``(max_steps_per_rollout_epoch // num_action_chunks) * rollout_epoch * total_num_envs``.

    Args:
        ctx: The validation in progress.
        envs: Environments; those of the configuration when left out.
        steps: Steps of a rollout epoch; those of the configuration when left out.
    """
    steps = steps or ctx.whole("env.train.max_steps_per_rollout_epoch")
    envs = envs or ctx.whole("env.train.total_num_envs")
    chunk, epochs = ctx.whole("actor.model.num_action_chunks"), ctx.whole("env.train.rollout_epoch")
    if None in (steps, chunk, epochs, envs) or steps % chunk:
        return None
    return steps // chunk * epochs * envs


def batches(ctx: Context, ranks: int | None, samples: int | None) -> Batches | None:
    """Return how the rollout is cut into batches, None when a number is unknown.

    Args:
        ctx: The validation in progress.
        ranks: Actor ranks.
        samples: Samples of a rollout; those that the ranks cannot share evenly are left to the check of environments.
    """
    micro, batch = ctx.whole(MICRO), ctx.whole(BATCH)
    if micro is None or batch is None or ranks is None:
        return None
    replayed = ctx.get("algorithm.loss_type", None) == "embodied_sac"
    return Batches(batch, micro, ranks, None if replayed or (samples or 0) % ranks else samples)


def env_step(ctx: Context, sizes: Mapping[str, int | None]) -> int:
    """Return what the number of training environments must be a multiple of, for the batch size to stay as it is."""
    step = math.lcm(*env_parts(ctx, "train", sizes).values(), 1)
    cut = batches(ctx, sizes.get("actor"), None)
    per_env = rollout_samples(ctx, envs=1)
    is_free = cut is None or not cut.is_whole or per_env is None or not _divides_rollouts(ctx)
    return step if is_free else needed_step(step, per_env, cut.batch)


def steps_step(ctx: Context, chunk: int, sizes: Mapping[str, int | None]) -> int:
    """Return what the steps of a rollout must be a multiple of, for the batch size to stay as it is."""
    cut = batches(ctx, sizes.get("actor"), None)
    per_chunk = rollout_samples(ctx, steps=chunk)
    is_free = cut is None or not cut.is_whole or per_chunk is None or not _divides_rollouts(ctx)
    return chunk if is_free else chunk * needed_step(1, per_chunk, cut.batch)


def _divides_rollouts(ctx: Context) -> bool:
    return ctx.get("algorithm.loss_type", None) != "embodied_sac"


def fits(ctx: Context, processes: int) -> bool:
    """Return whether the configuration as it is can be run by as many processes of each component.

    Args:
        ctx: The validation in progress.
        processes: Processes of each component.
    """
    return changes(ctx, processes) == {}


def changes(ctx: Context, processes: int) -> dict[str, int] | None:
    """Return the keys to change, and their values, to run as many processes of each component.

    Args:
        ctx: The validation in progress.
        processes: Processes of each component.

    Returns:
        Key path -> value; None when a number is unknown, or no change of these keys is enough.
    """
    if not ctx.training:
        return {}  # play rounds its environments up, and does not count what is too many
    sizes = dict.fromkeys(COMPONENTS, processes)
    changed: dict[str, int] = {}
    for mode in ctx.env_modes():
        where = f"env.{mode}.total_num_envs"
        total, parts = ctx.whole(where), env_parts(ctx, mode, sizes)
        if total is None or not parts:
            return None
        if total % (step := math.lcm(*parts.values())):
            changed[where] = nearest_multiple(total, step)
    samples = rollout_samples(ctx, envs=changed.get("env.train.total_num_envs"))
    cut = batches(ctx, processes, samples)
    if cut is None or not samples or lone_value(ctx, processes, samples):
        return None
    return changed if cut.is_whole and cut.divides else changed | _batch_changes(cut)


def _batch_changes(cut: Batches) -> dict[str, int]:
    advice = advise(cut)
    if advice.pair is not None:
        return dict(zip((MICRO, BATCH), advice.pair, strict=True))
    if advice.micro is not None:
        return {MICRO: advice.micro}
    return {BATCH: min(advice.batches, key=lambda size: abs(size - cut.batch))}


def lone_value(ctx: Context, ranks: int, samples: int) -> bool:
    """Return whether an actor rank has one advantage to normalize, whose standard deviation does not exist.

    Args:
        ctx: The validation in progress.
        ranks: Actor ranks.
        samples: Samples of a rollout.
    """
    if ctx.get("algorithm.adv_type", None) != "gae" or samples % ranks:
        return False
    by_action = ctx.get("algorithm.reward_type", None) == "action_level"
    return samples // ranks * ((ctx.whole("actor.model.num_action_chunks") or 1) if by_action else 1) <= 1


def fewer_gpus(ctx: Context) -> str:
    """Return the override that runs the configuration as it is on the most GPUs that it fits, "" where there is none.

    Args:
        ctx: The validation in progress.
    """
    gpus = usable_gpus(ctx)
    count = next((count for count in range(len(gpus) - 1, 0, -1) if fits(ctx, count)), 0)
    return placement_override(gpus[:count], ctx.num_accelerators) if count else ""


def usable_gpus(ctx: Context) -> tuple[int, ...]:
    """Return the GPUs that there are and that the environment allows, () on a machine without or of a cluster."""
    count, value = ctx.num_accelerators or 0, visible_value()
    visible = tuple(range(count)) if value is None else visible_gpus(value, count)
    return tuple(sorted(visible or ()))


def placement_override(gpus: Sequence[int], count: int | None, changed: Mapping[str, int] | None = None) -> str:
    """Return the command line that places every component on GPUs, one process on each.

    Args:
        gpus: Indices of GPUs.
        count: How many there are.
        changed: Other keys to set -> their values.
    """
    text = "all" if count == len(gpus) > 1 else ranks_text(gpus)
    plain = f"{PLACEMENT}={text}"
    placement = quoted_override(PLACEMENT, text) if "," in text else for_the_shell(plain)
    return " ".join([placement, *(f"{key}={value}" for key, value in (changed or {}).items())])
