# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf check``: what train and play check, without starting them; with ``--sim`` the task as well."""

from __future__ import annotations

import argparse
import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.backends.cli_args import positive
from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.config.light_import import end_child, start_early
from isaaclab_rlinf.config.stage import config_stage

if TYPE_CHECKING:
    from isaaclab_rlinf.backends.prepare import PreparedRun


def add_check_args(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``isaaclab-rlinf check``.

    Args:
        parser: Parser of the subcommand.
    """
    parser.add_argument("--config_name", metavar="NAME", help="Task YAML: its name, with or without .yaml, or a path.")
    parser.add_argument("--config_path", metavar="DIR", help="Directory to take the YAML from.")
    parser.add_argument("--task", metavar="ID", help="Gym id; alone, it selects the YAML that the task registered.")
    parser.add_argument("--model_path", metavar="DIR", help="Base checkpoint directory; wins over the YAML.")
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), help="As for train; the simulator of --sim runs on the CPU by default."
    )
    parser.add_argument("--sim", action="store_true", help="Start the task's simulator and show what it shows.")
    parser.add_argument("--num_envs", type=positive, metavar="N", help="Environments of --sim; default 2.")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="Where --sim writes; default logs/rlinf/check/<timestamp>-<task>."
    )
    parser.set_defaults(takes_overrides=True)


@dataclass(frozen=True)
class Checked:
    """A configuration as train and play would run it."""

    runs: dict[str, PreparedRun]
    """By ``train`` and ``play``; a YAML for evaluation only has no ``train``."""
    notices: tuple[str, ...]


def run_check(args: argparse.Namespace) -> int:
    """Check a configuration.

    Args:
        args: Namespace with the arguments of :func:`add_check_args`, and ``overrides``.

    Returns:
        0 when train and play would start; with ``--sim`` 1 when the simulator failed, 2 when the YAML does not fit it.

    Raises:
        ConfigError: With everything that is wrong.
        FileExistsError: If ``--out`` holds something already.
    """
    _refuse_idle_flags(args)
    start_early("isaaclab.envs")  # what nearly every task's configuration imports
    try:
        with config_stage():
            checked = check_config(args)
    finally:
        end_child()
    from isaaclab_rlinf.inspection.summary import print_summary

    print_summary(checked.runs)
    for notice in checked.notices:
        print(f"[INFO] {notice}")
    verdict = _verdict(checked.runs)
    if not args.sim:
        print(f"[INFO] {verdict} --sim looks at the task itself.", flush=True)
        return 0
    print(f"[INFO] {verdict} Starting the simulator ...", flush=True)
    from isaaclab_rlinf.inspection.simulate import inspect_runs

    return inspect_runs(checked.runs, device=args.device or "cpu", num_envs=args.num_envs or 2, out=args.out)


def _verdict(runs: dict[str, PreparedRun]) -> str:
    """Say whether train and play would start here; a YAML may be meant for a machine that has more installed."""
    from isaaclab_rlinf.config.gr00t_block import require_package

    verbs = " and ".join(f"isaaclab {mode}" for mode in runs)
    try:
        for run in runs.values():
            require_package(run.cfg, run.source)
    except ConfigError as error:
        reason = error.issues[0].found
        return f"No mistakes found in the YAML, but on this machine {verbs} would not start: {reason}."
    return f"No mistakes found: {verbs} would start."


def check_config(args: argparse.Namespace) -> Checked:
    """Do what train and play do before they start anything.

    Args:
        args: Namespace with the arguments of :func:`add_check_args`, and ``overrides``.

    Raises:
        ConfigError: With every mistake of both, each once.
    """
    from isaaclab_rlinf.backends.prepare import EvaluationOnlyError, compose, prepare_play, prepare_train

    namespace = _backend_args(args)
    source, cfg = compose(namespace)
    found: dict[str, tuple[Issue, ...]] = {}
    runs: dict[str, PreparedRun] = {}
    notices: list[str] = []
    for mode, prepare in (("train", prepare_train), ("play", prepare_play)):
        try:
            runs[mode] = prepare(namespace, (source, copy.deepcopy(cfg)))
            notices += runs[mode].notices
        except EvaluationOnlyError as error:
            notices.append(f"train is not checked, the YAML is for evaluation only ({error.issues[0].where})")
        except ConfigError as error:
            found[mode] = error.issues
    if found:
        raise ConfigError(_merge(found))
    return Checked(runs, tuple(dict.fromkeys(notices)))


def _merge(found: dict[str, tuple[Issue, ...]]) -> list[Issue]:
    """Return each mistake once, saying so where only one of train and play makes it."""
    issues = list(found.get("train", ()))
    rest = [issue for issue in found.get("play", ()) if issue not in issues]
    return issues + [replace(issue, found=f"{issue.found} (in isaaclab play)") for issue in rest] if issues else rest


def _refuse_idle_flags(args: argparse.Namespace) -> None:
    """Refuse flags that act on the simulator only, when none is asked for."""
    idle = [f"--{name}" for name in ("num_envs", "out") if getattr(args, name) is not None]
    if idle and not args.sim:
        raise ConfigError([Issue(flag, "has no effect without --sim and is refused", fix="add --sim") for flag in idle])


def _backend_args(args: argparse.Namespace) -> argparse.Namespace:
    """Return the command line as the backends parse it, with what check does not take left at its default."""
    if not args.config_name and not args.task:
        fix = "e.g. --config_name isaaclab_ppo_tiny_vla_touch_color"
        raise ConfigError([Issue("--config_name", "neither --config_name nor --task is given", "one of them", fix)])
    unset = {"checkpoint": None, "max_iterations": None, "num_episodes": None, "num_envs": None, "seed": None}
    return argparse.Namespace(
        config_name=args.config_name,
        config_path=args.config_path,
        task=args.task,
        model_path=args.model_path,
        device=args.device,
        video=False,
        only_eval=False,
        overrides=args.overrides,
        working_directory=Path.cwd(),
        **unset,
    )
