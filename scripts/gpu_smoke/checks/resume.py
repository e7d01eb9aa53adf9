# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``resume``: go on from ``train``, with actor and rollout on the CPU while they rest, and patched weights."""

from __future__ import annotations

from gpu_smoke import policies
from gpu_smoke.commands import SMALL, isaaclab, newest_run, require_sound_training, tool, trained_checkpoint
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

OFFLOAD = ("actor.enable_offload=true", "rollout.enable_offload=true")
PATCH = ("weight_syncer.type=patch", "+weight_syncer.patch={}")


def run(context: Context) -> None:
    """Resume for one step; the patch syncer needs a GPU, so on a CPU its refusal is looked at instead."""
    steps = (
        "--checkpoint",
        str(trained_checkpoint(context)),
        "--max_iterations",
        "1",
        "--seed",
        "5",
        "runner.val_check_interval=-1",
    )
    if not context.full:
        _require_refusal(context, steps)
    special = (*OFFLOAD, *PATCH) if context.full else (*OFFLOAD, *SMALL)
    ended = isaaclab(context, "train", policies.TINY_VLA_YAML, *steps, *special, limit=150)
    require("optimizer steps" in ended.out, "the run does not say that it resumed")
    require_sound_training(context, newest_run(context), [3])
    context.measured["whole command"] = f"{ended.seconds:.0f} s"


def _require_refusal(context: Context, steps: tuple[str, ...]) -> None:
    flags = ("--rl_library", "rlinf", "--config_name", policies.TINY_VLA_YAML, "--device", "cpu")
    ended = tool("isaaclab", "train", *flags, *steps, *SMALL, *PATCH, cwd=context.work, limit=200)
    require(ended.code == 2 and "patch" in ended.out, f"the patch syncer was not refused on a CPU: {ended.code}")
    issues = policies.issues_on(1, "--config_name", policies.TINY_VLA_YAML, *OFFLOAD, *PATCH)
    require(not issues, f"what a GPU resumes with is refused: {'; '.join(issues)}")
