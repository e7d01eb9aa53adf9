# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab train --rl_library rlinf``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.backends import cli_args
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.config.report import print_report, short_path
from isaaclab_rlinf.config.stage import config_stage
from isaaclab_rlinf.extension import search_working_directory

if TYPE_CHECKING:
    from isaaclab_rlinf.backends.console import RunConsole
    from isaaclab_rlinf.backends.prepare import PreparedRun


def run(argv: list[str]) -> int:
    """Train.

    Args:
        argv: Command-line arguments after ``--rl_library rlinf``.

    Returns:
        0 when training finished, 1 when it failed, 2 for a config error, 130 when interrupted.
    """
    started = time.monotonic()
    search_working_directory()
    args = cli_args.parse_train_args(argv)
    if args.list_tasks:
        from isaaclab_rlinf.config.tasks import print_tasks

        return print_tasks()
    if args.only_eval:
        from isaaclab_rlinf.backends import play

        return play.run_parsed(args, argv)
    from isaaclab_rlinf.backends.prepare import prepare_train
    from isaaclab_rlinf.config.gr00t_block import require_package

    try:
        with config_stage():
            run_ = prepare_train(args)
            require_package(run_.cfg, run_.source)
    except ConfigError as error:
        print_report(error.issues)
        return 2
    return _train(run_, argv, started)


def _train(run_: PreparedRun, argv: list[str], started: float) -> int:
    """Create the run directory and hand the terminal to the session."""
    from isaaclab_rl.entrypoints.common import write_run_manifest

    from isaaclab_rlinf.backends.run_directory import TRAIN_LOG_ROOT, open_run_directory, write_git_state
    from isaaclab_rlinf.backends.session import EXIT_FAILED, run_with_console
    from isaaclab_rlinf.backends.writing import CannotWriteError, writing
    from isaaclab_rlinf.run_lineage import resumed_from

    try:
        with writing(Path.cwd() / TRAIN_LOG_ROOT):
            run_dir = open_run_directory(TRAIN_LOG_ROOT, run_, argv)
            origin = resumed_from(run_.checkpoint.step_dir, run_dir) if run_.checkpoint else {}
            write_run_manifest(str(run_dir), library="rlinf", task=run_.task, metadata={**run_.metadata, **origin})
            write_git_state(run_dir, Path.cwd(), Path(__file__))
        return run_with_console(
            run_dir,
            lambda console: _announce(console, run_, run_dir),
            lambda console: _session(console, run_, run_dir, started),
        )
    except CannotWriteError as error:
        print(f"[ERROR] {error}", file=sys.stderr)
        return EXIT_FAILED


def _session(console: RunConsole, run_: PreparedRun, run_dir: Path, started: float) -> int:
    """Start the workers, train, and say where everything is."""
    from isaaclab_rlinf.backends.session import launch_group, rlinf_cluster, start_env, tell_notices

    console.line("[INFO] Starting Ray and the workers (imports take most of it) ...")
    with rlinf_cluster(run_.cfg, force_cpu=run_.force_cpu, console=console) as (cfg, cluster, placement):
        from isaaclab_rlinf.backends.train_runner import TrainRunner
        from isaaclab_rlinf.waiting import waiting
        from isaaclab_rlinf.workers.env import SimulatorEnvWorker
        from isaaclab_rlinf.workers.rollout import RolloutWorker

        with waiting("starting the workers and their simulators", console.notice):
            env, env_started = start_env(SimulatorEnvWorker, cfg, cluster, placement)
            classes = {"actor": _actor_class(cfg), "rollout": RolloutWorker}
            groups = {name: launch_group(cls, cfg, cluster, placement, name) for name, cls in classes.items()}
            runner = TrainRunner(cfg, **groups, env=env, env_started=env_started, console=console, run_dir=run_dir)
            runner.init_workers()
        _tell_resume(console, runner, run_)
        told = tell_notices(console, env, run_.notices)
        console.line(f"[INFO] Workers are up after {time.monotonic() - started:.0f} s; training begins")
        runner.run()
        tell_notices(console, env, told)
        env.close_simulators().wait()
        _conclude(console, runner, run_dir, started)
    return 0


