# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The policy under test: how RLinf's workers call it, and where the checks put what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from .report import Finding

PREV_LOGPROB_TYPES = ("gr00t", "gr00t_n1d6", "gr00t_n1d7", "abot_m0")
"""Model types to which RLinf 0.3.0's actor passes `prev_logprobs`, and from whose output it takes them back."""


@dataclass(frozen=True)
class Rollout:
    """One call of `predict_action_batch` in train mode, as the actor gets it."""

    actions: torch.Tensor
    logprobs: torch.Tensor
    values: torch.Tensor | None
    forward_inputs: dict[str, torch.Tensor]


@dataclass
class Subject:
    """A check in progress."""

    policy: nn.Module
    env_obs: Mapping[str, Any]
    model_cfg: Mapping[str, Any]
    build: Callable[[], nn.Module] | None
    fsdp_config: Mapping[str, Any]
    sampling_params: Mapping[str, Any]
    exempt: frozenset[str]
    tolerance: float
    ranks: int
    timeout_s: float
    rollout: Rollout | None = None
    findings: list[Finding] = field(default_factory=list)
    exempted: list[Finding] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def fail(self, check: str, found: str, expected: str, fix: str, *, opt_out: str = "") -> None:
        """Record a departure; with an opt-out that was asked for, as excused."""
        finding = Finding(check, found, expected, fix)
        (self.exempted if opt_out in self.exempt else self.findings).append(finding)

    @property
    def model_type(self) -> str:
        """RLinf's model type, empty when it was not given."""
        return str(self.model_cfg.get("model_type", ""))

    @property
    def batch(self) -> int:
        """Number of environments in the observation."""
        return batch_size(self.env_obs)

    @property
    def chunk_shape(self) -> tuple[int, int, int]:
        """(B, T, A)."""
        return self.batch, int(self.model_cfg["num_action_chunks"]), int(self.model_cfg["action_dim"])

    @property
    def wants_value_head(self) -> bool:
        """Whether the configuration asks for a critic."""
        head = self.model_cfg.get("rl_head_config") or {}
        return bool(self.model_cfg.get("add_value_head", head.get("add_value_head", False)))

    def observation(self) -> dict[str, Any]:
        """Return a copy of the observation, which a policy may not change."""
        return {key: value.clone() if torch.is_tensor(value) else copy(value) for key, value in self.env_obs.items()}

    def predict(self, mode: str, env_obs: Mapping[str, Any] | None = None) -> Any:
        """Call the policy as our rollout worker does, in eval() mode and with gradients enabled."""
        self.policy.eval()
        with torch.enable_grad():
            return self.policy.predict_action_batch(
                env_obs=self.observation() if env_obs is None else env_obs, **self.sampling_params, mode=mode
            )

    def evaluate(
        self, rows: torch.Tensor | None = None, *, train: bool = False, policy: nn.Module | None = None
    ) -> dict[str, Any]:
        """Call the policy as RLinf's actor does, on some rows of the recorded rollout.

        Args:
            rows: Indices; None means all in order.
            train: Whether to put the policy in train() mode.
            policy: Another policy than the one under test.
        """
        policy = self.policy if policy is None else policy
        policy.train(train)
        rows = torch.arange(self.batch) if rows is None else rows
        return trainer_forward(policy, **self.trainer_inputs(rows), compute_values=self.has_critic)

    def trainer_inputs(self, rows: torch.Tensor) -> dict[str, Any]:
        """Return keyword arguments for :func:`trainer_forward`: rows of the recorded rollout."""
        inputs = {"forward_inputs": {key: value[rows] for key, value in self.rollout.forward_inputs.items()}}
        if self.model_type in PREV_LOGPROB_TYPES:
            inputs["prev_logprobs"] = self.rollout.logprobs[rows]
        return inputs

    @property
    def has_critic(self) -> bool:
        """Whether there are values to compute."""
        return self.rollout is not None and self.rollout.values is not None and self.wants_value_head

    def reference(self, output: Mapping[str, Any], rows: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities that the actor compares an output's with."""
        if self.model_type in PREV_LOGPROB_TYPES and torch.is_tensor(output.get("prev_logprobs")):
            return output["prev_logprobs"].detach().cpu()
        return self.rollout.logprobs[rows]


def batch_size(env_obs: Mapping[str, Any]) -> int:
    """Return the number of environments in an observation.

    Raises:
        ValueError: If the observation has neither tensors nor instructions, or they disagree.
    """
    sizes = {key: len(value) for key, value in env_obs.items() if value is not None}
    if len(set(sizes.values())) != 1:
        raise ValueError(f"env_obs must have one batch size, found {sizes or 'nothing'}; see example_env_obs()")
    return next(iter(sizes.values()))


def trainer_forward(
    policy: nn.Module,
    forward_inputs: Mapping[str, torch.Tensor],
    prev_logprobs: torch.Tensor | None = None,
    compute_values: bool = True,
) -> dict[str, Any]:
    """Call a policy as RLinf 0.3.0's actor does (fsdp_actor_worker.py, PPO micro-batch).

    Args:
        policy: Plain or sharded.
        forward_inputs: Batch-first tensors; moved to the policy's device.
        prev_logprobs: Passed on when given, which RLinf does for :data:`PREV_LOGPROB_TYPES`.
        compute_values: Whether there is a critic.
    """
    device = next(policy.parameters()).device
    extra = {} if prev_logprobs is None else {"prev_logprobs": prev_logprobs.to(device)}
    return policy(
        forward_inputs={key: value.to(device) for key, value in forward_inputs.items()},
        compute_logprobs=True,
        compute_entropy=False,
        compute_values=compute_values,
        use_cache=False,
        **extra,
    )


def loss_of(output: Mapping[str, Any]) -> torch.Tensor:
    """Return a scalar whose gradient reaches everything that PPO trains: the mean over samples of summed outputs."""
    batch = output["logprobs"].shape[0]
    total = output["logprobs"].float().sum()
    if output.get("values") is not None:
        total = total + output["values"].float().sum()
    return total / batch
