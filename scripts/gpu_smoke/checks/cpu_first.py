# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``cpu-first``: a training that is kept off the GPU, and goes on there."""

from __future__ import annotations

from dataclasses import replace

from gpu_smoke import policies
from gpu_smoke.commands import SMALL, isaaclab, newest_run, require_sound_training
from gpu_smoke.context import Context
from gpu_smoke.gpu_use import GpuWatch
from gpu_smoke.outcome import require


def run(context: Context) -> None:
    """Train a small step with ``--device cpu``, and one more on the device."""
    place = replace(context, work=context.work / "cpu_first")  # so that `latest` is this training
    small = ("--seed", "5", "--max_iterations", "1", "runner.save_interval=1", "runner.val_check_interval=-1", *SMALL)
    with GpuWatch(place.work) as watch:
        first = isaaclab(place, "train", policies.TINY_VLA_YAML, *small, limit=200, device="cpu")
        watch.look()
    require(not watch.seen, f"--device cpu, but these used a GPU: {watch.seen}")
    before = [record for record in (place.work / "logs/rlinf").iterdir() if record.name[0].isdigit()]
    require_sound_training(place, newest_run(place), [1])
    second = isaaclab(place, "train", policies.TINY_VLA_YAML, "--checkpoint", "latest", *small, limit=150)
    after = newest_run(place)
    require(after not in before, "the second training has no directory of its own")
    require_sound_training(place, after, [2])
    context.measured["commands"] = f"{first.seconds:.0f} s, {second.seconds:.0f} s"
