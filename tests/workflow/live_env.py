# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A simulator whose observations are its own live buffers, as a direct-workflow task's are on a CPU."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import torch

from isaaclab_rlinf.config.schema import ActionMapping, IsaacLabBlock, StateSpec, TaskDescription
from isaaclab_rlinf.env.protocol import SimulatorSpec, StepResult
from isaaclab_rlinf.mapping.actions import ActionTermInfo
from isaaclab_rlinf.mapping.layout import describe_observations

STEPS, SIZE = 4, 16
"""Steps of an episode; pixels of an image."""


class LiveEnv:
    """Every step paints the same tensors anew; the moment (environment, episode, step) is in picture and state."""

    step_seconds, instructions, notices = 0.05, None, ("a notice of the task",)
    device = torch.device("cpu")

    def __init__(self, num_envs: int, width: int = 2, kinds: str = "success") -> None:
        self.num_envs, self.kinds = num_envs, kinds
        self.action_terms = (ActionTermInfo("joints", width),)
        self.moment = torch.zeros(num_envs, 3)
        self.moment[:, 0] = torch.arange(num_envs)
        self.front = torch.zeros(num_envs, SIZE, SIZE, 3, dtype=torch.uint8)
        self.side = torch.zeros(num_envs, SIZE, SIZE, 4, dtype=torch.uint8)
        self.executed: list[torch.Tensor] = []

    @property
    def unwrapped(self) -> LiveEnv:
        return self

    def layout(self, observation: Any):
        return describe_observations(observation)

    def _observe(self):
        self.front[:] = (10 * self.moment)[:, None, None, :].to(torch.uint8)
        self.side[..., :3] = 255 - self.front
        return {"policy": self.moment, "front": self.front, "side": self.side}

    def reset(self, seed=None):
        self.moment[:, 1:] = 0
        return self._observe()

    def step(self, actions, *, render, active, restart=None, final="truncated") -> StepResult:
        self.executed.append(actions.clone())
        self.moment[:, 2] += 1
        over = self.moment[:, 2] >= STEPS
        self.moment[over, 1] += 1
        self.moment[over, 2] = 0
        none = torch.zeros_like(over)
        return StepResult(self._observe(), over.float(), over, none, over.clone() if self.kinds == "success" else none)


def expert(env: LiveEnv, horizon: int) -> torch.Tensor:
    """The moment, as an action of the environment; the columns beyond it are 7."""
    width = sum(term.width for term in env.action_terms)
    actions = torch.full((env.num_envs, horizon, width), 7.0)
    actions[:, :, :2] = env.moment[:, None, 1:]
    return actions


def make_spec(num_envs: int = 2, mapping: ActionMapping = ActionMapping()) -> SimulatorSpec:  # noqa: B008  frozen
    block = IsaacLabBlock(
        TaskDescription(text="touch the ball"),
        main_images="front",
        extra_view_images=("side",),
        states=(StateSpec("policy"),),
        action_mapping=mapping,
    )
    return SimulatorSpec("Live-v0", num_envs, seed=0, device="cpu", block=block, chunk_length=1)


def opened(env: LiveEnv):
    """Return a stand-in of ``open_isaac_env`` that gives this environment."""

    @contextmanager
    def open_env(spec, report):
        yield env

    return open_env