def _actor_class(cfg) -> type:
    """Return the actor for the config's algorithm."""
    if cfg.algorithm.loss_type == "embodied_sac":
        from isaaclab_rlinf.workers.sac_actor import SacActorWorker

        return SacActorWorker
    from isaaclab_rlinf.workers.actor import ActorWorker

    return ActorWorker


def _announce(console: RunConsole, run_: PreparedRun, run_dir: Path) -> None:
    """Show the start-up summary box and what was changed in the YAML."""
    cfg = run_.cfg
    console.summary(
        "Isaac Lab · train",
        {
            "Task": run_.task,
            "RL library": "rlinf (isaaclab-rlinf)",
            "Config": short_path(run_.source),
            "Model": f"{cfg.actor.model.model_type} ({short_path(Path(cfg.actor.model.model_path))})",
            "Resume from": short_path(run_.checkpoint.step_dir) if run_.checkpoint else "-",
            "Algorithm": f"{cfg.algorithm.loss_type} / {cfg.algorithm.adv_type}",
            "Device": str(cfg.env.train.init_params.device),
            "Environments": str(cfg.env.train.total_num_envs),
            "Steps": str(cfg.runner.max_epochs),
        },
    )
    for notice in run_.notices:
        console.line(f"[INFO] {notice}")
    console.line(f"[INFO] Logging to: {run_dir}")


def _tell_resume(console: RunConsole, runner, run_: PreparedRun) -> None:
    """Say what was restored."""
    if run_.checkpoint is not None and hasattr(runner.actor, "trainer_state"):
        state = runner.actor.trainer_state().wait()[0]
        console.line(
            f"[INFO] Resumed {run_.checkpoint.step_dir}: step {runner.global_step}, "
            f"{state['optimizer_steps']} optimizer steps, learning rate {state['lr']:g}"
        )
        for change in state["changed"]:
            console.line(f"[INFO] Given now, so used: {change}")
        for notice in state["notices"]:
            console.line(f"[INFO] {notice[0].upper()}{notice[1:]}")


def _conclude(console: RunConsole, runner, run_dir: Path, started: float) -> None:
    """Draw the curve, say what was reached and name every output."""
    from isaaclab_rlinf.backends.console import attempt
    from isaaclab_rlinf.backends.curves import METRICS_FILENAME, describe_progress, draw_learning_curve, read_history

    curve = attempt(
        console, "draw the learning curve", lambda: draw_learning_curve(run_dir, run_dir / "learning_curve.png")
    )
    progress = attempt(console, "read the metrics", lambda: describe_progress(read_history(run_dir)))
    steps = sorted(runner.checkpoints_dir.glob("global_step_*"), key=lambda path: int(path.name.split("_")[-1]))
    best = runner.scores.best
    console.line(f"[INFO] Training finished in {time.monotonic() - started:.0f} s")
    if progress:
        console.line(f"[INFO] {progress}")
    console.line(f"       Checkpoints:  {runner.checkpoints_dir} ({', '.join(path.name for path in steps) or 'none'})")
    if best:
        console.line(f"       Best:         {run_dir / best.step_dir} ({best.metric} {best.value:.3f})")
    if curve:
        console.line(f"       Curve:        {curve}")
    videos = list((run_dir / "videos").glob("**/*.mp4"))
    if videos:
        console.line(f"       Videos:       {run_dir / 'videos'} ({len(videos)} files)")
    console.line(f"       TensorBoard:  {run_dir / 'tensorboard'}")
    console.line(f"       Metrics:      {run_dir / METRICS_FILENAME}")
    console.line(f"       Full log:     {console.log_file}")
