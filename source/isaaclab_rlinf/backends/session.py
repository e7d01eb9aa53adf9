# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""One RLinf session: environment variables, Ray cluster, worker groups, and their end.

The exit codes are the contract of the command line: 0 done, 1 a run that failed, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.backends.health import LearningFailedError
from isaaclab_rlinf.backends.writing import CannotWriteError, full_disk, writing
from isaaclab_rlinf.extension import export_extension, export_search_path, register

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.compat.worker_failures import WorkerFailedError

    from .console import RunConsole

EXPORTED_VARIABLES = (
    "RLINF_EXT_MODULE",
    "ISAACLAB_RLINF_EXTENSIONS",
    "ISAACLAB_RLINF_GROUPS",
    "ISAACLAB_RLINF_PATH",
    "CUDA_VISIBLE_DEVICES",
)
"""What a run sets that another run in the same process must not inherit."""

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130


def export_environment(cfg: DictConfig, *, force_cpu: bool) -> None:
    """Set what Ray and the workers read from the environment; they inherit it when Ray starts.

    Args:
        cfg: Resolved config; ``extensions`` names the user's extension modules.
        force_cpu: Hide CUDA devices from every process of the run.
    """
    # Ray would otherwise upload the whole project, .venv included, when started under `uv run`.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    # The worker processes import a lot; without a bytecode cache they compile it every time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Ray's usage report needs a network that a robot lab's machine may not have.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if force_cpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    groups = [str(cfg[component].group_name) for component in ("actor", "rollout", "env")]
    export_extension(list(cfg.get("extensions", None) or ()), groups)
    export_search_path()


@contextlib.contextmanager
def rlinf_cluster(cfg: DictConfig, *, force_cpu: bool, console: RunConsole) -> Iterator[tuple[DictConfig, Any, Any]]:
    """Start RLinf's cluster for a config and stop it afterwards, whatever happens.

    Args:
        cfg: Resolved config, checked by us.
        force_cpu: Place everything on the CPU even where there are GPUs.
        console: Console of the run; what ends the body early is told there before anything is stopped.

    Yields:
        The config as RLinf validated it, the cluster, and the component placement.

    Raises:
        WorkerFailedError: In the body, as soon as a call on a worker fails.
    """
    from isaaclab_rlinf.backends.watchdog import watched
    from isaaclab_rlinf.compat import prepare_worker_imports
    from isaaclab_rlinf.compat.force_cpu import hide_accelerators
    from isaaclab_rlinf.compat.ray_session import is_private, private_ray
    from isaaclab_rlinf.compat.worker_failures import raise_worker_failures
    from isaaclab_rlinf.config.light_import import end_child

    end_child()
    former_environment = dict(os.environ)
    export_environment(cfg, force_cpu=force_cpu)
    prepare_worker_imports()
    register()
    from rlinf.config import validate_cfg
    from rlinf.scheduler import Cluster
    from rlinf.utils.placement import HybridComponentPlacement

    watch = watched(console) if is_private() else contextlib.nullcontext(lambda session: None)
    with watch as session_started, private_ray(session_started), hide_accelerators(force_cpu):
        cfg = validate_cfg(cfg)
        cluster = Cluster()
        # Ray has put a handler of its own in place, which exits with the signal's number.
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            with raise_worker_failures(lambda error: tell_end(console, error)):
                yield cfg, cluster, HybridComponentPlacement(cfg, cluster)
        finally:
            # A later run in this process starts from what the user had set.
            for name in EXPORTED_VARIABLES:
                os.environ.pop(name, None)
                if name in former_environment:
                    os.environ[name] = former_environment[name]


def launch_group(worker_class: type, cfg: DictConfig, cluster: Any, placement: Any, component: str) -> Any:
    """Launch one worker group where the placement puts its component.

    Args:
        worker_class: RLinf worker class.
        cfg: Validated config.
        cluster: RLinf cluster.
        placement: Component placement.
        component: ``"actor"``, ``"rollout"`` or ``"env"``.

    Returns:
        The worker group.
    """
    return worker_class.create_group(cfg).launch(
        cluster, name=cfg[component].group_name, placement_strategy=placement.get_strategy(component)
    )


def start_env(worker_class: type, cfg: DictConfig, cluster: Any, placement: Any) -> tuple[Any, Any]:
    """Launch the environment workers and let them start their simulators at once.

    A simulator takes longest to start, and mostly on one core: it starts while the other workers import.

    Args:
        worker_class: RLinf worker class.
        cfg: Validated config.
        cluster: RLinf cluster.
        placement: Component placement.

    Returns:
        The worker group, and the handle of its ``init_worker`` call.
    """
    env = launch_group(worker_class, cfg, cluster, placement, "env")
    return env, env.init_worker()


