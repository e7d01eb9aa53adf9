# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab play --rl_library rlinf``."""

from __future__ import annotations

import argparse
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
    """Evaluate.

    Args:
        argv: Command-line arguments after ``--rl_library rlinf``.

    Returns:
        0 when every episode was played, 1 when the run failed or no episode finished, 2 for a config error, 130 when
        interrupted.
    """
    return run_parsed(cli_args.parse_play_args(argv), argv)


def run_parsed(args: argparse.Namespace, argv: list[str]) -> int:
    """Evaluate from a parsed command line; ``train --only_eval`` comes here too."""
    from isaaclab_rlinf.backends.prepare import prepare_play
    from isaaclab_rlinf.config.gr00t_block import require_package

    started = time.monotonic()
    search_working_directory()
    args.num_episodes = getattr(args, "num_episodes", None)
    try:
        with config_stage():
            run_ = prepare_play(args)
            require_package(run_.cfg, run_.source)
    except ConfigError as error:
        print_report(error.issues)
        return 2
    return _play(run_, argv, started)


def _play(run_: PreparedRun, argv: list[str], started: float) -> int:
    """Create the run directory and hand the terminal to the session."""
    from isaaclab_rlinf.backends.run_directory import EVAL_LOG_ROOT, open_run_directory
    from isaaclab_rlinf.backends.session import EXIT_FAILED, run_with_console
    from isaaclab_rlinf.backends.writing import CannotWriteError, writing

    try:
        with writing(Path.cwd() / EVAL_LOG_ROOT):
            run_dir = open_run_directory(EVAL_LOG_ROOT, run_, argv)
        return run_with_console(
            run_dir,
            lambda console: _announce(console, run_, run_dir),
            lambda console: _session(console, run_, run_dir, started),
        )
    except CannotWriteError as error:
        print(f"[ERROR] {error}", file=sys.stderr)
        return EXIT_FAILED


def _announce(console: RunConsole, run_: PreparedRun, run_dir: Path) -> None:
    """Show the start-up summary box, and loudly when it is the base model that will be evaluated."""
    cfg = run_.cfg
    checkpoint = cfg.runner.ckpt_path
    console.summary(
        "Isaac Lab · play",
        {
            "Task": run_.task,
            "RL library": "rlinf (isaaclab-rlinf)",
            "Config": short_path(run_.source),
            "Model": f"{cfg.rollout.model.model_type} ({short_path(Path(cfg.rollout.model.model_path))})",
            "Checkpoint": short_path(Path(checkpoint)) if checkpoint else "none: the base model is evaluated",
            "Device": str(cfg.env.eval.init_params.device),
            "Environments": str(cfg.env.eval.total_num_envs),
            "Episodes": str(run_.episodes),
        },
    )
    for notice in run_.notices:
        console.line(f"[INFO] {notice}")
    console.line(f"[INFO] Logging to: {run_dir}")


def _session(console: RunConsole, run_: PreparedRun, run_dir: Path, started: float) -> int:
    """Start the workers, play the episodes, and report."""
    from isaaclab_rlinf.backends.episodes import summarize_episodes, write_metrics
    from isaaclab_rlinf.backends.session import launch_group, rlinf_cluster, start_env, tell_notices

    console.line("[INFO] Starting Ray and the workers (imports take most of it) ...")
    with rlinf_cluster(run_.cfg, force_cpu=run_.force_cpu, console=console) as (cfg, cluster, placement):
        from isaaclab_rlinf.backends.eval_runner import EvalRunner
        from isaaclab_rlinf.waiting import waiting
        from isaaclab_rlinf.workers.env import SimulatorEnvWorker
        from isaaclab_rlinf.workers.rollout import RolloutWorker

        with waiting("starting the workers and their simulators", console.notice):
            env, env_started = start_env(SimulatorEnvWorker, cfg, cluster, placement)
            rollout = launch_group(RolloutWorker, cfg, cluster, placement, "rollout")
            runner = EvalRunner(cfg, rollout=rollout, env=env, env_started=env_started)
            report = runner.init_workers()
        weights = _tell_weights(console, report, cfg)
        told = tell_notices(console, env, run_.notices)
        console.line(
            f"[INFO] Workers are up after {time.monotonic() - started:.0f} s; playing {run_.episodes} episodes"
        )
        results = runner.evaluate()
        tell_notices(console, env, told)
        instructions = env.instructions().wait()[0]
        env.close_simulators().wait()
    summary = summarize_episodes(results, run_.episodes, int(cfg.env.eval.total_num_envs), instructions)
    _conclude(console, summary, weights, run_dir)  # first: the result is told even where it cannot be written
    write_metrics(run_dir / "metrics.json", summary, task=run_.task, weights=weights)
    return 0 if summary.episodes else 1


def _tell_weights(console: RunConsole, report, cfg) -> dict[str, object]:
    """Say which weights act, and return the same for the metrics file."""
    if report is None:
        console.line(f"[INFO] Weights: base model {cfg.rollout.model.model_path} (no --checkpoint given)")
        return {"file": str(cfg.rollout.model.model_path), "checkpoint": False}
    console.line(f"[INFO] Weights: {report.file} ({report.matched} of {report.total} keys)")
    return {"file": report.file, "checkpoint": True, "matched_keys": report.matched, "model_keys": report.total}


def _conclude(console: RunConsole, summary, weights: dict[str, object], run_dir: Path) -> None:
    """Print the result and where it is written."""
    if not summary.episodes:
        console.line("[ERROR] No episode finished; there is no success rate to report.")
        return
    low, high = summary.interval
    console.line(
        f"[INFO] Success rate {summary.success_rate:.3f} (95 % interval {low:.3f} to {high:.3f}) over "
        f"{summary.episodes} episodes; return {summary.mean_return:.3f}, length {summary.mean_length:.1f} steps"
    )
    for name, (rate, count) in summary.per_instruction.items():
        console.line(f"       {name}: {rate:.3f} ({count} episodes)")
    if summary.unfinished:
        console.line(f"[WARN] {summary.unfinished} episodes did not finish and are not counted")
    console.line(f"       Weights:  {weights['file']}")
    console.line(f"       Metrics:  {run_dir / 'metrics.json'}")
    videos = sorted((run_dir / "videos").glob("**/*.mp4"))
    for video in videos:
        console.line(f"       Video:    {video}")
    console.line(f"       Full log: {console.log_file}")
