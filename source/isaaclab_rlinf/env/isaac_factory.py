# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Opening a registered Isaac Lab task in this process: imports, configuration, launch, ``gym.make``."""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.compat.warp_settings import configure_warp
from isaaclab_rlinf.config.errors import raise_if
from isaaclab_rlinf.config.overrides import apply_overrides
from isaaclab_rlinf.env.viewer import add_viewer_camera
from isaaclab_rlinf.mapping.errors import hint

if TYPE_CHECKING:
    from isaaclab_rlinf.env.isaac_env import IsaacEnv
    from isaaclab_rlinf.env.protocol import SimulatorSpec


@contextmanager
def open_isaac_env(spec: SimulatorSpec) -> Iterator[IsaacEnv]:
    """Starts the runtime the task needs (Kit or none), yields the environment, and closes both.

    Raises:
        ValueError: If the task is not registered or an override names no attribute of its configuration.
    """
    os.environ.pop("DISPLAY", None)  # Headless always: a reachable display would make Kit open a window.
    configure_warp()
    env_cfg = build_env_cfg(spec, import_tasks(spec.import_modules))

    import gymnasium
    from isaaclab.app.sim_launcher import launch_simulation

    from isaaclab_rlinf.env.isaac_env import IsaacEnv

    arguments = {"headless": True, "enable_cameras": bool(spec.block.cameras), "device": spec.device}
    with launch_simulation(env_cfg, arguments):
        env = gymnasium.make(spec.task_id, cfg=env_cfg).unwrapped
        try:
            yield IsaacEnv(env, spec)
        finally:
            env.close()


def import_tasks(modules: Sequence[str] = ()) -> list[str]:
    """Registers tasks in this process: the ``isaaclab.tasks`` entry points of all packages, then ``modules``.

    Returns:
        A line for each entry point that could not be loaded. It may belong to a package that this run does not need,
        so it is an error only if the task then turns out to be missing.

    Raises:
        ImportError: If one of ``modules`` cannot be imported.
    """
    failures = []
    for entry_point in importlib.metadata.entry_points(group="isaaclab.tasks"):
        try:
            entry_point.load()
        except Exception as error:
            failures.append(f"entry point '{entry_point.name} = {entry_point.value}': {type(error).__name__}: {error}")
    for name in modules:
        importlib.import_module(name)
    return failures


def build_env_cfg(spec: SimulatorSpec, import_failures: Sequence[str] = ()) -> Any:
    """Composes the task's configuration with presets, overrides, device, seed and environment count applied.

    Args:
        spec: What to build.
        import_failures: From :func:`import_tasks`; shown if the task is missing.

    Raises:
        ValueError: If the task is unknown (near names are listed) or an override has no target.
    """
    import gymnasium

    name = spec.task_id.split(":")[-1]
    if name not in gymnasium.registry:
        raise ValueError(
            f"task '{name}' is not registered in the simulator process.{hint(name, gymnasium.registry)} Its package "
            "must provide an `isaaclab.tasks` entry point, or be named in `init_params.import_modules`."
            + "".join(f"\n  could not load {line}" for line in import_failures)
        )
    from isaaclab_tasks.utils.parse_cfg import parse_env_cfg

    env_cfg = parse_env_cfg(spec.task_id, device=spec.device, num_envs=spec.num_envs, overrides=list(spec.presets))
    env_cfg.seed = spec.seed
    raise_if(apply_overrides(env_cfg, dict(spec.env_overrides)))
    _limit_episode(env_cfg, spec.max_episode_steps)
    add_viewer_camera(env_cfg, spec.video)
    return env_cfg


def _limit_episode(env_cfg: Any, max_steps: int | None) -> None:
    """Shortens the task's own time-out, so that everything in the task that reads it agrees with the YAML."""
    step_seconds = env_cfg.sim.dt * env_cfg.decimation
    own = math.ceil(env_cfg.episode_length_s / step_seconds)
    if max_steps is not None and max_steps < own:
        # Half a step below, because Isaac Lab takes the ceiling of a quotient of floats.
        env_cfg.episode_length_s = (max_steps - 0.5) * step_seconds
