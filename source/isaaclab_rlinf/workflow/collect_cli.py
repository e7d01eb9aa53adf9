# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf collect``."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.seeds import parse_seed
from isaaclab_rlinf.workflow.partial_directory import leftovers

if TYPE_CHECKING:
    from isaaclab_rlinf.workflow.collect import CollectReport
    from isaaclab_rlinf.workflow.collect_prepare import PreparedCollect

INTERRUPTED = "[ERROR] interrupted; nothing was written"


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
    parser.add_argument("--seed", type=parse_seed, default=0, metavar="N", help="Seed of episodes and action noise.")
    parser.add_argument(
        "--action_noise", type=_deviation, default=0.0, metavar="STD", help="Disturbance of the actions."
    )
    parser.add_argument(
        "--calibration_error", type=_finite, default=0.0, metavar="X", help="Constant error of the recorded actions."
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


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a finite number, got {text}")
    return value


def _deviation(text: str) -> float:
    value = _finite(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more, got {text}")
    return value


def run_collect(args: argparse.Namespace) -> int:
    """Collect demonstrations.

    Args:
        args: Namespace with the arguments of :func:`add_collect_args`.

    Returns:
        0; 1 when the task, the expert or the disk failed, 130 when interrupted: nothing is written then, except for
        the episodes of an expert that gave up.

    Raises:
        ConfigError: With everything that is wrong with YAML and command line.
    """
    from isaaclab_rlinf.config.light_import import end_child
    from isaaclab_rlinf.config.stage import config_stage
    from isaaclab_rlinf.workflow.collect_prepare import prepare_collect

    try:
        with config_stage():
            prepared = prepare_collect(args)
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
        return 130
    finally:
        end_child()
    for notice in prepared.notices:
        print(f"[INFO] {notice}")
    for path in leftovers(args.out.absolute()):
        print(f"[INFO] {path} is from a run that was killed, or is still going; it is in nobody's way")
    return _collect(prepared, args.out.absolute())


def _collect(prepared: PreparedCollect, out: Path) -> int:
    """Collect behind a progress bar and say how it ended, at once: with Kit this is the end of the process."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from isaaclab_rlinf.workflow.collect import collect_demonstrations

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    codes: list[int | None] = []
    with Progress(*columns) as progress:
        bar = progress.add_task("episodes", total=prepared.settings.num_episodes)

        def end(outcome: CollectReport | BaseException) -> None:
            progress.stop()
            codes.append(_say(outcome))

        try:
            collect_demonstrations(
                prepared.spec,
                prepared.expert,
                out,
                prepared.settings,
                on_progress=lambda episodes, attempts: progress.update(bar, completed=episodes),
                on_notice=lambda text: progress.print(f"[INFO] {text}", markup=False, highlight=False, soft_wrap=True),
                on_end=end,
            )
        except BaseException as error:
            if not codes:
                end(error)
            if not codes[0]:  # nobody has told of it, or it came when all was told
                raise
    return codes[0] or 0


def _say(outcome: CollectReport | BaseException) -> int | None:
    """Print how it ended; return the exit code, None for an error that somebody else knows more of."""
    from isaaclab_rlinf.mapping.errors import MappingError
    from isaaclab_rlinf.workflow.collect import ExpertGaveUpError

    if isinstance(outcome, KeyboardInterrupt):
        print(INTERRUPTED, file=sys.stderr)
        return 130
    if isinstance(outcome, ExpertGaveUpError | MappingError):
        print(f"[ERROR] {outcome}", file=sys.stderr)
        return 1
    if isinstance(outcome, OSError) and not isinstance(outcome, FileExistsError | FileNotFoundError):
        print(f"[ERROR] {type(outcome).__name__}: {outcome}; nothing was written", file=sys.stderr)
        return 1
    if isinstance(outcome, BaseException):
        return None
    print(
        f"[INFO] {outcome.episodes} episodes, {outcome.frames} frames; the expert succeeded in "
        f"{outcome.episodes} of {outcome.attempts} attempts\n[INFO] Dataset: {outcome.directory}",
        flush=True,
    )
    return 0
