# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``devices``: a resume state that was written on one kind of device is read on the other, both ways."""

from __future__ import annotations

import shutil

from gpu_smoke import actor as lane_actor
from gpu_smoke import policies
from gpu_smoke.context import Context
from gpu_smoke.outcome import require


def run(context: Context) -> None:
    """Train one update on a CPU, save; load on the device, train, save; load on the CPU again."""
    lane_actor.join_alone(context.device, context.work)
    lane_actor.exact_convolutions()
    try:
        _there_and_back(context)
    finally:
        lane_actor.use_device(context.device)


def _there_and_back(context: Context) -> None:
    lane_actor.use_device("cpu")
    cfg = policies.run_config(context, "tiny_vla")
    _, result = policies.rollout_policy(cfg, "fp32").predict_action_batch(policies.observation(8), mode="train")
    batch = lane_actor.micro_batch(result)
    saved = None
    for number, device in enumerate(("cpu", context.device, "cpu")):
        lane_actor.use_device(device)
        actor = lane_actor.new_actor(cfg)
        if saved is not None:
            actor.load_checkpoint(str(saved[0]))
            found = lane_actor.logprobs(actor, batch)
            error = float((found - saved[1]).abs().max())
            context.measured[f"to {device}"] = f"{error:.1e}"
            require(error < 1e-2, f"log-probabilities on {device} differ from those that were saved by {error:.2g}")
            require(
                actor.optimizer_steps == saved[2], f"{actor.optimizer_steps} optimizer steps, saved were {saved[2]}"
            )
        lane_actor.accumulate(actor, batch)
        actor.optimizer_step()
        directory = context.work / f"devices-{number}"
        shutil.rmtree(directory, ignore_errors=True)
        actor.save_checkpoint(str(directory), number)
        saved = directory, lane_actor.logprobs(actor, batch), actor.optimizer_steps
