# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Simulators of the bundled task, as the environment workers start them, and how the checks drive them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .context import Context

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.env.protocol import SimulatorSpec
    from isaaclab_rlinf.env.simulator import Simulator

CHUNK = 8
EPISODE = 20
"""Not a multiple of the chunk, so that episodes are cut in mid-chunk."""
STEP_LIMIT = 0.25
"""Joint targets move so far per action, in rad; about what the scripted expert does."""


def spec(context: Context, device: str, num_envs: int, *, hold: bool = True, name: str = "sim") -> SimulatorSpec:
    """Return what to simulate.

    Args:
        context: Of the check; the simulator's output goes beside its work.
        device: ``cuda`` or ``cpu``.
        num_envs: Environments.
        hold: Whether environments that were reset in mid-chunk hold their pose.
        name: Of the log.
    """
    from isaaclab_rlinf.config.schema import IsaacLabBlock, StateSpec, SuccessSpec, TaskDescription
    from isaaclab_rlinf.env.protocol import SimulatorSpec
    from isaaclab_rlinf.tasks import TOUCH_COLOR_ID

    block = IsaacLabBlock(
        task_description=TaskDescription(obs="instruction"),
        main_images="front_camera",
        wrist_images="wrist_camera",
        states=(StateSpec("joint_pos"), StateSpec("joint_vel")),
        success=SuccessSpec(termination="success"),
    )
    return SimulatorSpec(
        TOUCH_COLOR_ID, num_envs, 7, device, replace(block, hold_pose_on_midchunk_reset=hold), CHUNK, EPISODE,
        log_file=str(context.work / f"{name}-{device}.log"),
    )  # fmt: skip


def open_simulator(of: SimulatorSpec) -> Simulator:
    """Start a simulator; a first start on a machine compiles kernels for minutes."""
    from isaaclab_rlinf.env.simulator import Simulator

    return Simulator(of)


def drive(simulator: Simulator, generator: torch.Generator, states: torch.Tensor) -> dict[str, torch.Tensor]:
    """Step one chunk of smooth joint targets.

    Args:
        simulator: Whose ``actions`` buffer is filled.
        generator: CPU generator of the targets.
        states: Joint positions first, (B, D): where the targets start. Two simulators that are compared are given the
            same, so that a difference between them does not feed itself.

    Returns:
        Copies of the buffers that are valid after it, and ``has_final`` as a tensor.
    """
    import torch

    from isaaclab_rlinf.tasks.touch_color.geometry import GEOMETRY

    batch = len(states)
    steps = STEP_LIMIT * (2 * torch.rand(batch, CHUNK, 3, generator=generator) - 1)
    steps = steps + STEP_LIMIT * (2 * torch.rand(batch, 1, 3, generator=generator) - 1)
    low, high = (torch.tensor(limit) for limit in (GEOMETRY.joint_lower, GEOMETRY.joint_upper))
    targets = (states[:, None, :3] + steps.cumsum(dim=1)).clamp(low, high)
    simulator.buffers["actions"].copy_(targets)
    result = simulator.step_chunk()
    found = snapshot(simulator, final=result.has_final)
    found["has_final"] = torch.tensor(result.has_final)
    return found


def snapshot(simulator: Simulator, *, final: bool) -> dict[str, torch.Tensor]:
    """Return copies of the buffers, those of the final observation only where they are valid."""
    skipped = ("actions",) if final else ("actions", "final.")
    return {name: tensor.clone() for name, tensor in simulator.buffers.items() if not name.startswith(skipped)}
