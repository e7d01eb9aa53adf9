# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``sim-killed``: a simulator that dies is an error of the worker's within seconds, and leaves no process."""

from __future__ import annotations

import os
import signal
import time

from gpu_smoke import simulators
from gpu_smoke.context import Context
from gpu_smoke.outcome import CheckFailed, require


def run(context: Context) -> None:
    """Kill one between two chunks."""
    import torch

    from isaaclab_rlinf.env.protocol import SimulatorError

    simulator = simulators.open_simulator(simulators.spec(context, context.device, 4, name="killed"))
    generator, states = torch.Generator().manual_seed(1), simulator.buffers["obs.states"].clone()
    try:
        simulators.drive(simulator, generator, states)
        os.kill(simulator.pid, signal.SIGKILL)
        started = time.monotonic()
        try:
            simulators.drive(simulator, generator, states)
        except SimulatorError as error:
            waited = time.monotonic() - started
            require("SIGKILL" in str(error), f"the error does not name the signal: {error}")
        else:
            raise CheckFailed("a killed simulator answered")
    finally:
        simulator.close()
    context.measured["noticed after"] = f"{waited:.1f} s"
    require(waited < 10, f"the death was noticed after {waited:.0f} s")
    require(not os.path.exists(f"/proc/{simulator.pid}"), "the killed process is still there")