def run_with_console(run_dir: Path, announce: Callable[[RunConsole], None], body: Callable[[RunConsole], int]) -> int:
    """Run a session with its console: ours on the terminal, everything else in the run's log.

    Args:
        run_dir: Run directory.
        announce: Says what is about to run.
        body: The session; returns the exit code of a run that ended by itself.

    Returns:
        The exit code.

    Raises:
        CannotWriteError: If there is no place for the log.
    """
    from .console import RunConsole

    log_file = run_dir / "rlinf.log"
    with writing(log_file), RunConsole(log_file) as console:
        return run_guarded(console, lambda: _announced(console, announce, body))


def _announced(console: RunConsole, announce: Callable[[RunConsole], None], body: Callable[[RunConsole], int]) -> int:
    announce(console)
    return body(console)


def tell_notices(console: RunConsole, env: Any, told: Sequence[str] = ()) -> tuple[str, ...]:
    """Say what the simulators had to say so far and was not said yet.

    Args:
        console: Console of the run.
        env: Group of :class:`~isaaclab_rlinf.workers.env.SimulatorEnvWorker`.
        told: What was said.

    Returns:
        All that is said now.
    """
    all_ = dict.fromkeys(notice for worker in env.notices().wait() for notice in worker)
    new = [notice for notice in all_ if notice not in told]
    for notice in new:
        console.line(f"[INFO] {notice}")
    return (*told, *new)


def run_guarded(console: RunConsole, body: Callable[[], int]) -> int:
    """Run a session's body and turn its end into an exit code and, on failure, one report.

    Args:
        console: Console of the run.
        body: The session; returns the exit code of a run that ended by itself.

    Returns:
        The exit code.
    """
    former = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return body()
    except BaseException as error:  # SystemExit too: a library that gives up must not end the run without a word
        return tell_end(console, error)
    finally:
        signal.signal(signal.SIGTERM, former)


def tell_end(console: RunConsole, error: BaseException) -> int:
    """Say why a run ends before its time; only the first cause is told, however many follow from it.

    Args:
        console: Console of the run.
        error: What ended it.

    Returns:
        The exit code.
    """
    import traceback

    from isaaclab_rlinf.compat.ray_memory import memory_failure
    from isaaclab_rlinf.compat.worker_failures import WorkerFailedError, WorkerInterruption

    if isinstance(error, WorkerInterruption):
        error = error.failure
    interrupted = isinstance(error, KeyboardInterrupt)
    code = EXIT_INTERRUPTED if interrupted else EXIT_FAILED
    if console.end_told:
        return code
    console.end_told = True
    outputs = console.log_file.parent
    if interrupted:
        console.line(f"\n[INFO] Interrupted. What was written so far: {outputs}")
        return code
    if isinstance(error, WorkerFailedError):
        _tell_workers(console, [error, *error.later])
    elif isinstance(error, CannotWriteError | LearningFailedError):
        console.line(f"\n[ERROR] {error}")
    elif reason := memory_failure(error):  # of a call that is not one of RLinf's
        console.line(f"\n[ERROR] A worker failed:\n{reason}")
    else:  # the run's own failure
        text = "".join(traceback.format_exception(error)).rstrip()
        console.line(f"\n[ERROR] {type(error).__name__}: {error}\n{text}")
    if full := full_disk(outputs):
        console.line(f"[ERROR] {full}")
    console.line(f"[ERROR] The run failed. Full log: {console.log_file}\n        What was written so far: {outputs}")
    return code


def _tell_workers(console: RunConsole, failures: Sequence[WorkerFailedError]) -> None:
    """Say which worker failed and why, and which others did."""
    from isaaclab_rlinf.compat.ray_memory import memory_failure

    reasons = [memory_failure(failure.cause) for failure in failures]
    # Who waited for a worker that was ended may have failed before it.
    first = next((index for index, reason in enumerate(reasons) if reason), 0)
    failure = failures[first]
    console.line(f"\n[ERROR] {failure.worker}.{failure.function} failed:\n{reasons[first] or failure.cause}")
    if reasons[first]:
        with contextlib.suppress(OSError, ValueError):
            print(failure.cause)  # Ray's pages are for the log
    for other, reason in zip(failures, reasons, strict=True):
        if other is not failure:
            why = reason.splitlines()[0] if reason else _last_line(other.cause)
            console.line(f"[ERROR] {other.worker}.{other.function} failed as well: {why}")


def _last_line(cause: BaseException) -> str:
    """Return the line of a worker's traceback that says what happened."""
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[-1] if lines else type(cause).__name__


def _interrupt(signum: int, frame: object) -> None:
    """Let SIGTERM take the same way out as Ctrl-C."""
    raise KeyboardInterrupt
