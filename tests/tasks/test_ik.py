# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Kinematics and path choice of the scripted expert, without a simulator."""

import math

import pytest
import torch

from isaaclab_rlinf.tasks.touch_color.geometry import GEOMETRY
from isaaclab_rlinf.tasks.touch_color.ik import (
    candidates,
    forward_kinematics,
    inverse_kinematics,
    path_clearance,
    plan,
)
from isaaclab_rlinf.tasks.touch_color.sampling import Episode, sample_episode

SPEED = 0.1


def episodes(count: int, key: int = 11) -> Episode:
    return sample_episode(key, torch.arange(count), torch.zeros(count, dtype=torch.long))


def split(episode: Episode) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.arange(len(episode.target))
    others = (episode.target.unsqueeze(1) + torch.tensor([1, 2])) % 3
    return episode.balls[rows, episode.target], episode.balls[rows.unsqueeze(1), others]


def test_forward_kinematics_of_known_poses():
    reach = sum(GEOMETRY.link_lengths)
    poses = torch.tensor([[0.0, 0.0, 0.0], [math.pi / 2, 0.0, 0.0], [0.0, math.pi / 2, 0.0]])
    l1, l2, l3 = GEOMETRY.link_lengths
    expected = torch.tensor([[reach, 0.0], [0.0, reach], [l1, l2 + l3]])
    torch.testing.assert_close(forward_kinematics(poses), expected, atol=1e-6, rtol=0.0)


def test_inverse_kinematics_inverts_forward_kinematics():
    generator = torch.Generator().manual_seed(0)
    joints = (torch.rand(500, 3, generator=generator) * 2 - 1) * torch.tensor(GEOMETRY.joint_upper)
    tip = forward_kinematics(joints)
    solutions, valid = inverse_kinematics(tip, joints.sum(dim=1))
    torch.testing.assert_close(forward_kinematics(solutions), tip.unsqueeze(1).expand(-1, 2, -1), atol=2e-4, rtol=0)
    own = (solutions - joints.unsqueeze(1)).abs().amax(dim=-1) < 1e-2
    assert float((own & valid).any(dim=1).float().mean()) > 0.98  # the rest is at the singular, straight elbow
    assert bool((solutions[:, 0, 1] >= 0).all())
    assert bool((solutions[:, 1, 1] <= 0).all())


def test_candidates_respect_the_joint_limits_and_cover_the_workspace():
    target, _ = split(episodes(1000))
    joints, valid = candidates(target)
    limit = torch.tensor(GEOMETRY.joint_upper)
    assert bool((joints[valid].abs() <= limit).all())
    assert bool(valid.any(dim=1).all())
    tip = forward_kinematics(joints[valid])
    wanted = target.unsqueeze(1).expand(-1, joints.shape[1], -1)[valid]
    torch.testing.assert_close(tip, wanted, atol=2e-4, rtol=0)


def test_clearance_is_negative_exactly_when_a_ball_is_touched_before_the_target():
    start, goal = torch.tensor([[-1.0, 0.0, 0.0]]), torch.tensor([[[1.0, 0.0, 0.0]]])
    reach = sum(GEOMETRY.link_lengths)

    def at(angle: float) -> torch.Tensor:
        return reach * torch.tensor([math.cos(angle), math.sin(angle)])

    far = at(0.9).unsqueeze(0)
    blocked = path_clearance(start, goal, far, at(0.0)[None, None])
    behind = path_clearance(start, goal, at(0.0).unsqueeze(0), far.unsqueeze(1))
    torch.testing.assert_close(blocked, torch.tensor([[-GEOMETRY.touch_distance]]), atol=1e-5, rtol=0)
    assert float(behind) > 0.1


def test_plan_reaches_the_named_ball_past_the_others():
    episode = episodes(2000)
    target, others = split(episode)
    goal, clear = plan(episode.joint_pos, target, others, SPEED)
    torch.testing.assert_close(forward_kinematics(goal), target, atol=2e-4, rtol=0)
    assert float(clear.float().mean()) >= 0.98


def test_plan_takes_a_detour_when_the_quickest_way_is_blocked():
    episode = episodes(2000)
    target, others = split(episode)
    quickest, _ = plan(episode.joint_pos, target, torch.full_like(others, 10.0), SPEED)
    blocked = path_clearance(episode.joint_pos, quickest.unsqueeze(1), target, others).squeeze(1) < 0
    _, clear = plan(episode.joint_pos, target, others, SPEED)
    assert int(blocked.sum()) > 20
    assert float(clear[blocked].float().mean()) > 0.8


def test_replanning_on_the_way_keeps_the_goal_or_finds_a_better_one():
    episode = episodes(500)
    target, others = split(episode)
    goal, clear = plan(episode.joint_pos, target, others, SPEED)
    for fraction in (0.25, 0.5, 0.75):
        now = torch.lerp(episode.joint_pos, goal, fraction)
        again, still_clear = plan(now, target, others, SPEED)
        assert float(((again - goal).abs().amax(dim=1) < 1e-3).float().mean()) > 0.94
        assert bool((still_clear | ~clear).all())


def test_target_out_of_reach_is_an_error_that_names_it():
    far = torch.tensor([[0.4, 0.0], [0.9, 0.1]])
    with pytest.raises(ValueError, match=r"0\.9.*row 1.*out of the arm's reach"):
        plan(torch.zeros(2, 3), far, torch.full((2, 2, 2), 5.0), SPEED)
