# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Collect demonstrations of a scripted expert as a LeRobot dataset, mapped exactly as reinforcement learning maps.

The same task YAML decides which cameras and states are recorded, and the recorded action is what the model would have
to answer for the environment to receive the expert's: a model trained on the dataset sees in RL what it saw in the
demonstrations, and what it does means the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.waiting import waiting
from isaaclab_rlinf.workflow.partial_directory import partial_directory, refuse_taken

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.env.isaac_env import IsaacEnv
    from isaaclab_rlinf.env.protocol import SimulatorSpec

Expert = Callable[[Any, int], "torch.Tensor"]
"""``(unwrapped environment, horizon) -> (B, horizon, A)`` actions of the environment, from privileged state."""


@dataclass(frozen=True)
class CollectSettings:
    """How to collect.

    Attributes:
        num_episodes: Number of successful episodes to record.
        action_noise: Standard deviation of a disturbance of the executed actions, in the environment's units. The
            expert's own action is recorded, so that the dataset also shows how to come back to the path (DART; Laskey
            et al., CoRL 2017).
        calibration_error: Added to every recorded action, in the environment's units: the demonstrations of a robot
            whose encoders read that much too high. A model trained on them aims beside its goal in the same way
            everywhere.
        action_dim: Width of the model's emitted actions; None is whatever ``action_mapping`` leaves of the
            environment's.
        columns: For each column of the model's own action vector, the emitted column that it becomes; None when the
            model emits its columns in its own order.
    """

    num_episodes: int
    action_noise: float = 0.0
    calibration_error: float = 0.0
    action_dim: int | None = None
    columns: tuple[int, ...] | None = None


@dataclass(frozen=True)
class CollectReport:
    """What a collection produced."""

    episodes: int
    """Recorded, successful episodes."""
    attempts: int
    """Episodes the expert finished, failures included."""
    frames: int
    directory: Path


class ExpertGaveUpError(RuntimeError):
    """The expert succeeds too rarely to record what was asked for."""


def collect_demonstrations(
    spec: SimulatorSpec,
    expert: Expert,
    out_dir: Path,
    settings: CollectSettings,
    *,
    on_progress: Callable[[int, int], None] = lambda episodes, attempts: None,
    on_notice: Callable[[str], None] = lambda text: None,
    on_end: Callable[[CollectReport | BaseException], None] = lambda outcome: None,
) -> CollectReport:
    """Run the expert and record its successful episodes.

    Everything is written to a hidden directory beside ``out_dir``, which takes that name when all is done. The
    simulator is closed after that: with Kit the process ends there, so ``on_end`` is the last thing that runs.

    Args:
        spec: Task, environments, seed and mapping.
        expert: The expert's policy, asked anew in every step.
        out_dir: Directory to create.
        settings: What to record.
        on_progress: Called with (recorded episodes, attempts) after each finished episode.
        on_notice: Called with what the user should know about task and mapping.
        on_end: Called with the report, or with the error that is raised, while the simulator is still open.

    Returns:
        Counts and the dataset's place.

    Raises:
        FileExistsError: If ``out_dir`` exists.
        ExpertGaveUpError: If after ``20 * num_episodes`` attempts too few succeeded; what was recorded until then is
            a whole dataset and is kept.
        MappingError: If the YAML does not fit the task, or no action of a model gives the expert's.
    """
    from isaaclab_rlinf.env.isaac_factory import open_isaac_env

    spec = replace(spec, block=replace(spec.block, render_every_action=True, hold_pose_on_midchunk_reset=False))
    refuse_taken(out_dir)
    with contextlib.ExitStack() as stack:
        with waiting("starting the simulator", on_notice):
            env = stack.enter_context(open_isaac_env(spec, on_end))
        try:
            with partial_directory(out_dir) as directory:
                counts = _record(env, spec, expert, directory, settings, on_progress, on_notice)
            report = CollectReport(*counts, out_dir)
            if report.episodes < settings.num_episodes:
                raise _gave_up(report.episodes, report.attempts, f"; those are in {out_dir}, a whole dataset")
        except BaseException as error:
            on_end(error)
            raise
        on_end(report)
    return report


