# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf collect``."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path


def add_collect_args(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``isaaclab-rlinf collect``.

    Args:
        parser: Parser of the subcommand.
    """
    parser.add_argument("--config_name", required=True, metavar="NAME", help="Task YAML; its mapping is recorded.")
    parser.add_argument("--config_path", metavar="DIR", help="Directory to take the YAML from.")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="Dataset directory to create.")
    parser.add_argument(
        "--num_episodes", type=_positive, default=200, metavar="N", help="Successful episodes to record."
    )
    parser.add_argument("--num_envs", type=_positive, default=32, metavar="N", help="Parallel environments.")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="Seed of episodes and action noise.")
    parser.add_argument("--action_noise", type=float, default=0.0, metavar="STD", help="Disturbance of the actions.")
    parser.add_argument(
        "--calibration_error", type=float, default=0.0, metavar="X", help="Constant error of the recorded actions."
    )
    parser.add_argument("--device", default=None, metavar="DEV", help="Simulator device; default: CUDA if any.")
    parser.add_argument(
        "--expert",
        metavar="MODULE:FUNCTION",
        help="Expert policy (environment, horizon) -> (B, horizon, A); default: the task registration's "
        "'expert_entry_point'.",
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {value}")
    return value


def run_collect(args: argparse.Namespace) -> int:
    """Collect demonstrations.

    Args:
        args: Namespace with the arguments of :func:`add_collect_args`.

    Returns:
        Exit code.

    Raises:
        ConfigError: If the YAML or the expert cannot be found.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from isaaclab_rlinf.mapping.errors import MappingError
    from isaaclab_rlinf.workflow.collect import ExpertGaveUpError, collect_demonstrations

    spec = _simulator_spec(args)
    expert = _load_expert(args.expert, spec.task_id, spec.import_modules)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns) as progress:
            bar = progress.add_task("episodes", total=args.num_episodes)
            report = collect_demonstrations(
                spec,
                expert,
                args.out.absolute(),
                args.num_episodes,
                action_noise=args.action_noise,
                calibration_error=args.calibration_error,
                on_progress=lambda episodes, attempts: progress.update(bar, completed=episodes),
            )
    except (ExpertGaveUpError, MappingError) as error:
        print(f"[ERROR] {error}", file=sys.stderr)
        return 1
    print(
        f"[INFO] {report.episodes} episodes, {report.frames} frames; the expert succeeded in "
        f"{report.episodes} of {report.attempts} attempts\n[INFO] Dataset: {report.directory}"
    )
    return 0


def _simulator_spec(args: argparse.Namespace):
    """Return the simulator of the YAML's training block."""
    from omegaconf import open_dict

    from isaaclab_rlinf.config.compose import compose_config
    from isaaclab_rlinf.config.discover import find_config
    from isaaclab_rlinf.config.errors import raise_if
    from isaaclab_rlinf.config.migrate import migrate
    from isaaclab_rlinf.config.parse import parse_isaaclab_block
    from isaaclab_rlinf.env.settings import simulator_spec_from_config

    source = find_config(args.config_name, args.config_path)
    cfg = compose_config(source)
    migrate(cfg)
    raise_if(parse_isaaclab_block(cfg.env.train.isaaclab, "env.train.isaaclab")[1], source)
    with open_dict(cfg):
        cfg.env.train.seed = args.seed
        cfg.env.train.auto_reset = True
        cfg.env.train.init_params.action_chunk = 1
        cfg.env.train.init_params.device = args.device
        cfg.env.train.init_params.import_modules = list(cfg.get("extensions", None) or ())
    return simulator_spec_from_config(cfg.env.train, args.num_envs)


def _load_expert(name: str | None, task: str, modules: tuple[str, ...]):
    """Return the expert named on the command line or by the task's registration."""
    import gymnasium as gym

    from isaaclab_rlinf.config.errors import ConfigError, Issue
    from isaaclab_rlinf.env.isaac_factory import import_tasks

    import_tasks(modules)
    task_id = task.split(":")[-1]
    known = gym.registry[task_id].kwargs if task_id in gym.registry else {}
    name = name or known.get("expert_entry_point")
    module, separator, function = str(name).partition(":")
    if not name or not separator:
        fix = "write a function (environment, horizon) -> (B, horizon, A) and name it"
        raise ConfigError([Issue("--expert", f"{name!r} for task '{task}'", "MODULE:FUNCTION", fix)])
    return getattr(importlib.import_module(module), function)
