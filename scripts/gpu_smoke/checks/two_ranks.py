# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``ranks``: two ranks, each with half of a batch, do what one does with the whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from gpu_smoke import actor as lane_actor
from gpu_smoke import policies
from gpu_smoke.context import Context
from gpu_smoke.multi import need_gpus, run_ranks
from gpu_smoke.outcome import require

SHARED = "two_ranks"
"""Directory below the group's work: batch, config, and the checkpoint that ``world-size`` loads."""


def run(context: Context) -> None:
    """Compute norm and update with one rank here and with two in processes of their own."""
    import torch

    need_gpus(context, 2)
    shared = context.work / SHARED
    shutil.rmtree(shared, ignore_errors=True)
    shared.mkdir(parents=True)
    lane_actor.join_alone(context.device, context.work)
    lane_actor.exact_convolutions()
    cfg = policies.run_config(context, "tiny_vla")
    _, result = policies.rollout_policy(cfg, "fp32").predict_action_batch(
        policies.observation(context.size(32, 8)), mode="train"
    )
    batch = lane_actor.micro_batch(result, 10.0)
    expected = update(lane_actor.new_actor(cfg), batch)
    torch.save({"cfg": cfg, "batch": batch}, shared / "job.pt")
    run_ranks(context, "gpu_smoke.checks.two_ranks:of_rank", shared, 2)
    parts = [torch.load(shared / f"rank{rank}.pt", weights_only=False) for rank in range(2)]
    norms = [part["norm"] for part in parts]
    context.measured["norm"] = f"{expected['norm']:.5g}, ranks {', '.join(f'{norm:.5g}' for norm in norms)}"
    for norm in norms:
        require(
            abs(norm - expected["norm"]) < 1e-3 * expected["norm"],
            f"one rank's norm is {expected['norm']}, two: {norms}",
        )
    error = max(float((parts[0]["weights"][name] - value).abs().max()) for name, value in expected["weights"].items())
    context.measured["weights"] = f"{error:.1e}"
    # AdamW's first step is lr times the gradient's sign: one that is nearly zero may differ by all of it.
    moved = max(float(group["lr"]) for group in cfg_rates(cfg))
    require(error <= 2.1 * moved, f"weights after one update differ by {error:.2g}, the learning rate is {moved:g}")


def cfg_rates(cfg: Any) -> list[dict[str, float]]:
    """Return the learning rates of a config, one mapping per parameter group."""
    return [{"lr": float(cfg.actor.optim[key])} for key in ("lr", "value_lr")]


def update(actor: Any, batch: dict[str, Any]) -> dict[str, Any]:
    """Do one update; returns the norm that the actor reports, and all trained weights."""
    lane_actor.accumulate(actor, batch)
    norm, _ = actor.optimizer_step()
    return {"norm": float(norm), "weights": lane_actor.full_weights(actor)}


def of_rank(shared: Path, rank: int, world_size: int) -> None:
    """Do one rank's part: the update of its half, and a checkpoint. A collective."""
    import torch

    lane_actor.exact_convolutions()
    job = torch.load(shared / "job.pt", weights_only=False)
    half = slice(rank, None, world_size)
    batch = {
        key: {name: part[half] for name, part in value.items()} if isinstance(value, dict) else value[half]
        for key, value in job["batch"].items()
    }
    actor = lane_actor.new_actor(job["cfg"])
    found = update(actor, batch)
    actor.save_checkpoint(str(shared / "checkpoint"), 1)
    found["logprobs"] = lane_actor.logprobs(actor, job["batch"])
    torch.save(found, shared / f"rank{rank}.pt")
