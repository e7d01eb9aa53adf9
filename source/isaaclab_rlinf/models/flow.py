# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Flow-matching mathematics that tiny_vla and GR00T share: pure functions on tensors.

Time runs from t = 0 (noise) to t = 1 (data); ``x_t = (1 - t) noise + t data`` and the velocity is ``data - noise``
(rectified flow, Liu et al. 2022). The stochastic step and the training-time distribution are the ones of GR00T in
RLinf, so what a user learns here about ``noise_level`` holds there too.
"""

from __future__ import annotations

import math

import torch


def sample_flow_time(count: int, generator: torch.Generator | None = None) -> torch.Tensor:
    """Draw training times, dense near the noise end.

    ``t = 0.999 (1 - u)`` with ``u ~ Beta(1.5, 1)``, as in GR00T N1 (arXiv 2503.14734, section 2.1) after pi0
    (arXiv 2410.24164, appendix B). Beta(1.5, 1) has the distribution function ``u^1.5``, hence ``u = r^(2/3)``.

    Args:
        count: Number of times.
        generator: Source of randomness; default torch's global one.

    Returns:
        float32 (count,) in [0, 0.999].
    """
    return 0.999 * (1.0 - torch.rand(count, generator=generator) ** (2.0 / 3.0))


def time_features(time: torch.Tensor, width: int) -> torch.Tensor:
    """Sinusoidal features of the flow time.

    Args:
        time: (B,) in [0, 1].
        width: Even number of features.

    Returns:
        float32 (B, width); wavelengths from 2 pi / 1000 to about 20 pi.
    """
    half = width // 2
    frequencies = 1000.0 * torch.exp(-math.log(10000.0) * torch.arange(half, device=time.device) / half)
    angles = time.float()[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def flow_step(
    sample: torch.Tensor, velocity: torch.Tensor, step: torch.Tensor, num_steps: int, noise_level: torch.Tensor | float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard deviation of one denoising step of the flow SDE.

    With ``d = 1 / num_steps``, ``t = step d``, predicted ends ``x0 = x - v t`` and ``x1 = x + v (1 - t)``:
    ``sigma = noise_level sqrt((1 - t) / max(t, d))``,
    ``mean = x0 (1 - (t + d) - sigma^2 d / (2 (1 - t))) + x1 (t + d)``, ``std = sqrt(d) sigma``
    (flow_sde of RLinf's GR00T policies; Flow-GRPO, arXiv 2505.05470). With ``noise_level`` 0 this is Euler's step.

    Args:
        sample: Current x (B, T, A).
        velocity: Predicted v (B, T, A).
        step: Step index, int64 (B,) or (1,), in [0, num_steps).
        num_steps: Number of denoising steps.
        noise_level: Scalar, or (B,) with 0 for the samples that take a deterministic step.

    Returns:
        Mean (B, T, A) and standard deviation (B or 1, 1, 1), float32.
    """
    delta = 1.0 / num_steps
    time = step.float()[:, None, None] * delta
    level = torch.as_tensor(noise_level, dtype=torch.float32, device=sample.device).reshape(-1, 1, 1)
    sigma = level * torch.sqrt((1.0 - time) / time.clamp(min=delta))
    start = sample - velocity * time
    end = sample + velocity * (1.0 - time)
    mean = start * (1.0 - (time + delta) - sigma**2 * delta / (2.0 * (1.0 - time))) + end * (time + delta)
    return mean, math.sqrt(delta) * sigma


def gaussian_log_prob(sample: torch.Tensor, mean: torch.Tensor, std: torch.Tensor) -> torch.Tensor:
    """Log-density of each element under ``Normal(mean, std)``; ``std`` must be positive and broadcastable."""
    return -0.5 * ((sample - mean) / std) ** 2 - torch.log(std) - 0.5 * math.log(2.0 * math.pi)


def gaussian_entropy(std: torch.Tensor) -> torch.Tensor:
    """Entropy of a Normal in nats, elementwise."""
    return 0.5 * math.log(2.0 * math.pi * math.e) + torch.log(std)
