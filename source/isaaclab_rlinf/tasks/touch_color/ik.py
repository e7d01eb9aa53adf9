# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Planar kinematics and collision-aware path choice for the three-joint arm. Pure torch, batched, deterministic.

The arm has one joint more than the plane needs, so a target has a family of solutions: two elbow sides times the
free direction of the last link. `plan` picks the quickest one whose straight joint-space path keeps the fingertip
clear of the other balls.
"""

import math

import torch

from .geometry import GEOMETRY, TouchGeometry

WRIST_OFFSETS: tuple[float, ...] = (0.0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2)
"""Directions of the last link that `plan` tries, relative to the direction base to target (rad)."""

CLEARANCE_MARGIN = 0.02
"""Distance from touching that a path should keep to a wrong ball (m)."""


def forward_kinematics(joint_pos: torch.Tensor, geometry: TouchGeometry = GEOMETRY) -> torch.Tensor:
    """Fingertip position of the planar arm.

    Args:
        joint_pos: Joint positions, shape (..., 3), rad.
        geometry: Dimensions of the arm.

    Returns:
        Fingertip x, y in the base frame, shape (..., 2), m.
    """
    lengths = joint_pos.new_tensor(geometry.link_lengths)
    angles = torch.cumsum(joint_pos, dim=-1)
    return torch.stack([(lengths * angles.cos()).sum(-1), (lengths * angles.sin()).sum(-1)], dim=-1)


def inverse_kinematics(
    target: torch.Tensor, wrist_angle: torch.Tensor, geometry: TouchGeometry = GEOMETRY
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both elbow solutions that put the fingertip on a target with a given direction of the last link.

    The wrist point is the target minus the last link; the first two joints follow from the law of cosines.

    Args:
        target: Fingertip x, y, shape (..., 2), m.
        wrist_angle: Direction of the last link in the base frame, shape (...), rad.
        geometry: Dimensions of the arm.

    Returns:
        Joint positions, shape (..., 2, 3), rad, elbow bent to the left (positive joint 2) first, and a bool mask
        of shape (..., 2) that is true where the solution exists and respects the joint limits.
    """
    l1, l2, l3 = geometry.link_lengths
    wrist = target - l3 * torch.stack([wrist_angle.cos(), wrist_angle.sin()], dim=-1)
    cos_elbow = (wrist.square().sum(-1) - l1**2 - l2**2) / (2.0 * l1 * l2)
    reachable = cos_elbow.abs() <= 1.0
    elbow = torch.acos(cos_elbow.clamp(-1.0, 1.0))
    elbow = torch.stack([elbow, -elbow], dim=-1)
    bearing = torch.atan2(wrist[..., 1], wrist[..., 0])
    shoulder = bearing.unsqueeze(-1) - torch.atan2(l2 * elbow.sin(), l1 + l2 * elbow.cos())
    hand = wrist_angle.unsqueeze(-1) - shoulder - elbow
    joints = torch.stack([_wrap(shoulder), elbow, _wrap(hand)], dim=-1)
    lower, upper = joints.new_tensor(geometry.joint_lower), joints.new_tensor(geometry.joint_upper)
    within = ((joints >= lower) & (joints <= upper)).all(dim=-1)
    return joints, within & reachable.unsqueeze(-1)


def candidates(target: torch.Tensor, geometry: TouchGeometry = GEOMETRY) -> tuple[torch.Tensor, torch.Tensor]:
    """All joint configurations that `plan` considers for a target.

    Args:
        target: Fingertip x, y, shape (B, 2), m.
        geometry: Dimensions of the arm.

    Returns:
        Joint positions (B, C, 3), rad, and their validity (B, C), with C = 2 * len(WRIST_OFFSETS).
    """
    bearing = torch.atan2(target[:, 1], target[:, 0])
    wrist = bearing.unsqueeze(-1) + target.new_tensor(WRIST_OFFSETS)
    joints, valid = inverse_kinematics(target.unsqueeze(1).expand(-1, wrist.shape[1], -1), wrist, geometry)
    return joints.flatten(1, 2), valid.flatten(1, 2)


def path_clearance(
    start: torch.Tensor,
    goals: torch.Tensor,
    target: torch.Tensor,
    obstacles: torch.Tensor,
    geometry: TouchGeometry = GEOMETRY,
    samples: int = 33,
) -> torch.Tensor:
    """Distance that straight joint-space paths keep from touching an obstacle, up to the touch of the target.

    Args:
        start: Joint positions now, (B, 3), rad.
        goals: End of each candidate path, (B, C, 3), rad.
        target: Centre of the ball to touch, (B, 2), m. What lies behind the first touch does not count.
        obstacles: Centres of the balls to avoid, (B, O, 2), m.
        geometry: Dimensions of arm and balls.
        samples: Points checked on each path.

    Returns:
        Smallest distance from touching, (B, C), m; negative where the path touches an obstacle.
    """
    fractions = torch.linspace(0.0, 1.0, samples, dtype=start.dtype, device=start.device)
    joints = start[:, None, None] + fractions[None, None, :, None] * (goals - start.unsqueeze(1)).unsqueeze(2)
    tip = forward_kinematics(joints, geometry)
    touching = (tip - target[:, None, None]).norm(dim=-1) <= geometry.touch_distance
    finished = touching.cumsum(dim=-1) > 0
    distance = (tip.unsqueeze(-2) - obstacles[:, None, None]).norm(dim=-1).amin(dim=-1) - geometry.touch_distance
    return distance.masked_fill(finished, math.inf).amin(dim=-1)


def plan(
    start: torch.Tensor,
    target: torch.Tensor,
    obstacles: torch.Tensor,
    speed: float,
    geometry: TouchGeometry = GEOMETRY,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Chooses the joint configuration to move to.

    The cost of a candidate is its duration in control steps, plus a penalty that grows as the path comes nearer
    than `CLEARANCE_MARGIN` to a wrong ball. It depends on the present state only; along a chosen path the rest of
    the path keeps its clearance and becomes shorter, so planning again on the way confirms the choice.

    Args:
        start: Joint positions now, (B, 3), rad.
        target: Centre of the ball to touch, (B, 2), m.
        obstacles: Centres of the balls to avoid, (B, O, 2), m.
        speed: Largest joint motion per control step, rad.
        geometry: Dimensions of arm and balls.

    Returns:
        Goal joint positions (B, 3), rad, and whether the chosen path touches no wrong ball, bool (B,).

    Raises:
        ValueError: If no candidate reaches the target of some row.
    """
    joints, valid = candidates(target, geometry)
    if not bool(valid.any(dim=1).all()):
        row = int((~valid.any(dim=1)).nonzero()[0])
        found = [round(value, 3) for value in target[row].tolist()]
        raise ValueError(f"Target {found} m (row {row}) is out of the arm's reach within its joint limits.")
    clearance = path_clearance(start, joints, target, obstacles, geometry)
    steps = (joints - start.unsqueeze(1)).abs().amax(dim=-1) / speed
    penalty = (CLEARANCE_MARGIN - clearance).clamp(0.0, 1.0) * (200.0 / CLEARANCE_MARGIN)
    best = (steps + penalty).masked_fill(~valid, math.inf).argmin(dim=1)
    rows = torch.arange(start.shape[0], device=start.device)
    return joints[rows, best], clearance[rows, best] > 0.0


def _wrap(angle: torch.Tensor) -> torch.Tensor:
    """Angle mapped to (-pi, pi]."""
    return torch.atan2(angle.sin(), angle.cos())
