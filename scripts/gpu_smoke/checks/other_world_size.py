# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``world-size``: a resume state of two ranks loads in one, and that of one in two."""

from __future__ import annotations

import shutil
from pathlib import Path

from gpu_smoke import actor as lane_actor
from gpu_smoke.checks.two_ranks import SHARED
from gpu_smoke.context import Context
from gpu_smoke.multi import need_gpus, run_ranks
from gpu_smoke.outcome import require

TOLERANCE = 1e-3


def run(context: Context) -> None:
    """Load what ``ranks`` saved, save it again, and load that with two ranks."""
    import torch

    need_gpus(context, 2)
    shared = context.work / SHARED
    job = torch.load(shared / "job.pt", weights_only=False)
    saved = torch.load(shared / "rank0.pt", weights_only=False)["logprobs"]
    lane_actor.join_alone(context.device, context.work)
    lane_actor.exact_convolutions()
    actor = lane_actor.new_actor(job["cfg"])
    actor.load_checkpoint(str(shared / "checkpoint"))
    error = float((lane_actor.logprobs(actor, job["batch"]) - saved).abs().max())
    context.measured["two to one"] = f"{error:.1e}"
    require(error < TOLERANCE, f"log-probabilities of one rank differ by {error:.2g} from those of the two that saved")
    require(actor.optimizer_steps == 1, f"{actor.optimizer_steps} optimizer steps, saved was 1")
    shutil.rmtree(shared / "of_one", ignore_errors=True)
    actor.save_checkpoint(str(shared / "of_one"), 1)
    run_ranks(context, "gpu_smoke.checks.other_world_size:of_rank", shared, 2)
    error = float((torch.load(shared / "loaded0.pt") - saved).abs().max())
    context.measured["one to two"] = f"{error:.1e}"
    require(error < TOLERANCE, f"log-probabilities of two ranks differ by {error:.2g} from those that were saved")


def of_rank(shared: Path, rank: int, world_size: int) -> None:
    """Load with this rank and evaluate the whole batch. A collective."""
    import torch

    lane_actor.exact_convolutions()
    job = torch.load(shared / "job.pt", weights_only=False)
    actor = lane_actor.new_actor(job["cfg"])
    actor.load_checkpoint(str(shared / "of_one"))
    torch.save(lane_actor.logprobs(actor, job["batch"]), shared / f"loaded{rank}.pt")
