# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Isaac Lab's environments behind :class:`.protocol.SteppableEnv`: manager-based and direct workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch

from isaaclab_rlinf.compat.isaaclab_actions import HoldPoseError, action_terms, pose_holder
from isaaclab_rlinf.compat.isaaclab_dones import hook_direct_dones, hook_manager_dones
from isaaclab_rlinf.compat.isaaclab_observations import (
    CameraGate,
    install_camera_gate,
    term_columns,
    why_rendered_always,
)
from isaaclab_rlinf.compat.newton_cameras import install_world_selection
from isaaclab_rlinf.env.protocol import FinalObservation, StepResult
from isaaclab_rlinf.env.success import SuccessReader
from isaaclab_rlinf.env.time_outs import TimeOutWatch, decided_time_outs
from isaaclab_rlinf.env.viewer import find_viewer_camera
from isaaclab_rlinf.mapping.actions import ActionTermInfo
from isaaclab_rlinf.mapping.layout import ObservationLayout, RawObs, describe_observations

if TYPE_CHECKING:
    from isaaclab_rlinf.env.protocol import SimulatorSpec


class IsaacEnv:
    """A live Isaac Lab environment, stepped with control over resets, rendering and final observations."""

    def __init__(self, env: Any, spec: SimulatorSpec) -> None:
        """Hooks into ``env`` (unwrapped).

        Raises:
            HoldPoseError: If the YAML asks to hold poses and the task's actions do not allow it.
            MappingError: If the YAML's success condition does not exist.
        """
        self._env, self._spec = env, spec
        self.managed = hasattr(env, "termination_manager")
        self.num_envs: int = env.num_envs
        self.device = torch.device(env.device)
        self.step_seconds = float(env.step_dt)
        self.max_episode_steps = min(spec.max_episode_steps or env.max_episode_length, env.max_episode_length)
        self.instructions = getattr(env.cfg, "instructions", None)
        self.action_terms = action_terms(env) if self.managed else _direct_action_terms(env)
        notices = []
        if spec.max_episode_steps and spec.max_episode_steps > env.max_episode_length:
            notices.append(
                f"max_episode_steps is {spec.max_episode_steps}, but the task's own time-out ends an episode after "
                f"{env.max_episode_length} steps."
            )
        if spec.auto_reset and self.max_episode_steps % spec.chunk_length:
            better = max(1, self.max_episode_steps // spec.chunk_length) * spec.chunk_length
            notices.append(
                f"an episode of {self.max_episode_steps} steps does not end at a chunk boundary (chunk "
                f"{spec.chunk_length}): time-outs then cost extra rendering. max_episode_steps {better} avoids it."
            )
        notices.extend(_render_after_resets(env))
        decided = decided_time_outs(key for key, _ in spec.env_overrides)
        self._success = SuccessReader(env, spec.block.success, notices, decided)
        self._selection = install_world_selection(env)
        self._gate = self._install_gate(notices)
        self._viewer = find_viewer_camera(env, spec.video, self._selection)
        self.viewed = self._viewer.count if self._viewer is not None else 0
        self._hold = pose_holder(env) if spec.block.hold_pose_on_midchunk_reset else None
        self.notices = tuple(notices)
        told = spec.ignore_terminations or bool(decided)
        self._watch = None if told else TimeOutWatch(int(env.max_episode_length))
        (hook_manager_dones if self.managed else hook_direct_dones)(env, self._decide_resets)
        self._request = _Request(torch.ones(self.num_envs, dtype=torch.bool, device=self.device))

    @property
    def unwrapped(self) -> Any:
        """Isaac Lab's environment itself, for scripted experts that read privileged state."""
        return self._env

    @property
    def can_skip_rendering(self) -> bool:
        """Whether ``render=False`` saves anything."""
        return self._gate is not None

    def layout(self, observation: RawObs) -> ObservationLayout:
        """Describes an observation, with the named terms of concatenated groups."""
        columns = term_columns(self._env.observation_manager) if self.managed else None
        return describe_observations(observation, columns)

    def reset(self, seed: int | None = None) -> RawObs:
        """Resets all environments; ``seed`` also seeds torch, numpy, random and warp in this process."""
        if self._gate is not None:
            self._gate.open = self._gate.open_for_final
        observation, _ = self._env.reset(seed=seed)
        return observation

    def step(
        self,
        actions: torch.Tensor,
        *,
        render: bool,
        active: torch.Tensor,
        restart: torch.Tensor | None = None,
        final: FinalObservation | Literal["none"] = "truncated",
        pictures: bool = False,
    ) -> StepResult:
        """Applies one action; see :class:`.protocol.SteppableEnv`."""
        env = self._env
        self._request = _Request(active, restart, final, pictures)
        if self._gate is not None:
            self._gate.open = render and self._gate.open_for_final
            if getattr(env, "has_rtx_sensors", False):
                env.render_enabled = render or pictures or self._may_need_final_images(final)
        env.extras.pop("final_obs", None)
        observation, reward, _, _, extras = env.step(actions)
        request = self._request
        return StepResult(
            observation=observation,
            reward=reward.clone(),
            terminated=request.terminated,
            truncated=request.truncated,
            success=self._success.read(reward, request.task_terminated),
            final_observation=extras.get("final_obs") if env.cfg.compute_final_obs else None,
            pictures=request.taken,
        )

    def pictures(self) -> torch.Tensor | None:
        """Returns the viewer camera's pictures as of now, None without one."""
        return self._viewer.read() if self._viewer is not None else None

    def hold_actions(self) -> torch.Tensor:
        """Returns the actions that keep the present joint positions."""
        if self._hold is None:
            raise HoldPoseError("holding poses was not asked for (hold_pose_on_midchunk_reset)")
        return self._hold()

    def restart_clock(self, env_mask: torch.Tensor) -> None:
        """Sets the episode clock of these environments to zero."""
        self._env.episode_length_buf[env_mask] = 0

    def _install_gate(self, notices: list[str]) -> CameraGate | None:
        block = self._spec.block
        if self.managed and block.camera_group not in self._env.observation_manager.active_terms:
            return None
        reason = (
            why_rendered_always(self._env.observation_manager, block.camera_group, block.policy_group)
            if self.managed
            else "a direct-workflow task computes all its observations in one function"
        )
        if reason is not None:
            if block.render_every_action:
                return None
            notices.append(f"Cameras are rendered for every action: {reason}.")
            return None
        gate = install_camera_gate(self._env.observation_manager, block.camera_group, self._selection)
        gate.open_for_final = bool(block.cameras)  # A task's cameras that nobody reads are never rendered.
        return gate

    def _decide_resets(self, terminated: torch.Tensor, truncated: torch.Tensor) -> torch.Tensor:
        """Runs inside ``env.step()`` between the dones and the reset; returns which environments to reset."""
        request = self._request
        request.task_terminated = terminated.clone()
        notice = self._watch and self._watch.observe(self._env.episode_length_buf, terminated, truncated)
        if notice:
            self.notices += (notice,)
        clock = self._env.episode_length_buf >= self.max_episode_steps
        request.terminated = torch.zeros_like(terminated) if self._spec.ignore_terminations else terminated.clone()
        request.truncated = (truncated | clock) & ~request.terminated
        ended = request.terminated | request.truncated
        wanted = {"done": ended, "truncated": request.truncated}.get(request.final)
        self._env.cfg.compute_final_obs = wanted is not None and bool((wanted & request.active).any())
        if self._gate is not None:
            self._gate.final_rows = wanted
        if request.pictures:
            request.taken = self.pictures()
        return ended if request.restart is None else ended | request.restart

    def _may_need_final_images(self, final: str) -> bool:
        """RTX renders before the dones of a step are known: whether this step may end an episode that needs images."""
        if final == "none":
            return False
        ending = bool((self._env.episode_length_buf + 1 >= self.max_episode_steps - 1).any())
        return final == "done" or ending or self._success.has_other_time_outs


def _render_after_resets(env: Any) -> list[str]:
    """Makes Isaac Lab render again after a reset, where its renderer would show the old episode; returns a notice.

    With RTX an image is of the last render, which in a step comes before the reset. Resets fall in a chunk's last step
    here, so a whole chunk would be chosen by that image.
    """
    if not getattr(env, "has_rtx_sensors", False) or getattr(env.cfg, "num_rerenders_on_reset", 1) > 0:
        return []
    env.cfg.num_rerenders_on_reset = 1  # Read by reset() and step() each time.
    return [
        "the task renders nothing after a reset (num_rerenders_on_reset: 0), so the first image of an episode would be "
        "one of the episode before; this run renders once. `init_params.env_overrides: {num_rerenders_on_reset: 1}` "
        "says so in the YAML, or a larger number."
    ]


class _Request:
    """What one step was asked for, and what its dones were."""

    def __init__(
        self, active: torch.Tensor, restart: torch.Tensor | None = None, final: str = "none", pictures: bool = False
    ) -> None:
        self.active, self.restart, self.final, self.pictures = active, restart, final, pictures
        self.taken: torch.Tensor | None = None
        self.task_terminated = self.terminated = self.truncated = torch.zeros_like(active)


def _direct_action_terms(env: Any) -> tuple[ActionTermInfo, ...]:
    return (ActionTermInfo("actions", int(env.single_action_space.shape[0]), "direct-workflow task"),)
