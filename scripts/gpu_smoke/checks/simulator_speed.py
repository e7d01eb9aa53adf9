# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``sim-speed``: how fast chunks are stepped."""

from __future__ import annotations

import statistics
import time

from gpu_smoke import simulators
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

_WARM_UP = 6
"""Chunks until environments were reset within one and between two."""


def run(context: Context) -> None:
    """Time chunks after some that load every kernel, those of resets too."""
    import torch

    num_envs, chunks = context.size(64, 4), context.size(20, 3)
    simulator = simulators.open_simulator(simulators.spec(context, context.device, num_envs, name="speed"))
    try:
        generator, states, seconds = torch.Generator().manual_seed(1), simulator.buffers["obs.states"].clone(), []
        for _ in range(chunks + _WARM_UP):
            started = time.perf_counter()
            states = simulators.drive(simulator, generator, states)["obs.states"]
            seconds.append(time.perf_counter() - started)
    finally:
        simulator.close()
    median = statistics.median(seconds[_WARM_UP:])
    context.measured["env steps/s"] = round(num_envs * simulators.CHUNK / median)
    context.measured["ms per chunk"] = f"{1e3 * median:.0f}"
    require(
        max(seconds[_WARM_UP:]) < 20 * median,
        f"one chunk took {max(seconds[_WARM_UP:]):.1f} s, the median {median:.2f} s",
    )
