# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Inside the simulator process: the environment that training would get, with a look at what it shows.

The command starts :class:`isaaclab_rlinf.env.simulator.Simulator` with this factory in place of the ordinary one, so
everything else (process, launch, reset, mapping, chunk stepping) is the code that a training run executes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from isaaclab_rlinf.compat.isaaclab_actions import HoldPoseError, pose_holder
from isaaclab_rlinf.env.isaac_factory import open_isaac_env
from isaaclab_rlinf.inspection.record import (
    RECORD_FILE,
    STEP_FILE,
    Articulation,
    SeenEntry,
    StepRecord,
    TaskRecord,
    write_json,
)
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.mapping.instructions import read_instructions
from isaaclab_rlinf.mapping.observations import ObservationMap

if TYPE_CHECKING:
    from isaaclab_rlinf.env.isaac_env import IsaacEnv
    from isaaclab_rlinf.env.protocol import SimulatorSpec, StepResult
    from isaaclab_rlinf.mapping.layout import ObservationLayout, RawObs

FACTORY = f"{__name__}:open_probed_env"
"""For :attr:`isaaclab_rlinf.env.protocol.SimulatorSpec.factory`; the records go beside the spec's ``log_file``."""


@contextmanager
def open_probed_env(spec: SimulatorSpec, report: Callable[[BaseException], None]) -> Iterator[ProbedEnv]:
    """Open the task as :func:`.isaac_factory.open_isaac_env` does, recording what it shows.

    Args:
        spec: What to simulate, with a ``log_file``.
        report: Called with an error of the opening.
    """
    with open_isaac_env(spec, report) as env:
        yield ProbedEnv(env, spec, Path(spec.log_file).parent)


class ProbedEnv:
    """A :class:`.protocol.SteppableEnv` that writes a record at each reset and each step."""

    def __init__(self, env: IsaacEnv, spec: SimulatorSpec, directory: Path) -> None:
        """Wrap an environment.

        Args:
            env: The live environment.
            spec: What it was built from.
            directory: Where the records go.
        """
        self._env, self._spec, self._directory = env, spec, directory

    def __getattr__(self, name: str) -> Any:
        """Everything else is the environment's own."""
        return getattr(self._env, name)

    def reset(self, seed: int | None = None) -> RawObs:
        """Reset, and record what the task shows and whether the YAML fits it.

        Raises:
            MappingError: If it does not; the record says why.
        """
        observation = self._env.reset(seed=seed)
        layout = self._env.layout(observation)
        record = _describe(self._env, observation, layout)
        path = self._directory / RECORD_FILE
        write_json(path, record)
        try:
            ObservationMap.build(self._spec.block, layout, self._env.instructions)
        except MappingError as error:
            write_json(path, replace(record, config_error=str(error)))
            raise
        return observation

    def step(self, actions: torch.Tensor, **options: Any) -> StepResult:
        """Step, and record how far the joints moved."""
        before = _joint_positions(self._env.unwrapped)
        result = self._env.step(actions, **options)
        write_json(self._directory / STEP_FILE, _displacement(self._env.unwrapped, before))
        return result


def _describe(env: IsaacEnv, observation: RawObs, layout: ObservationLayout) -> TaskRecord:
    """Return everything the tables need."""
    hold, reason = _hold(env)
    scene = _articulations(env.unwrapped)
    positions = _joint_positions(env.unwrapped)
    return TaskRecord(
        managed=env.managed,
        device=str(env.device),
        step_seconds=env.step_seconds,
        max_episode_steps=int(env.max_episode_steps),
        observations=tuple(
            _seen(group, key, entry.read(observation))
            for group, members in layout.groups.items()
            for key, entry in members.items()
        ),
        articulations=tuple(
            Articulation(name, tuple(articulation.joint_names), tuple(positions[name][0].tolist()))
            for name, articulation in scene.items()
        ),
        action_terms=tuple((term.name, term.width, term.detail) for term in env.action_terms),
        instructions=read_instructions(env.instructions)[0] or None,
        hold=hold,
        hold_reason=reason,
    )


def _seen(group: str, key: str, value: torch.Tensor) -> SeenEntry:
    numbers = value.float()
    finite = torch.isfinite(numbers)
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.numel() else (float("nan"), float("nan"))
    dtype = str(value.dtype).removeprefix("torch.")
    return SeenEntry(group, key, tuple(value.shape[1:]), dtype, low, high, bool(finite.all()))


def _hold(env: IsaacEnv) -> tuple[tuple[tuple[float, ...], ...] | None, str]:
    """Return the action that keeps each environment's pose, or why there is none."""
    if not env.managed:
        return None, "a direct-workflow task does not say what its actions mean"
    try:
        actions = pose_holder(env.unwrapped)()
    except HoldPoseError:
        return None, "not every action term is absolute joint-position control"
    return tuple(tuple(row) for row in actions.tolist()), ""


def _articulations(env: Any) -> dict[str, Any]:
    return dict(getattr(getattr(env, "scene", None), "articulations", None) or {})


def _joint_positions(env: Any) -> dict[str, torch.Tensor]:
    """Return, per articulation of the scene, the joint positions (B, joints) on the CPU."""
    positions = {}
    for name, articulation in _articulations(env).items():
        value = articulation.data.joint_pos
        # Isaac Lab 3 wraps simulator arrays; `.torch` is their zero-copy tensor.
        positions[name] = getattr(value, "torch", value).detach().clone().cpu()
    return positions


def _displacement(env: Any, before: dict[str, torch.Tensor]) -> StepRecord:
    """Return the largest change of a joint position since ``before``."""
    best, joint = None, ""
    for name, new in _joint_positions(env).items():
        moved = (new - before[name]).abs().amax(dim=0)
        if moved.numel() and (best is None or float(moved.max()) > best):
            best, joint = float(moved.max()), f"{name}/{_articulations(env)[name].joint_names[int(moved.argmax())]}"
    return StepRecord(best, joint)
