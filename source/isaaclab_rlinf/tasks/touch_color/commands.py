# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The goal of an episode: what is drawn at a reset, and which ball the fingertip has touched.

One command term owns both, because reward, termination, observation and expert must agree on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from isaaclab.managers import CommandTerm, CommandTermCfg
from isaaclab.utils import configclass

from .geometry import BALL_NAMES, GEOMETRY
from .ik import forward_kinematics
from .sampling import sample_episode

if TYPE_CHECKING:
    # a quarter of the stack; the driver reads this module only for the names in the env cfg
    from isaaclab.envs import ManagerBasedRLEnv

_SWEEP_SAMPLES = 8  # points tested between two steps; the fastest fingertip moves 2.5 cm from one to the next


class TouchGoal(CommandTerm):
    """Draws each episode's start pose, ball layout and instruction, and detects touches.

    Attributes:
        balls: Ball centres in the environment frame, ordered as `BALL_NAMES`, (N, 3, 2) float32, m.
        target: Index of the ball that the instruction names, (N,) int64.
        episode: Number of the episode since the last reset of all environments, (N,) int64.
        tip: Fingertip position in the environment frame, (N, 2) float32, m; as of the last reset or step.
        distance: Distance fingertip to the named ball's centre, (N,) float32, m.
        previous_distance: The same one step earlier (at the reset: equal to `distance`).
    """

    cfg: TouchGoalCfg

    def __init__(self, cfg: TouchGoalCfg, env: ManagerBasedRLEnv) -> None:
        """Allocates the buffers.

        Args:
            cfg: The term's configuration.
            env: The environment.

        Raises:
            ValueError: If the environment configuration does not have one instruction for each ball.
        """
        super().__init__(cfg, env)
        if len(env.cfg.instructions) != len(BALL_NAMES):
            raise ValueError(
                f"cfg.instructions has {len(env.cfg.instructions)} entries; the task needs {len(BALL_NAMES)}, "
                f"one for each ball in the order {BALL_NAMES}."
            )
        self._arm = env.scene["arm"]
        self._ball_assets = [env.scene[f"ball_{name}"] for name in BALL_NAMES]
        self.balls = torch.zeros(self.num_envs, len(BALL_NAMES), 2, device=self.device)
        self.target = torch.zeros(self.num_envs, dtype=torch.long, device=self.device)
        self.episode = torch.zeros(self.num_envs, dtype=torch.long, device=self.device)
        self.tip = torch.zeros(self.num_envs, 2, device=self.device)
        self.distance = torch.zeros(self.num_envs, device=self.device)
        self.previous_distance = torch.zeros(self.num_envs, device=self.device)
        self._touched = torch.full((self.num_envs,), -1, dtype=torch.long, device=self.device)
        self._key = 0
        self._last_update = -1

    @property
    def command(self) -> torch.Tensor:
        """Index of the instruction, (N, 1) float32."""
        return self.target.unsqueeze(1).float()

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Starts new episodes.

        A reset of all environments (``env.reset()``, with or without a seed) draws a new key from torch's seeded
        CPU generator and starts every environment's sequence of episodes anew; any other reset goes on in the
        sequences of the environments concerned.

        Args:
            env_ids: Environments to reset; all if None or a slice over all.

        Returns:
            Metrics to log (none).
        """
        if env_ids is None or (isinstance(env_ids, slice) and env_ids == slice(None)):
            self._key = int(torch.randint(2**62, (1,)))
            self.episode.fill_(-1)
            env_ids = slice(None)
        return super().reset(env_ids)

    def touched(self) -> torch.Tensor:
        """Ball that the fingertip met first on its way through the last step.

        The way is the straight line between the fingertip's positions before and after the step, so that a fast
        fingertip cannot pass through a ball unnoticed.

        Returns:
            Index into `BALL_NAMES`, or -1 for none, (N,) int64.
        """
        if self._last_update != self._env.common_step_counter:
            self._last_update = self._env.common_step_counter
            self._update_touch()
        return self._touched

    def _update_touch(self) -> None:
        tip = forward_kinematics(self._arm.data.joint_pos.torch)
        fractions = torch.linspace(1.0 / _SWEEP_SAMPLES, 1.0, _SWEEP_SAMPLES, device=self.device)
        way = self.tip.unsqueeze(1) + fractions[None, :, None] * (tip - self.tip).unsqueeze(1)
        inside = torch.cdist(way, self.balls) <= GEOMETRY.touch_distance
        first = torch.where(inside.any(dim=1), inside.int().argmax(dim=1), _SWEEP_SAMPLES)
        when, which = first.min(dim=1)
        self._touched = torch.where(when < _SWEEP_SAMPLES, which, -1)
        self.tip = tip
        self.previous_distance = self.distance
        self.distance = self._target_distance()

    def _target_distance(self) -> torch.Tensor:
        rows = torch.arange(self.num_envs, device=self.device)
        return (self.balls[rows, self.target] - self.tip).norm(dim=-1)

    def _resample_command(self, env_ids: torch.Tensor | slice) -> None:
        ids = torch.arange(self.num_envs, device=self.device)[env_ids].long()
        self.episode[ids] += 1
        drawn = sample_episode(self._key, ids, self.episode[ids])
        self.target[ids], self.balls[ids] = drawn.target, drawn.balls
        self._arm.write_joint_state_to_sim_index(
            position=drawn.joint_pos, velocity=torch.zeros_like(drawn.joint_pos), env_ids=ids.int()
        )
        for index, ball in enumerate(self._ball_assets):
            pose = torch.zeros(len(ids), 7, device=self.device)
            pose[:, :2], pose[:, 2], pose[:, 6] = drawn.balls[:, index], GEOMETRY.ball_height, 1.0
            pose[:, :3] += self._env.scene.env_origins[ids]
            ball.write_root_pose_to_sim_index(root_pose=pose, env_ids=ids.int())
        self.tip[ids] = forward_kinematics(drawn.joint_pos)
        self.distance[ids] = self._target_distance()[ids]
        self.previous_distance[ids] = self.distance[ids]
        self._touched[ids] = -1

    def _update_command(self) -> None:
        """Nothing changes within an episode."""

    def _update_metrics(self) -> None:
        """There are no running metrics."""


@configclass
class TouchGoalCfg(CommandTermCfg):
    """Configuration of `TouchGoal`; the goal changes at resets only."""

    class_type: type = TouchGoal
    resampling_time_range: tuple[float, float] = (1.0e9, 1.0e9)
