# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``train``: the README's command, two steps of it."""

from __future__ import annotations

from gpu_smoke import policies
from gpu_smoke.commands import SMALL, checkpoint, isaaclab, newest_run, require_sound_training, step_records
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

LEAST_SUCCESS = 0.5
"""Sampled actions of the shipped base succeed in about three of four episodes that end within the first step."""


def run(context: Context) -> None:
    """Train at full size on a GPU; on a CPU only the way is the same."""
    sizes = () if context.full else SMALL
    ended = isaaclab(
        context, "train", policies.TINY_VLA_YAML, "--max_iterations", "2", "--seed", "5", "runner.save_interval=1",
        "runner.val_check_interval=-1", *sizes, limit=200,
    )  # fmt: skip
    run_dir = newest_run(context)
    require_sound_training(context, run_dir, [1, 2])
    for step in (1, 2):
        checkpoint(run_dir, step)
    require("[WARN]" not in ended.out, next((line for line in ended.out.splitlines() if "[WARN]" in line), ""))
    shown = next((line for line in ended.out.splitlines() if "Device" in line), "")
    require(context.device in shown, f"the run was not on {context.device}: {shown.strip('│ ')!r}")
    success = step_records(run_dir)[-1]["env/success_once"]
    context.measured["success"] = f"{success:.2f}"
    context.measured["whole command"] = f"{ended.seconds:.0f} s"
    require(not context.full or success > LEAST_SUCCESS, f"success is {success:.2f}, expected above {LEAST_SUCCESS}")
