# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``real-actor``: one update of N1.7 at its real size with fp32 weights and bf16 compute, as the actor does it."""

from __future__ import annotations

import math
import shutil
import time

from gpu_smoke import actor as lane_actor
from gpu_smoke import policies, real_sizes
from gpu_smoke.checks.precision import precision_overrides
from gpu_smoke.checks.real_rollout import BATCH, section
from gpu_smoke.context import Context
from gpu_smoke.host_memory import HostPeak
from gpu_smoke.outcome import require

MEMORY_GIB = 60
"""What docs/gpu.md's estimate gives for weights, gradients, Adam's moments and the bf16 copy, and room to compute."""


def run(context: Context) -> None:
    """Record with a rollout policy, end it, and update once; the checkpoint is deleted then."""
    try:
        _update(context)
    finally:
        shutil.rmtree(context.work / "n1d7_real", ignore_errors=True)


def _update(context: Context) -> None:
    import gc

    import torch

    gc.collect()
    if context.full:
        torch.cuda.empty_cache()
    real_sizes.need_memory(context, MEMORY_GIB)
    lane_actor.join_alone(context.device, context.work)
    directory = real_sizes.real_checkpoint(context)
    overrides = [*precision_overrides("fp32", "bf16"), "actor.fsdp_config.gradient_checkpointing=true"]
    overrides.append(f"actor.model.rl_head_config.padding_value={real_sizes.PROMPT_LENGTH}")
    cfg = policies.run_config(context, "n1d7", *overrides, model_path=directory)
    rollout = policies.built(section(directory, "bf16"))
    obs = policies.observation(context.size(BATCH, 4), side=context.size(256, 64))
    _, result = rollout.predict_action_batch(obs, mode="train")
    batch = lane_actor.micro_batch(result)
    del rollout, result
    gc.collect()
    if context.full:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    started = time.monotonic()
    with HostPeak() as host:
        actor = lane_actor.new_actor(cfg)
    context.measured["build"] = f"{time.monotonic() - started:.0f} s"
    context.measured["host peak"] = f"{host.gib:.1f} GiB"
    started = time.monotonic()
    metrics = lane_actor.accumulate(actor, batch)
    norm, _ = actor.optimizer_step()
    context.measured["update"] = f"{time.monotonic() - started:.1f} s"
    error = float(metrics["actor/initial_ratio_error"][0])
    context.measured["ratio error"] = f"{error:.1e}"
    if context.full:
        context.measured["GPU peak"] = f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
    require(math.isfinite(norm), f"the gradient's norm is {norm}")
    require(error < 1e-2, f"mean |ratio - 1| is {error:.2g} before any update, expected below 0.01")
