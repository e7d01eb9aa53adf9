# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``precision``: rollout, sharded training and checkpoint of one policy in one combination of precisions."""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING, Any

from gpu_smoke import actor as lane_actor
from gpu_smoke import policies
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

if TYPE_CHECKING:
    from isaaclab_rlinf.workers.actor import ActorWorker

_ADVANTAGE = 100.0
"""Large, so that the gradient's norm is far above ``clip_grad``."""
_SAME = 1e-3
"""Log-probabilities of the same weights; an update moves them by far more."""


def run(context: Context, family: str, weights: str, compute: str) -> None:
    """Predict, train one micro batch, offload, save and load.

    Args:
        context: Of the check.
        family: ``tiny_vla`` or ``n1d7``.
        weights: ``actor.model.precision``.
        compute: ``mixed_precision.param_dtype``, and the rollout's precision.
    """
    import torch

    lane_actor.join_alone(context.device, context.work)
    if context.full:
        torch.cuda.reset_peak_memory_stats()
    cfg = policies.run_config(context, family, *precision_overrides(weights, compute))
    rollout = policies.rollout_policy(cfg, compute)
    require(next(rollout.parameters()).device.type == context.device, "the rollout policy is not on the device")
    torch.manual_seed(0)
    actions, result = rollout.predict_action_batch(policies.observation(context.size(32, 8)), mode="train")
    require(bool(torch.isfinite(torch.as_tensor(actions)).all()), "the rollout's actions are not finite")
    del rollout
    actor = lane_actor.new_actor(cfg)
    batch = lane_actor.micro_batch(result, _ADVANTAGE)
    _train(context, actor, batch, compute)
    _offload(actor, batch)
    _save_and_load(context, actor, batch, f"{family}-{weights}-{compute}")
    if context.full:
        context.measured["GPU peak"] = f"{torch.cuda.max_memory_allocated() / 2**20:.0f} MiB"


def precision_overrides(weights: str, compute: str) -> list[str]:
    """Return the overrides that make up one combination."""
    mixed = [f"actor.fsdp_config.mixed_precision.{key}_dtype={compute}" for key in ("param", "buffer")]
    return [f"actor.model.precision={weights}", f"rollout.model.precision={compute}", *mixed]


def _train(context: Context, actor: ActorWorker, batch: dict[str, Any], compute: str) -> None:
    metrics = lane_actor.accumulate(actor, batch)
    error = float(metrics["actor/initial_ratio_error"][0])
    context.measured["ratio error"] = f"{error:.1e}"
    tolerance = 1e-3 if compute == "fp32" else 1e-2
    require(error < tolerance, f"mean |ratio - 1| is {error:.2g} before any update, expected below {tolerance:g}")
    before, exact = lane_actor.full_weights(actor), lane_actor.gradient_norm(actor)
    norm, _ = actor.optimizer_step()
    bound, left = float(actor.cfg.actor.optim.clip_grad), lane_actor.gradient_norm(actor)
    context.measured["norm"] = f"{norm:.3g} to {left:.3g}"
    require(math.isfinite(norm) and norm > bound, f"the gradient's norm is {norm:.3g}; it was to be above {bound:g}")
    require(abs(norm - exact) < 0.01 * exact, f"the norm is given as {norm:.5g}, the gradient has {exact:.5g}")
    require(left <= 1.01 * bound, f"the gradient's norm is {left:.3g} after clipping to {bound:g}")
    after = lane_actor.full_weights(actor)
    changed = sum(not before[name].equal(after[name]) for name in before)
    require(all(bool(value.isfinite().all()) for value in after.values()), "weights are not finite after the update")
    require(changed > len(before) // 2, f"the update changed {changed} of {len(before)} trained tensors")


def _offload(actor: ActorWorker, batch: dict[str, Any]) -> None:
    before = lane_actor.logprobs(actor, batch)
    actor.offload_param_and_grad(True)
    actor.offload_optimizer()
    places = {parameter.device.type for parameter in actor.model.parameters()}
    require(places == {"cpu"}, f"offloaded weights are on {', '.join(sorted(places))}")
    actor.load_param_and_grad(actor.device, True)
    actor.load_optimizer(actor.device)
    after = lane_actor.logprobs(actor, batch)
    error = float((after - before).abs().max())
    require(error < _SAME, f"log-probabilities differ by {error:.2g} after offloading and loading back")
    lane_actor.accumulate(actor, batch)
    actor.optimizer_step()  # with optimizer state that was away


def _save_and_load(context: Context, actor: ActorWorker, batch: dict[str, Any], name: str) -> None:
    directory = context.work / f"checkpoint-{name}"
    shutil.rmtree(directory, ignore_errors=True)
    before, steps = lane_actor.logprobs(actor, batch), actor.optimizer_steps
    actor.save_checkpoint(str(directory), 1)
    lane_actor.accumulate(actor, batch)
    actor.optimizer_step()
    actor.load_checkpoint(str(directory))
    require(
        actor.optimizer_steps == steps, f"{actor.optimizer_steps} optimizer steps after loading, saved were {steps}"
    )
    error = float((lane_actor.logprobs(actor, batch) - before).abs().max())
    require(error < _SAME, f"log-probabilities differ by {error:.2g} after saving, an update, and loading")
    shutil.rmtree(directory)
