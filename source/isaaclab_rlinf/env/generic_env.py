# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``IsaacLabGenericEnv``: any Isaac Lab task as the environment that RLinf's ``EnvWorker`` drives.

RLinf's contract (0.3.0, ``rlinf.workers.env.env_worker``): ``reset`` and ``chunk_step``; dones in the chunk's last
column; episode metrics in ``infos["episode"]`` and, for finished environments, ``infos["final_info"]["episode"]``;
``infos["final_observation"]`` when a value bootstrap is needed. Everything returned is on the CPU, where RLinf moves it
anyway, and is the caller's own copy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np
import torch

from isaaclab_rlinf.config.seeds import evaluation_seed
from isaaclab_rlinf.env.settings import simulator_spec_from_config, simulator_timeouts
from isaaclab_rlinf.env.shared_buffers import FINAL, METRIC, OBSERVATION, select
from isaaclab_rlinf.env.simulator import Simulator
from isaaclab_rlinf.mapping.actions import ActionMap, map_actions
from isaaclab_rlinf.mapping.errors import MappingError, format_table
from isaaclab_rlinf.mapping.observations import task_descriptions

if TYPE_CHECKING:
    from omegaconf import DictConfig

Observation = dict[str, Any]


class IsaacLabGenericEnv(gym.Env):
    """Runs ``cfg.init_params.id`` in a simulator process and maps observations and actions per ``cfg.isaaclab``.

    The keys of ``cfg`` that are read are documented in :mod:`isaaclab_rlinf.env.settings`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self, cfg: DictConfig, num_envs: int, seed_offset: int, total_num_processes: int, worker_info: Any
    ) -> None:
        """Starts the simulator process; returns when it has done its first reset.

        Args:
            cfg: RLinf's env section (``cfg.env.train`` or ``cfg.env.eval``).
            num_envs: Environments of this instance.
            seed_offset: Added to ``cfg.seed``; distinct for every instance.
            total_num_processes: Number of instances: with several, each names its video files by its number.
            worker_info: RLinf's worker description; not needed here.

        Raises:
            SimulatorError: If the simulator cannot be started.
            ConfigError: If ``cfg`` is unusable.
        """
        self.cfg, self.num_envs = cfg, num_envs
        self.total_num_processes, self.worker_info = total_num_processes, worker_info
        self.spec = simulator_spec_from_config(cfg, num_envs, seed_offset, total_num_processes)
        self.seed = self.spec.seed
        self.auto_reset, self.ignore_terminations = self.spec.auto_reset, self.spec.ignore_terminations
        self.device = torch.device("cpu")
        self.video_cfg = cfg.video_cfg
        self.is_start = True
        self._reward_scale = float(cfg.get("reward_coef", 1.0))
        self._first_env = seed_offset * num_envs
        self._report_instruction = bool(cfg.init_params.get("report_instruction", False))
        if self.spec.video is not None:
            from isaaclab_rlinf.compat.rlinf_record_video import keep_own_recorder

            keep_own_recorder()
        self._simulator = Simulator(self.spec, **simulator_timeouts(cfg))
        self._action_map: ActionMap | None = None
        self._fresh = True  # The process has already reset; the first reset() returns that observation.
        self._evaluation_round: int | None = None
        self._late_notices: tuple[str, ...] = ()
        if seed_offset == 0:  # Once per run and mode; the other instances have the same.
            _notify(self.describe_mapping())
            for notice in self._simulator.handshake.notices:
                _notify(notice)

    @property
    def simulator(self) -> Simulator:
        """The simulator process behind this environment."""
        return self._simulator

    @property
    def notices(self) -> tuple[str, ...]:
        """What the simulator had to say so far, each once."""
        return (*self._simulator.handshake.notices, *self._late_notices)

    def describe_mapping(self) -> str:
        """Tables of where each model input comes from and of the environment's action terms, in order."""
        handshake = self._simulator.handshake
        inputs = format_table(("model input", "from the task"), handshake.mapping_table)
        rows = [(term.name, term.width, term.detail) for term in handshake.action_terms]
        return f"mapping of {self.spec.task_id}:\n{inputs}\n{format_table(('action term', 'dims', 'what'), rows)}"

    @property
    def elapsed_steps(self) -> torch.Tensor:
        """(B,) int64, actions of each environment's present (or just ended) episode."""
        return self._simulator.buffers[METRIC + "episode_len"].clone()

    def begin_evaluation(self) -> None:
        """Makes the next resets start the same episodes as those of every other evaluation with this seed.

        Otherwise an evaluation would go on in the random numbers where the one before it stopped, and the points of
        an evaluation curve would be of different episodes.
        """
        self._evaluation_round = 0

    def end_evaluation(self) -> None:
        """Ends what :meth:`begin_evaluation` began, and closes its video: one file for all its rounds."""
        self._evaluation_round = None
        self.flush_video()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        """Starts a new episode in every environment.

        Args:
            seed: Seeds the task's random numbers; None goes on in them, within an evaluation it seeds each round.
            options: Not used.

        Returns:
            The mapped observation and an empty info.
        """
        if seed is None and self._evaluation_round is not None:
            # The process began with the seed of round 0; a fresh one need not reset again.
            if not (self._fresh and self._evaluation_round == 0):
                seed = evaluation_seed(self.spec.seed, self._evaluation_round)
            self._evaluation_round += 1
        if not self._fresh or seed is not None:
            self._simulator.reset(seed)
        self._fresh = False
        return self._read_observation(OBSERVATION), {}

    def chunk_step(
        self, chunk_actions: np.ndarray | torch.Tensor
    ) -> tuple[list[Observation], torch.Tensor, torch.Tensor, torch.Tensor, list[dict[str, Any]]]:
        """Applies a chunk of actions.

        Args:
            chunk_actions: (B, T, A), the model's actions.

        Returns:
            ``([observation], rewards (B, T), terminations (B, T), truncations (B, T), [infos])``. Only the observation
            at the chunk's end exists: it is the only one a policy sees, and the only one that is rendered.

        Raises:
            MappingError: If the actions have the wrong width or are not finite.
            SimulatorError: If the simulator fails.
        """
        self._fresh = False
        buffers = self._simulator.buffers
        buffers["actions"].copy_(self._map_actions(torch.as_tensor(chunk_actions)))
        result = self._simulator.step_chunk()
        for notice in result.notices:
            _notify(notice)
        self._late_notices += result.notices
        observation = self._read_observation(OBSERVATION)
        rewards = buffers["rewards"] * self._reward_scale
        infos = self._build_infos(result.has_final)
        return [observation], rewards, buffers["terminations"].clone(), buffers["truncations"].clone(), [infos]

    def update_reset_state_ids(self) -> None:
        """RLinf's hook at the end of a rollout epoch. Isaac Lab's resets draw their own states: nothing to do."""

    def flush_video(self) -> None:
        """RLinf's hook at the end of a rollout epoch when videos are on: closes the file.

        Within an evaluation it stays open: :meth:`end_evaluation` closes it.
        """
        if self.spec.video is None or self._evaluation_round is not None:
            return
        for line in self._simulator.flush_video():
            _notify(f"Video written: {line}")

    def close(self) -> None:
        """Ends the simulator process."""
        self._simulator.close()

    def _map_actions(self, actions: torch.Tensor) -> torch.Tensor:
        expected = (self.num_envs, self.spec.chunk_length)
        if tuple(actions.shape[:2]) != expected:
            raise MappingError(
                f"the model returned actions for (environments, chunk) = {tuple(actions.shape[:2])}; expected "
                f"{expected}. Check `actor.model.num_action_chunks` against `init_params.action_chunk`."
            )
        if self._action_map is None:
            self._action_map = ActionMap.build(
                self.spec.block.action_mapping, actions.shape[-1], self._simulator.handshake.action_terms
            )
        return map_actions(actions, self._action_map)

    def _read_observation(self, prefix: str) -> Observation:
        # Copies: the buffers are overwritten by the next chunk while RLinf may still be sending these.
        observation: Observation = {
            name: tensor.clone() for name, tensor in select(self._simulator.buffers, prefix).items()
        }
        instruction = observation.pop("instruction")
        observation["task_descriptions"] = task_descriptions(instruction, self._simulator.handshake.instructions)
        return observation

    def _build_infos(self, has_final: bool) -> dict[str, Any]:
        buffers = self._simulator.buffers
        episode = {name: tensor.clone() for name, tensor in select(buffers, METRIC).items()}
        instruction = episode.pop("instruction")
        if self._report_instruction:
            episode["instruction"] = instruction
            # Numbered over all workers, so that an evaluation can tell whose episode it is.
            episode["env_index"] = torch.arange(self.num_envs) + self._first_env
        episode["return"] = episode["return"] * self._reward_scale
        episode["reward"] = episode["return"] / episode["episode_len"].clamp(min=1)
        infos: dict[str, Any] = {"episode": episode}
        finished = buffers["finished"].clone()
        if finished.any():
            infos["final_info"] = {"episode": episode}
            infos["_final_info"] = finished
        if has_final:
            infos["final_observation"] = self._read_observation(FINAL)
            infos["_final_observation"] = finished
        return infos


def _notify(text: str) -> None:
    print(f"[INFO] [{os.getpid()}] {text}", flush=True)
