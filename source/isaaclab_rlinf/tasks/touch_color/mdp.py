# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Observation, reward and termination terms of the touch-colour task: plain functions on the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from isaaclab.managers import SceneEntityCfg

from .commands import TouchGoal

if TYPE_CHECKING:
    # a quarter of the stack; the driver reads this module only for the names in the env cfg
    from isaaclab.envs import ManagerBasedRLEnv


def goal(env: ManagerBasedRLEnv) -> TouchGoal:
    """The command term that holds balls, instruction and touches.

    Args:
        env: The touch-colour environment.

    Returns:
        The term.
    """
    return env.command_manager.get_term("goal")


def instruction(env: ManagerBasedRLEnv) -> torch.Tensor:
    """Index of the environment's instruction in ``cfg.instructions``, (N, 1) float32."""
    return goal(env).command


def joint_pos(env: ManagerBasedRLEnv) -> torch.Tensor:
    """Joint positions in the order joint_1, joint_2, joint_3, (N, 3) float32, rad."""
    return env.scene["arm"].data.joint_pos.torch.clone()


def joint_vel(env: ManagerBasedRLEnv) -> torch.Tensor:
    """Joint velocities, (N, 3) float32, rad/s."""
    return env.scene["arm"].data.joint_vel.torch.clone()


def camera_rgb(env: ManagerBasedRLEnv, sensor_cfg: SceneEntityCfg) -> torch.Tensor:
    """Image of a camera as of now, (N, H, W, 3) uint8. Reading it renders, if the camera's buffer is outdated."""
    return env.scene.sensors[sensor_cfg.name].data.output["rgb"].torch[..., :3].clone()


def success(env: ManagerBasedRLEnv) -> torch.Tensor:
    """Whether the fingertip touched the named ball in this step, before any other, bool (N,)."""
    return goal(env).touched() == goal(env).target


def wrong_ball(env: ManagerBasedRLEnv) -> torch.Tensor:
    """Whether the fingertip touched another ball in this step, before the named one, bool (N,)."""
    touched = goal(env).touched()
    return (touched >= 0) & (touched != goal(env).target)


def success_reward(env: ManagerBasedRLEnv) -> torch.Tensor:
    """1 / step_dt in the step of success, else 0, (N,) float32.

    Isaac Lab multiplies each reward term by the step duration; the division makes the episode's total equal the
    term's weight.
    """
    return success(env).float() / env.step_dt


def wrong_ball_reward(env: ManagerBasedRLEnv) -> torch.Tensor:
    """1 / step_dt in the step in which a wrong ball is touched, else 0, (N,) float32; give it a negative weight."""
    return wrong_ball(env).float() / env.step_dt


def progress_reward(env: ManagerBasedRLEnv, gamma: float = 1.0) -> torch.Tensor:
    """Potential-based shaping towards the named ball (Ng, Harada, Russell: ICML 1999), (N,) float32.

    The potential is minus the distance fingertip to ball centre (m); the term gives gamma * after - before, divided
    by step_dt as in `success_reward`. With gamma 1 an episode's total is the weight times the distance gained (m).

    Args:
        env: The touch-colour environment.
        gamma: Discount factor of the learner.

    Returns:
        The reward.
    """
    term = goal(env)
    term.touched()  # brings the distances up to date
    return (term.previous_distance - gamma * term.distance) / env.step_dt
