# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``train-n1d7``: one step of the tiny N1.7 in the recommended precision: weights fp32, compute and rollout bf16."""

from __future__ import annotations

from gpu_smoke import policies
from gpu_smoke.checks.precision import precision_overrides
from gpu_smoke.commands import SMALL, isaaclab, newest_run, require_sound_training
from gpu_smoke.context import Context
from gpu_smoke.outcome import require


def run(context: Context) -> None:
    """Train one step from random weights: its success means nothing, its ratio does."""
    model = str(policies.tiny_n1d7(context.work))
    ended = isaaclab(
        context, "train", policies.N1D7_YAML, "--model_path", model, "--max_iterations", "1", "--seed", "5",
        "runner.val_check_interval=-1", *precision_overrides("fp32", "bf16"), *(() if context.full else SMALL),
        limit=150,
    )  # fmt: skip
    require_sound_training(context, newest_run(context), [1])
    require("[WARN]" not in ended.out, next((line for line in ended.out.splitlines() if "[WARN]" in line), ""))
    context.measured["whole command"] = f"{ended.seconds:.0f} s"
