# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What is random in an episode depends on key, environment and episode number, and on nothing else."""

import math

import torch

from isaaclab_rlinf.tasks.touch_color.geometry import GEOMETRY
from isaaclab_rlinf.tasks.touch_color.ik import forward_kinematics
from isaaclab_rlinf.tasks.touch_color.sampling import sample_episode, uniform

ENVS = torch.arange(3000)
FIRST = torch.zeros(3000, dtype=torch.long)


def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    return abs(float(torch.corrcoef(torch.stack([a, b]))[0, 1]))


def test_uniform_is_uniform_and_uncorrelated():
    numbers = uniform(5, ENVS, FIRST, 20)
    assert float(numbers.min()) >= 0.0
    assert float(numbers.max()) < 1.0
    histogram = torch.histc(numbers, bins=20, min=0.0, max=1.0) / numbers.numel()
    assert float((histogram - 0.05).abs().max()) < 0.005
    columns = torch.corrcoef(numbers.T) - torch.eye(20)
    assert float(columns.abs().max()) < 0.1
    assert correlation(numbers[:-1, 0], numbers[1:, 0]) < 0.08
    assert correlation(numbers[:, 0], uniform(5, ENVS, FIRST + 1, 1)[:, 0]) < 0.08
    assert correlation(numbers[:, 0], uniform(6, ENVS, FIRST, 1)[:, 0]) < 0.08


def test_an_episode_does_not_depend_on_the_batch_that_it_is_drawn_in():
    all_envs = sample_episode(9, ENVS, FIRST + 4)
    some = torch.tensor([17, 3, 2999])
    alone = sample_episode(9, some, torch.full((3,), 4))
    for name in ("joint_pos", "balls", "target"):
        assert torch.equal(getattr(alone, name), getattr(all_envs, name)[some])


def test_key_environment_and_episode_all_matter():
    base = sample_episode(9, ENVS, FIRST).balls
    for other in (
        sample_episode(10, ENVS, FIRST).balls,
        sample_episode(9, ENVS + 1, FIRST).balls,
        sample_episode(9, ENVS, FIRST + 1).balls,
    ):
        assert float((base == other).float().mean()) < 0.01


def test_layouts_satisfy_their_conditions_and_targets_are_balanced():
    episode = sample_episode(1, ENVS, FIRST)
    radius, angle = episode.balls.norm(dim=-1), torch.atan2(episode.balls[..., 1], episode.balls[..., 0])
    assert bool(((radius >= GEOMETRY.ball_range[0] - 1e-5) & (radius <= GEOMETRY.ball_range[1] + 1e-5)).all())
    assert bool((angle.abs() <= GEOMETRY.ball_angle + 1e-5).all())
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert float((episode.balls[:, a] - episode.balls[:, b]).norm(dim=-1).min()) >= GEOMETRY.ball_separation - 1e-4
    tip = forward_kinematics(episode.joint_pos)
    assert float((episode.balls - tip.unsqueeze(1)).norm(dim=-1).min()) >= GEOMETRY.start_clearance - 1e-4
    assert float((episode.joint_pos - torch.tensor(GEOMETRY.home)).abs().max()) <= GEOMETRY.home_noise + 1e-6
    shares = torch.bincount(episode.target, minlength=3) / len(ENVS)
    assert float((shares - 1 / 3).abs().max()) < 0.03


def test_positions_spread_over_the_whole_sector():
    balls = sample_episode(2, ENVS, FIRST).balls.reshape(-1, 2)
    angle = torch.atan2(balls[:, 1], balls[:, 0])
    shares = torch.histc(angle, bins=6, min=-math.pi / 2, max=math.pi / 2) / len(angle)
    assert float(shares.min()) > 0.13
