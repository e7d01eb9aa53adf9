# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Episode metrics: success, return and length of each environment's episode, latched before the simulator resets it."""

from __future__ import annotations

import torch

METRIC_DTYPES: dict[str, torch.dtype] = {
    "success_once": torch.bool,
    "success_at_end": torch.bool,
    "return": torch.float32,
    "episode_len": torch.int64,
    "instruction": torch.int64,
}
"""Name and dtype of each per-environment metric."""


class EpisodeMetrics:
    """Running metrics of the present episode of each of B environments.

    The values of an episode stay readable after it ended, until :meth:`begin` starts the next one.
    """

    def __init__(self, num_envs: int, device: torch.device | str = "cpu") -> None:
        """Starts with B empty episodes on ``device``."""
        self.values = {name: torch.zeros(num_envs, dtype=dtype, device=device) for name, dtype in METRIC_DTYPES.items()}

    def begin(self, env_mask: torch.Tensor, instruction: torch.Tensor) -> None:
        """Starts a new episode.

        Args:
            env_mask: (B,) bool, environments whose episode begins.
            instruction: (B,) int64, the instruction each environment shows now.
        """
        for name, value in self.values.items():
            if name == "instruction":
                value[env_mask] = instruction.to(value.device)[env_mask]
            else:
                value[env_mask] = 0

    def record(self, active: torch.Tensor, reward: torch.Tensor, success: torch.Tensor) -> None:
        """Adds one step of the environments in ``active`` (B,) bool.

        Args:
            active: Environments whose episode this step belongs to.
            reward: (B,) reward of the step.
            success: (B,) bool, whether the success condition holds after the step.
        """
        self.values["return"] += torch.where(active, reward, torch.zeros_like(reward))
        self.values["episode_len"] += active
        self.values["success_once"] |= success & active
        self.values["success_at_end"] = torch.where(active, success, self.values["success_at_end"])
