# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Opening a registered Isaac Lab task in this process: imports, configuration, launch, ``gym.make``."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import math
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
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
def open_isaac_env(spec: SimulatorSpec, report: Callable[[BaseException], None]) -> Iterator[IsaacEnv]:
    """Starts the runtime the task needs (Kit or none), yields the environment, and closes both.

    Closing Kit ends the process, so nothing of the caller's runs after this context where the task needs Kit: what is
    to be told or written must be done inside it.

    Args:
        spec: What to build.
        report: Called with an error of the opening while somebody still can be told of it.

    Raises:
        ValueError: If the task is not registered or an override names no attribute of its configuration.
        RuntimeError: If the task needs Isaac Sim and there is none, or it asks something before it starts.
    """
    os.environ.pop("DISPLAY", None)  # Headless always: a reachable display would make Kit open a window.
    configure_warp()
    env_cfg = build_env_cfg(spec, import_tasks(spec.import_modules))

    from isaaclab.app.sim_launcher import validate_launch

    _, needs = validate_launch(env_cfg, launcher_arguments(spec))
    if needs:
        require_isaac_sim(spec.task_id, needs)
    with _runtime(env_cfg, spec):
        try:
            import gymnasium

            from isaaclab_rlinf.env.isaac_env import IsaacEnv

            env = gymnasium.make(spec.task_id, cfg=env_cfg).unwrapped
            wrapped = IsaacEnv(env, spec)
        except BaseException as error:
            report(error)
            raise
        try:
            yield wrapped
        finally:
            env.close()


@contextmanager
def _runtime(env_cfg: Any, spec: SimulatorSpec) -> Iterator[None]:
    """Starts and stops what the task runs in, leaving Ctrl-C to whoever had it."""
    from isaaclab.app.sim_launcher import launch_simulation

    if spec.cpu_threads is not None:
        os.environ.setdefault("PXR_WORK_THREAD_LIMIT", str(spec.cpu_threads))  # USD's own pool, which Kit leaves alone
    handler = signal.getsignal(signal.SIGINT)
    with ExitStack() as stack:
        try:
            stack.enter_context(launch_simulation(env_cfg, launcher_arguments(spec)))
        except EOFError as error:
            raise RuntimeError(
                f"the runtime of '{spec.task_id}' asked something while it was starting, and a simulator process has "
                "no terminal to answer. Isaac Sim asks whether its license is accepted: read it, then set "
                "OMNI_KIT_ACCEPT_EULA=YES in the environment of the run."
            ) from error
        except SystemExit as error:
            raise RuntimeError(
                f"the runtime of '{spec.task_id}' gave up while it was starting (exit status {error.code}); what it "
                "said is in the simulator's output"
            ) from error
        if signal.getsignal(signal.SIGINT) is not handler:
            signal.signal(signal.SIGINT, handler)
        yield


def launcher_arguments(spec: SimulatorSpec) -> dict[str, Any]:
    """Returns the launcher arguments of a simulator: one GPU for everything, and its share of the cores.

    Without ``multi_gpu: False`` Kit renders on what Vulkan sees, which ``CUDA_VISIBLE_DEVICES`` does not hide.
    """
    arguments: dict[str, Any] = {"headless": True, "enable_cameras": bool(spec.block.cameras), "device": spec.device}
    if spec.device.startswith("cuda"):
        arguments["multi_gpu"] = False
    if spec.cpu_threads is not None:
        arguments["limit_cpu_threads"] = spec.cpu_threads
    return arguments


def require_isaac_sim(task: str, needs: Sequence[str]) -> None:
    """Refuses a task whose runtime is not installed; Isaac Lab would end the process with a line in the log.

    Args:
        task: Gym id.
        needs: What of the task asks for Isaac Sim.

    Raises:
        RuntimeError: If Isaac Sim cannot be imported.
    """
    if importlib.util.find_spec("isaacsim") is not None:
        return
    raise RuntimeError(
        f"'{task}' needs Isaac Sim, which is not installed: {', '.join(needs)}. Install it (docs/installation.md), or "
        "choose a preset of the task that does without, in `init_params.presets`."
    )


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
