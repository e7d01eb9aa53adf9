# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import math

import pytest
import torch

from isaaclab_rlinf.models.flow import flow_step, gaussian_entropy, gaussian_log_prob, sample_flow_time


def test_step_without_noise_is_eulers():
    sample, velocity = torch.randn(2, 5, 8, 3)
    for index in range(4):
        mean, std = flow_step(sample, velocity, torch.tensor([index]), 4, 0.0)
        assert torch.allclose(mean, sample + velocity / 4, atol=1e-6)
        assert std.abs().max() == 0


def test_standard_deviations_follow_the_documented_formula():
    zeros = torch.zeros(4, 1, 1)
    _, std = flow_step(zeros, zeros, torch.arange(4), 4, 1.0)
    assert torch.allclose(std.flatten(), torch.tensor([1.0, math.sqrt(3) / 2, 0.5, 1 / math.sqrt(12)]), atol=1e-6)


def test_stochastic_steps_keep_the_marginal_of_the_flow():
    """For data that is all at one point the exact velocity is known; the SDE must keep its spread."""
    torch.manual_seed(0)
    steps, target = 200, 0.7
    sample = torch.randn(20_000, 1, 1)
    for index in range(steps // 2):
        velocity = (target - sample) / (1 - index / steps)
        mean, std = flow_step(sample, velocity, torch.tensor([index]), steps, 0.5)
        sample = mean + std * torch.randn_like(mean)
    assert sample.mean().item() == pytest.approx(0.5 * target, abs=0.02)
    assert sample.std().item() == pytest.approx(0.5, abs=0.02)


def test_log_prob_and_entropy_are_the_normals():
    sample, mean = torch.randn(2, 4, 3)
    std = torch.rand(4, 1) + 0.1
    normal = torch.distributions.Normal(mean, std.expand(4, 3))
    assert torch.allclose(gaussian_log_prob(sample, mean, std), normal.log_prob(sample), atol=1e-5)
    assert torch.allclose(gaussian_entropy(std).expand(4, 3), normal.entropy(), atol=1e-6)


def test_training_times_have_the_beta_distribution():
    times = sample_flow_time(50_000, torch.Generator().manual_seed(0))
    assert times.min() >= 0 and times.max() <= 0.999
    # The mean of Beta(1.5, 1) is 0.6.
    assert times.mean().item() == pytest.approx(0.999 * 0.4, abs=0.005)
