# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Command-line arguments of the RLinf backends. Import-light: ``--help`` must not wait for torch."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from isaaclab_rlinf.config.checks_placement import device_issue
from isaaclab_rlinf.config.seeds import parse_seed

_OVERRIDE = re.compile(r"^(~|\+{0,2})[A-Za-z_][\w.@/,\-\[\]]*(=.*)?$", re.DOTALL)
_EPILOG = (
    "Trailing 'key=value' arguments override the task YAML through Hydra, for example 'algorithm.gamma=0.98' "
    "or '+runner.val_check_interval=5'."
)


def parse_train_args(argv: list[str]) -> argparse.Namespace:
    """Parse ``isaaclab train --rl_library rlinf`` arguments.

    Args:
        argv: Arguments without the program name and without ``--rl_library``.

    Returns:
        The namespace; ``overrides`` holds the Hydra overrides in the order given.

    Raises:
        SystemExit: With status 2 on a usage error, 0 for ``--help``.
    """
    parser = _common_parser("train", "Fine-tune a vision-language-action model on an Isaac Lab task with RLinf.")
    parser.add_argument(
        "--checkpoint",
        metavar="PATH|latest|best",
        help="Checkpoint to resume from, with optimizer, scheduler, counters and RNG.",
    )
    parser.add_argument(
        "--max_iterations",
        type=positive,
        metavar="N",
        help="Training steps of this run; a resumed run does N more. Default: the YAML's runner.max_epochs in total.",
    )
    parser.add_argument("--only_eval", action="store_true", help="Evaluate only, as 'isaaclab play' does.")
    parser.add_argument("--list_tasks", action="store_true", help="List the tasks that have an RLinf YAML, and exit.")
    args = _parse(parser, argv)
    if args.only_eval and args.max_iterations is not None:
        parser.error("--max_iterations has no effect with --only_eval and is refused")
    if not args.list_tasks:
        _require_config(parser, args)
    return args


def parse_play_args(argv: list[str]) -> argparse.Namespace:
    """Parse ``isaaclab play --rl_library rlinf`` arguments; see :func:`parse_train_args`."""
    parser = _common_parser("play", "Evaluate a vision-language-action model on an Isaac Lab task with RLinf.")
    parser.add_argument(
        "--checkpoint",
        metavar="PATH|latest|best",
        help="Fine-tuned weights to load over the base model. Without it the base model is evaluated.",
    )
    parser.add_argument(
        "--num_episodes", type=positive, metavar="N", help="Number of episodes, exactly. Default: one per environment."
    )
    args = _parse(parser, argv)
    _require_config(parser, args)
    return args


def _common_parser(action: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the arguments that train and play share."""
    parser = argparse.ArgumentParser(
        prog=f"isaaclab {action} --rl_library rlinf", description=description, epilog=_EPILOG, allow_abbrev=False
    )
    parser.add_argument("--config_name", metavar="NAME", help="Task YAML: its name, with or without .yaml, or a path.")
    parser.add_argument("--config_path", metavar="DIR", help="Directory to take the YAML from.")
    parser.add_argument("--task", metavar="ID", help="Gym id; alone, it selects the YAML that the task registered.")
    parser.add_argument("--model_path", metavar="DIR", help="Base checkpoint directory; wins over the YAML.")
    parser.add_argument("--num_envs", type=positive, metavar="N", help="Number of parallel environments.")
    parser.add_argument("--seed", type=parse_seed, metavar="N", help="Seed of actor, rollout and environments.")
    parser.add_argument("--video", action="store_true", help=f"Record videos while the policy acts in {action}.")
    parser.add_argument("--device", metavar="DEV", help="'cpu' keeps everything off the GPU; 'cuda' insists on one.")
    parser.add_argument("--headless", action="store_true", help="No window; this backend never opens one.")
    return parser


def _parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Parse, telling Hydra overrides from mistakes."""
    args, rest = parser.parse_known_args(argv)
    unknown = not_overrides(rest)
    if unknown:
        options = sorted(option for action in parser._actions for option in action.option_strings)
        parser.error(f"{_describe(unknown)}. Options: {', '.join(options)}; overrides are written key=value.")
    if args.device is not None and (issue := device_issue("--device", args.device)):
        parser.error(str(issue))
    args.overrides = rest
    args.working_directory = Path.cwd()
    return args


def not_overrides(tokens: list[str]) -> list[str]:
    """Return the tokens that are not Hydra overrides."""
    return [token for token in tokens if not _OVERRIDE.match(token) or ("=" not in token and token[0] != "~")]


def _describe(unknown: list[str]) -> str:
    """Return what is wrong with the tokens, naming Isaac Lab flags that exist elsewhere but act on nothing here."""
    without_effect = {"--distributed", "--agent", "--frontend", "--real-time", "--video_length", "--video_interval"}
    flagged = [token for token in unknown if token.split("=")[0] in without_effect]
    if flagged:
        return f"{' '.join(flagged)} has no effect with the rlinf backend and is refused"
    return f"unrecognized arguments: {' '.join(unknown)}"


def _require_config(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse a command line that names neither a YAML nor a task."""
    if not args.config_name and not args.task:
        parser.error("one of --config_name NAME and --task ID is required; --list_tasks (train) shows what there is")


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {value}")
    return value
