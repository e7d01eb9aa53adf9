# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Scripted expert: knows the balls' true positions and moves the fingertip to the named one."""

import torch
from isaaclab.envs import ManagerBasedRLEnv

from .ik import plan
from .mdp import goal

SPEED = 0.1
"""Joint speed of the expert, rad per control step."""


def expert_actions(env: ManagerBasedRLEnv, horizon: int, speed: float = SPEED) -> torch.Tensor:
    """Joint targets for the next control steps, planned from the present true state.

    The path is a straight line in joint space to the configuration that `ik.plan` chooses; all joints arrive
    together, and the last target repeats once the goal is reached. The result is a function of the state alone.

    Args:
        env: The (unwrapped) touch-colour environment.
        horizon: Number of control steps to plan for.
        speed: Largest joint motion per control step, rad.

    Returns:
        Absolute joint positions, (N, horizon, 3) float32, rad.

    Raises:
        ValueError: If `horizon` is not positive.
    """
    if horizon < 1:
        raise ValueError(f"horizon is {horizon}; it must be at least 1.")
    term = goal(env)
    start = env.scene["arm"].data.joint_pos.torch
    rows = torch.arange(env.num_envs, device=env.device)
    others = (term.target.unsqueeze(1) + torch.arange(1, term.balls.shape[1], device=env.device)) % term.balls.shape[1]
    end, _ = plan(start, term.balls[rows, term.target], term.balls[rows.unsqueeze(1), others], speed)
    return interpolate(start, end, horizon, speed)


def interpolate(start: torch.Tensor, end: torch.Tensor, horizon: int, speed: float) -> torch.Tensor:
    """Straight joint-space path at limited speed.

    Args:
        start: Joint positions now, (N, 3), rad.
        end: Joint positions to reach, (N, 3), rad.
        horizon: Number of points.
        speed: Largest joint motion per point, rad.

    Returns:
        Points after `start`, (N, horizon, 3), rad.
    """
    way = end - start
    steps = way.abs().amax(dim=-1, keepdim=True).clamp(min=1e-6) / speed
    count = torch.arange(1, horizon + 1, dtype=start.dtype, device=start.device)
    fraction = (count[None, :] / steps).clamp(max=1.0)
    return start.unsqueeze(1) + fraction.unsqueeze(-1) * way.unsqueeze(1)
