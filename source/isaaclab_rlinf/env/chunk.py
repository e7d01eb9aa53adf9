# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stepping a whole action chunk: masks, resets in the middle, final observations. No simulator specifics.

Isaac Lab resets a finished environment inside ``step()``, but the rest of that environment's chunk was predicted for
the finished episode. Per environment, therefore:

- Rewards and dones after the first done of a chunk do not count.
- With ``hold_pose_on_midchunk_reset`` the remaining actions are replaced by the joint positions read after the reset.
- Without it the remaining actions are applied to the environment as a throw-away, and it is reset a second time in the
  chunk's last step. This is right for every kind of action: no action is assumed to be neutral, and the policy's first
  observation of an episode is always an initial state.
- Either way the episode clock starts when the policy takes over, at the chunk boundary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from isaaclab_rlinf.env.metrics import METRIC_DTYPES, EpisodeMetrics
from isaaclab_rlinf.env.protocol import ChunkResult, StepResult
from isaaclab_rlinf.env.shared_buffers import FINAL, METRIC, OBSERVATION, select
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.mapping.observations import ObservationMap, map_observation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isaaclab_rlinf.env.protocol import FinalObservation, SimulatorSpec, SteppableEnv
    from isaaclab_rlinf.env.video import VideoRecorder
    from isaaclab_rlinf.mapping.layout import RawObs


class ChunkStepper:
    """Steps chunks and writes what the policy will see into the shared buffers."""

    def __init__(
        self,
        env: SteppableEnv,
        spec: SimulatorSpec,
        observation_map: ObservationMap,
        buffers: Mapping[str, torch.Tensor],
        video: VideoRecorder | None = None,
    ) -> None:
        """Binds an environment to its buffers (see :func:`.shared_buffers.buffer_specs`)."""
        self._env, self._spec, self._map, self._buffers, self._video = env, spec, observation_map, buffers, video
        self._observation = select(buffers, OBSERVATION)
        self._final = select(buffers, FINAL)
        self._metrics = EpisodeMetrics(env.num_envs, env.device)
        self._resting = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        self._told = len(env.notices)

    def begin(self, raw_obs: RawObs) -> None:
        """Starts fresh episodes everywhere from a reset's observation."""
        mapped = map_observation(raw_obs, self._map)
        _store(self._observation, mapped)
        self._resting[:] = False
        self._metrics.begin(~self._resting, mapped["instruction"])
        self._publish(~self._resting & False)
        if self._video:
            self._video.begin(raw_obs, self._env.pictures(), mapped["instruction"])

    def step_chunk(self) -> ChunkResult:
        """Steps the chunk in ``buffers['actions']`` and fills the result buffers.

        Returns:
            Whether a final observation was written, and new notices of the environment.

        Raises:
            MappingError: If a reward is NaN or infinite, or an observation cannot be mapped.
        """
        env, spec = self._env, self._spec
        if self._resting.all():
            return self._rest()
        chunk = self._buffers["actions"].to(env.device)
        active = ~self._resting
        progress = _ChunkProgress(env.num_envs, spec.chunk_length, env.device)
        hold: torch.Tensor | None = env.hold_actions() if self._holds and self._resting.any() else None
        result: StepResult | None = None
        for t in range(spec.chunk_length):
            actions = chunk[:, t] if hold is None else torch.where(active[:, None], chunk[:, t], hold)
            last = t == spec.chunk_length - 1
            recording = self._video is not None and self._video.wants(active)
            by_policy_views = recording and not self._video.uses_viewer
            result = env.step(
                actions,
                render=last or spec.block.render_every_action or by_policy_views,
                active=active,
                restart=self._restarts(active) if last else None,
                final="done" if by_policy_views else self._final_wanted,
                pictures=recording and self._video.uses_viewer,
            )
            ended = self._record_step(t, result, active, progress)
            if recording:
                self._video.add(result, active, ended, self._metrics.values)
            active = active & ~ended
            hold = self._update_hold(hold, result.terminated | result.truncated)
        self._finish(result, active, progress)
        new, self._told = env.notices[self._told :], len(env.notices)
        return ChunkResult(has_final=progress.has_final, notices=new)

    @property
    def _holds(self) -> bool:
        return self._spec.block.hold_pose_on_midchunk_reset

    @property
    def _final_wanted(self) -> FinalObservation | Literal["none"]:
        # Without resets inside a rollout RLinf bootstraps nothing, so the render and its second forward are saved.
        return self._spec.final_observation if self._spec.auto_reset else "none"

    def _rest(self) -> ChunkResult:
        """A chunk in which every environment rests: the simulator need not be stepped."""
        for name in ("rewards", "terminations", "truncations", "finished"):
            self._buffers[name].zero_()
        return ChunkResult()

    def _restarts(self, active: torch.Tensor) -> torch.Tensor | None:
        """Environments to reset again in the last step: reset in mid-chunk and then driven by stale actions."""
        if self._holds or not self._spec.auto_reset:
            return None
        return ~active & ~self._resting

    def _update_hold(self, hold: torch.Tensor | None, reset: torch.Tensor) -> torch.Tensor | None:
        """Reads the pose again wherever the step brought a reset, be it the second one of an environment that holds."""
        if not self._holds or not reset.any():
            return hold
        present = self._env.hold_actions()
        return present if hold is None else torch.where(reset[:, None], present, hold)

    def _record_step(self, t: int, result: StepResult, active: torch.Tensor, progress: _ChunkProgress) -> torch.Tensor:
        """Books one step and returns which active environments ended in it, (B,) bool."""
        reward = result.reward.to(torch.float32)
        if not (torch.isfinite(reward) | ~active).all():
            env = int((active & ~torch.isfinite(reward)).nonzero()[0, 0])
            raise MappingError(f"The reward of environment {env} is {float(reward[env])}: check the reward terms.")
        self._metrics.record(active, reward, result.success)
        progress.rewards[:, t] = torch.where(active, reward, torch.zeros_like(reward))
        progress.terminations[:, t] = result.terminated & active
        progress.truncations[:, t] = result.truncated & active
        ended = (result.terminated | result.truncated) & active
        wanted = {"done": ended, "truncated": result.truncated & active}.get(self._final_wanted)
        if wanted is not None:
            progress.final_wanted |= wanted
            if result.final_observation is not None:
                self._store_final(result, wanted, progress)
        return ended

    def _store_final(self, result: StepResult, wanted: torch.Tensor, progress: _ChunkProgress) -> None:
        rows = wanted.nonzero().squeeze(-1).cpu()
        for name, value in map_observation(result.final_observation, self._map).items():
            self._final[name][rows] = value[wanted].cpu()
        progress.final_rows |= wanted

    def _finish(self, result: StepResult, active: torch.Tensor, progress: _ChunkProgress) -> None:
        """Publishes the boundary observation and the metrics, and starts the next episodes."""
        mapped = map_observation(result.observation, self._map)
        _store(self._observation, mapped)
        progress.close()
        if progress.has_final:
            # RLinf evaluates the value of the whole batch: untouched rows are the current observation.
            rows = (~progress.final_rows).nonzero().squeeze(-1).cpu()
            for name, value in self._final.items():
                value[rows] = self._observation[name][rows]
        finished = ~active & ~self._resting
        last_column = self._spec.auto_reset or self._spec.ignore_terminations
        self._buffers["rewards"].copy_(progress.rewards)
        self._buffers["terminations"].copy_(_place_dones(progress.terminations, last_column))
        self._buffers["truncations"].copy_(_place_dones(progress.truncations, last_column))
        self._publish(finished)
        if not self._spec.auto_reset:
            self._resting |= finished
        elif finished.any():
            self._env.restart_clock(finished)
            self._metrics.begin(finished, mapped["instruction"])
            if self._video:
                self._video.begin_some(finished, result.observation, self._env.pictures(), mapped["instruction"])

    def _publish(self, finished: torch.Tensor) -> None:
        self._buffers["finished"].copy_(finished)
        for name in METRIC_DTYPES:
            self._buffers[METRIC + name].copy_(self._metrics.values[name])


