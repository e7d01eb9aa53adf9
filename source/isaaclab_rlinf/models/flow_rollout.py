# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Exploration by the flow SDE, and its replay by the trainer; shared by our flow-matching policies.

In a rollout one denoising step per sample, drawn at random, is stochastic; the others are Euler steps. The decision
that PPO learns from is that step: its Normal gives the log-probability, per action element. Samples before and after
the step, and the noise level, are kept exactly as they are representable in the weights' dtype, so the trainer's
inputs equal the rollout's, bit for bit. The level is recorded because it may change from step to step
(``noise_anneal``), and a decision is replayed with the level it was made with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from isaaclab_rlinf.models.flow import flow_step, gaussian_entropy, gaussian_log_prob
from isaaclab_rlinf.models.rl_head import RLHeadConfig

Velocity = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""(sample (B, T, A), step index int64 (1,) or (B,)) -> velocity, float32 (B, T, A)."""
RECORD_KEYS = ("sample_before", "sample_after", "denoise_inds", "noise_level")


@dataclass(frozen=True)
class FlowSampler:
    """How chunks are drawn.

    Attributes:
        steps: Number of denoising steps.
        head: Noise settings.
        global_step: Training steps done, on which an annealed noise level depends.
    """

    steps: int
    head: RLHeadConfig
    global_step: int = 0

    def sample(
        self, velocity: Velocity, shape: tuple[int, int, int], device: torch.device, dtype: torch.dtype, explore: bool
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Integrate from noise (zeros, its mean, without exploration) to actions.

        Args:
            velocity: The model's velocity field.
            shape: (B, T, A).
            device: Where to compute.
            dtype: Dtype of the weights, to whose precision samples are rounded.
            explore: Whether to draw noise; otherwise nothing is random.

        Returns:
            Normalised actions, float32 (B, T, A), and the record of the stochastic step, empty without exploration:
            ``sample_before``, ``sample_after`` and ``logprobs`` (B, T, A), ``denoise_inds`` int64 (B,),
            ``noise_level`` (B,).
        """
        batch = shape[0]
        round_ = lambda tensor: tensor.to(dtype).float()  # noqa: E731
        sample = round_(torch.randn(shape, device=device)) if explore else torch.zeros(shape, device=device)
        chosen = self._draw_steps(batch, device) if explore else torch.full((batch,), -1, device=device)
        levels = round_(torch.full((batch,), self.head.noise_at(self.global_step), device=device))
        before, after, logprobs = (torch.zeros_like(sample) for _ in range(3))
        for index in range(self.steps):
            step = torch.full((1,), index, device=device)
            active = (chosen == index)[:, None, None]
            level = levels[:, None, None] * active
            mean, std = flow_step(sample, velocity(sample, step), step, self.steps, level)
            following = round_(mean + std * torch.randn_like(mean) if explore else mean)
            if explore:
                safe = torch.where(active, std, torch.ones_like(std))
                before = torch.where(active, sample, before)
                after = torch.where(active, following, after)
                logprobs = torch.where(active, gaussian_log_prob(following, mean, safe), logprobs)
            sample = following
        if not explore:
            return sample, {}
        return sample, {
            "sample_before": before,
            "sample_after": after,
            "denoise_inds": chosen,
            "noise_level": levels,
            "logprobs": logprobs,
        }

    def replay(self, velocity: Velocity, record: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities and entropies of recorded steps under the present weights.

        The noise does not depend on the weights, so the entropy is constant and has no gradient.

        Args:
            velocity: The model's velocity field.
            record: What :meth:`sample` recorded, by :data:`RECORD_KEYS`.

        Returns:
            Log-probabilities and entropies, float32 (B, T, A).
        """
        step = record["denoise_inds"]
        before, after = record["sample_before"].float(), record["sample_after"].float()
        mean, std = flow_step(before, velocity(before, step), step, self.steps, record["noise_level"].float())
        return gaussian_log_prob(after, mean, std), gaussian_entropy(std).expand_as(after)

    def _draw_steps(self, batch: int, device: torch.device) -> torch.Tensor:
        candidates = self.head.stochastic_steps or tuple(range(self.steps))
        return torch.tensor(candidates, device=device)[torch.randint(len(candidates), (batch,), device=device)]