def _record(
    env: IsaacEnv,
    spec: SimulatorSpec,
    expert: Expert,
    directory: Path,
    settings: CollectSettings,
    on_progress: Callable[[int, int], None],
    on_notice: Callable[[str], None],
) -> tuple[int, int, int]:
    """Fill the directory; return episodes, attempts and frames."""
    import torch

    from isaaclab_rlinf.mapping.observations import ObservationMap, map_observation
    from isaaclab_rlinf.workflow.collect_recorder import EpisodeRecorder

    actor = _ExpertActor(env, spec, expert, settings)
    with waiting("resetting the task for the first time", on_notice):
        raw = env.reset(seed=spec.seed)
    observation_map = ObservationMap.build(spec.block, env.layout(raw), env.instructions)
    for notice in dict.fromkeys((*env.notices, *observation_map.notices)):
        on_notice(notice)
    name, fps = f"local/{spec.task_id.split(':')[-1]}", round(1 / env.step_seconds)
    recorder = EpisodeRecorder(directory, name, env.num_envs, observation_map.instructions, fps)
    everyone = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
    wanted, patience = settings.num_episodes, 20 * settings.num_episodes + env.num_envs
    try:
        while recorder.episodes < wanted and (recorder.attempts < patience):
            mapped = map_observation(raw, observation_map)
            recorded, executed = actor.act()
            recorder.add(mapped, recorded)
            result = env.step(executed, render=True, active=everyone, final="none")
            raw = result.observation
            for index in (result.terminated | result.truncated).nonzero().flatten().tolist():
                recorder.finish(index, keep=bool(result.success[index]) and recorder.episodes < wanted)
                on_progress(recorder.episodes, recorder.attempts)
        if not recorder.episodes:
            raise _gave_up(0, recorder.attempts, "")
        recorder.close()
    except BaseException:
        recorder.abandon()
        raise
    return recorder.episodes, recorder.attempts, recorder.frames


def _gave_up(episodes: int, attempts: int, kept: str) -> ExpertGaveUpError:
    return ExpertGaveUpError(f"the expert succeeded in {episodes} of {attempts} episodes{kept}. Giving up.")


class _ExpertActor:
    """The expert's actions: what a model should answer, and what the environment executes."""

    def __init__(self, env: IsaacEnv, spec: SimulatorSpec, expert: Expert, settings: CollectSettings) -> None:
        import torch

        from isaaclab_rlinf.mapping.actions import ActionMap

        self._env, self._expert, self._settings = env, expert, settings
        mapping, env_dim = spec.block.action_mapping, sum(term.width for term in env.action_terms)
        width = settings.action_dim or env_dim - mapping.prefix_pad - mapping.suffix_pad
        self._map = ActionMap.build(mapping, width, env.action_terms)
        self._generator = torch.Generator().manual_seed(spec.seed)
        self._acted_on = torch.zeros(env_dim, device=env.device)
        self._acted_on[mapping.prefix_pad : env_dim - mapping.suffix_pad] = 1.0

    def act(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the model's actions (B, model_dim) to record and the environment's (B, env_dim) to execute.

        What the mapping pads is disturbed in neither: no model can do that.
        """
        import torch

        from isaaclab_rlinf.mapping.actions import unmap_actions

        actions = self._ask()
        recorded = unmap_actions(actions + self._settings.calibration_error * self._acted_on, self._map)
        if self._settings.columns is not None:
            recorded = recorded[:, list(self._settings.columns)]
        noise = self._settings.action_noise * torch.randn(actions.shape, generator=self._generator).to(actions)
        return recorded, actions + noise * self._acted_on

    def _ask(self) -> torch.Tensor:
        from isaaclab_rlinf.mapping.errors import MappingError

        actions = self._expert(self._env.unwrapped, 1)
        shape, wanted = tuple(getattr(actions, "shape", ())), (self._env.num_envs, 1, self._map.env_dim)
        if shape != wanted:
            what = f"shape {shape}" if shape else type(actions).__name__
            raise MappingError(
                f"the expert returned {what} for horizon 1; expected (environments, 1, actions) = {wanted}."
            )
        return actions[:, 0]
