# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``simulator``: the same seed and actions on the device and on a CPU, and how they compare."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gpu_smoke import simulators
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

if TYPE_CHECKING:
    import torch

CHUNKS = 6
TOLERANCES = {"positions": 1e-3, "velocities": 1e-2, "images": 2.0, "numbers": 1e-3}
"""Largest difference in rad, in rad/s, of the mean over an image of 255, and of rewards and returns."""


def run(context: Context, kind: str) -> None:
    """Drive both and compare every buffer after every chunk.

    Args:
        context: Of the check.
        kind: ``hold`` or ``free``: whether the pose is held after a reset in mid-chunk.
    """
    import torch

    num_envs = context.size(16, 4)
    started = time.monotonic()
    on_device = _open(context, context.device, num_envs, kind)
    context.measured["start"] = f"{time.monotonic() - started:.0f} s"
    reference = None
    try:
        require(
            torch.device(on_device.handshake.device) == torch.device(context.torch_device),
            f"the simulator says it is on {on_device.handshake.device}",
        )
        notices = [notice for notice in on_device.handshake.notices if "regist" in notice or "page-lock" in notice]
        require(not notices, f"host memory is not page-locked: {' '.join(notices)}")
        reference = _open(context, "cpu", num_envs, kind)
        worst = _compare(on_device, reference, torch.Generator().manual_seed(3))
    finally:
        for simulator in filter(None, (on_device, reference)):
            simulator.close()
    context.measured |= {name: f"{value:.2g}" for name, value in worst.items()}


def _open(context: Context, device: str, num_envs: int, kind: str) -> simulators.Simulator:
    return simulators.open_simulator(simulators.spec(context, device, num_envs, hold=kind == "hold", name=kind))


def _compare(
    on_device: simulators.Simulator, reference: simulators.Simulator, generator: torch.Generator
) -> dict[str, float]:
    """Return the largest differences of states and images; raise where they or the flags differ too much."""
    import torch

    first = [simulators.snapshot(simulator, final=False) for simulator in (on_device, reference)]
    worst = dict.fromkeys(TOLERANCES, 0.0)
    _book(worst, *first, "after the reset")
    states, ends, finals = first[1]["obs.states"], 0, 0
    for number in range(CHUNKS):
        seed = int(torch.randint(2**31, (1,), generator=generator))
        found, expected = (
            simulators.drive(simulator, torch.Generator().manual_seed(seed), states)
            for simulator in (on_device, reference)
        )
        _book(worst, found, expected, f"after chunk {number + 1}")
        states = expected["obs.states"]
        ends, finals = ends + int(expected["finished"].sum()), finals + int(expected["has_final"])
    require(
        ends and finals, f"{ends} episodes ended, {finals} chunks had a final observation: nothing was tested there"
    )
    return worst


def _book(
    worst: dict[str, float], found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor], when: str
) -> None:
    require(found.keys() == expected.keys(), f"{when}: buffers differ: {sorted(found.keys() ^ expected.keys())}")
    for name, value in expected.items():
        own = found[name]
        if not value.dtype.is_floating_point and "images" not in name:
            same = bool((own == value).all())
            require(same, f"{when}: {name} is {own.tolist()}, on the CPU {value.tolist()}")
            continue
        for kind, difference in _differences(name, own.float() - value.float()).items():
            worst[kind] = max(worst[kind], difference)
            limit = TOLERANCES[kind]
            require(difference <= limit, f"{when}: {kind} of {name} differ by {difference:.3g}, allowed is {limit:g}")


def _differences(name: str, difference: torch.Tensor) -> dict[str, float]:
    """Return how large a difference is, by what is compared."""
    if "images" in name:
        return {"images": float(difference.abs().flatten(1).mean(dim=1).max())}
    if name.endswith("states"):
        return {"positions": float(difference[:, :3].abs().max()), "velocities": float(difference[:, 3:].abs().max())}
    return {"numbers": float(difference.abs().max())}
