# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What is random in an episode, as a function of (key, environment, episode number).

Each environment has its own sequence of episodes: what environment 3 meets in its fifth episode does not depend on
when other environments were reset or on what the policy did. Two policies evaluated with one seed therefore meet
the same scenes. The numbers come from a counter-based generator, so CPU and GPU agree and nothing is stored.
"""

from dataclasses import dataclass

import torch

from .geometry import BALL_NAMES, GEOMETRY, TouchGeometry
from .ik import forward_kinematics

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as int64
_MIX_1 = -4658895280553007687  # 0xBF58476D1CE4E5B9
_MIX_2 = -7723592293110705685  # 0x94D049BB133111EB
_LAYOUTS = 64  # candidate ball layouts per episode; nearly every second one is valid


@dataclass(frozen=True)
class Episode:
    """Random part of a batch of episodes.

    Attributes:
        joint_pos: Joint positions at the start, (B, 3) float32, rad.
        balls: Ball centres in the order of `BALL_NAMES`, (B, 3, 2) float32, m, base frame.
        target: Index of the ball that the instruction names, (B,) int64.
    """

    joint_pos: torch.Tensor
    balls: torch.Tensor
    target: torch.Tensor


def uniform(key: int, env: torch.Tensor, episode: torch.Tensor, count: int) -> torch.Tensor:
    """Uniform numbers that depend only on their coordinates.

    The mixing function is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
    generators", OOPSLA 2014), applied once for each coordinate.

    Args:
        key: Any 63-bit integer.
        env: Environment indices, (B,) int64.
        episode: Episode numbers, (B,) int64.
        count: Numbers per row.

    Returns:
        Values in [0, 1), shape (B, count), float32, on the device of `env`.
    """
    state = _mix(torch.full_like(env, key) + _GOLDEN)
    state = _mix(state ^ (env * _GOLDEN))
    state = _mix(state ^ (episode * _MIX_1 + 1))
    index = torch.arange(1, count + 1, dtype=torch.int64, device=env.device)
    bits = _mix(state.unsqueeze(1) + index * _GOLDEN)
    return (_shift(bits, 40)).to(torch.float32) * 2.0**-24


def sample_episode(key: int, env: torch.Tensor, episode: torch.Tensor, geometry: TouchGeometry = GEOMETRY) -> Episode:
    """Draws start pose, ball layout and instruction of a batch of episodes.

    Balls are uniform over the reachable sector of an annulus, under the conditions of `valid_layouts`. The first of
    64 drawn layouts that satisfies them is used; should none do (less than 1 in 10^17), the one with most space
    between its balls.

    Args:
        key: Key of the sequence.
        env: Environment indices, (B,) int64.
        episode: Episode number of each environment, (B,) int64.
        geometry: Dimensions of the task.

    Returns:
        The episodes, on the device of `env`.
    """
    balls, rows = len(BALL_NAMES), env.shape[0]
    numbers = uniform(key, env, episode, 4 + _LAYOUTS * balls * 2)
    target = (numbers[:, 0] * balls).long().clamp(max=balls - 1)
    noise = (2.0 * numbers[:, 1:4] - 1.0) * geometry.home_noise
    joint_pos = numbers.new_tensor(geometry.home) + noise
    polar = numbers[:, 4:].reshape(rows, _LAYOUTS, balls, 2)
    inner, outer = geometry.ball_range
    radius = (inner**2 + polar[..., 0] * (outer**2 - inner**2)).sqrt()
    angle = (2.0 * polar[..., 1] - 1.0) * geometry.ball_angle
    layouts = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=-1)
    valid, spacing = valid_layouts(layouts, joint_pos, geometry)
    chosen = torch.where(valid.any(dim=1), valid.int().argmax(dim=1), spacing.argmax(dim=1))
    return Episode(joint_pos, layouts[torch.arange(rows, device=env.device), chosen], target)


def valid_layouts(
    layouts: torch.Tensor, joint_pos: torch.Tensor, geometry: TouchGeometry = GEOMETRY
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which ball layouts keep the balls apart from one another and from the fingertip at the start.

    Args:
        layouts: Ball centres, (B, N, 3, 2), m.
        joint_pos: Joint positions at the start, (B, 3), rad.
        geometry: Dimensions of the task.

    Returns:
        Validity, bool (B, N), and the smallest distance between two balls, (B, N), m.
    """
    gap = torch.cdist(layouts.flatten(0, 1), layouts.flatten(0, 1)).unflatten(0, layouts.shape[:2])
    gap = gap + 10.0 * torch.eye(layouts.shape[2], device=layouts.device)
    spacing = gap.flatten(2).amin(dim=-1)
    tip = forward_kinematics(joint_pos, geometry)
    start = (layouts - tip[:, None, None]).norm(dim=-1).amin(dim=-1)
    return (spacing >= geometry.ball_separation) & (start >= geometry.start_clearance), spacing


def _mix(value: torch.Tensor) -> torch.Tensor:
    """SplitMix64 finaliser on int64 (multiplication wraps)."""
    value = (value ^ _shift(value, 30)) * _MIX_1
    value = (value ^ _shift(value, 27)) * _MIX_2
    return value ^ _shift(value, 31)


def _shift(value: torch.Tensor, bits: int) -> torch.Tensor:
    """Logical (zero-filling) right shift of int64."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)