class _ChunkProgress:
    """What one chunk accumulates, on the simulator's device."""

    def __init__(self, num_envs: int, chunk: int, device: torch.device) -> None:
        self.rewards = torch.zeros(num_envs, chunk, device=device)
        self.terminations = torch.zeros(num_envs, chunk, dtype=torch.bool, device=device)
        self.truncations = torch.zeros(num_envs, chunk, dtype=torch.bool, device=device)
        self.final_wanted = torch.zeros(num_envs, dtype=torch.bool, device=device)
        self.final_rows = torch.zeros_like(self.final_wanted)
        self.has_final = False

    def close(self) -> None:
        """Looks once whether the chunk has final observations: each look waits for the device."""
        wanted, missing = torch.stack([self.final_wanted, self.final_wanted & ~self.final_rows]).any(dim=1).tolist()
        if missing:
            raise RuntimeError("the environment ended an episode without the final observation it was asked for")
        self.has_final = wanted


def _place_dones(dones: torch.Tensor, last_column: bool) -> torch.Tensor:
    """Puts dones (B, T), at most one per row, where RLinf looks for them.

    With resets between chunks RLinf 0.3.0 reads the chunk's last column only; its own environments put the flag there.
    Without, the loss mask wants the true column, and ``env_evaluate_step`` the last one: the flag is set from the
    true column to the end, which means the same to the cumulative loss mask.
    """
    if not last_column:
        return dones.cummax(dim=1).values if dones.dtype != torch.bool else dones.int().cummax(dim=1).values.bool()
    placed = torch.zeros_like(dones)
    placed[:, -1] = dones.any(dim=1)
    return placed


def _store(buffers: Mapping[str, torch.Tensor], mapped: Mapping[str, torch.Tensor]) -> None:
    for name, value in mapped.items():
        buffers[name].copy_(value)
