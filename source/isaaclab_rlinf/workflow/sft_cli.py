# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf sft``."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import Issue, raise_if
from isaaclab_rlinf.config.seeds import parse_seed
from isaaclab_rlinf.workflow.partial_directory import leftovers, output_issues

if TYPE_CHECKING:
    from isaaclab_rlinf.workflow.sft import SftReport, SftSettings


def add_sft_args(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``isaaclab-rlinf sft``.

    Args:
        parser: Parser of the subcommand.
    """
    parser.add_argument("--dataset", required=True, type=Path, metavar="DIR", help="LeRobot dataset directory.")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="Checkpoint directory to create.")
    parser.add_argument("--steps", type=_positive, default=3000, metavar="N", help="Optimizer steps.")
    parser.add_argument("--batch_size", type=_positive, default=64, metavar="N", help="Frames per step.")
    parser.add_argument(
        "--lr", type=_positive_rate, metavar="RATE", help="Peak learning rate; default 1e-3, with --base 1e-4."
    )
    parser.add_argument("--seed", type=parse_seed, default=0, metavar="N", help="Seed of weights and batches.")
    parser.add_argument(
        "--action_horizon", type=_positive, metavar="N", help="Actions per chunk; default 8, or the base's."
    )
    parser.add_argument("--max_episodes", type=_positive, metavar="N", help="Use only the first N episodes.")
    parser.add_argument(
        "--max_text_length", type=_positive, metavar="N", help="Words per instruction of a new tiny_vla; default 8."
    )
    base = parser.add_argument_group("GR00T N1.7 in place of a new tiny_vla")
    base.add_argument("--base", type=Path, metavar="DIR", help="GR00T N1.7 checkpoint to start from.")
    base.add_argument("--embodiment_tag", metavar="TAG", help="Its embodiment; default the only one it has.")
    base.add_argument("--backbone_model_path", type=Path, metavar="DIR", help="Its backbone's tokenizer, if elsewhere.")
    base.add_argument("--tune_llm", action="store_true", help="Train the language model too.")
    base.add_argument("--tune_visual", action="store_true", help="Train the vision tower too.")


def run_sft(args: argparse.Namespace) -> int:
    """Train on demonstrations, show progress and say where the results are.

    Args:
        args: Namespace with the arguments of :func:`add_sft_args`.

    Returns:
        0, 1 when the loss is no longer finite or the disk failed, 130 when interrupted; nothing is written then.

    Raises:
        ConfigError: If the dataset or the base checkpoint is damaged or does not fit, ``--out`` cannot be written, or
            a flag has no effect without ``--base``.
    """
    try:
        _check_flags(args)
        report = _train(args, _settings(args))
    except FloatingPointError as error:
        print(f"[ERROR] {error}; nothing was written", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("[ERROR] interrupted; nothing was written", file=sys.stderr)
        return 130
    except (FileExistsError, FileNotFoundError):  # no fault of the disk's; the command line knows more
        raise
    except OSError as error:
        print(f"[ERROR] {type(error).__name__}: {error}; nothing was written", file=sys.stderr)
        return 1
    print(
        f"[INFO] {report.episodes} episodes, {report.frames} frames; {report.parameters / 1e6:.2f} M parameters; "
        f"loss {report.first_loss:.4f} -> {report.final_loss:.4f} in {report.seconds:.0f} s\n"
        f"[INFO] TensorBoard: {report.out_dir / 'tensorboard'}\n"
        f"[INFO] Checkpoint: {report.out_dir}"
    )
    return 0


def _settings(args: argparse.Namespace) -> SftSettings:
    """Return the settings, and say which training they are."""
    from isaaclab_rlinf.workflow.sft import SftSettings

    settings = SftSettings(
        steps=args.steps,
        batch_size=args.batch_size,
        lr=args.lr,
        seed=args.seed,
        action_horizon=args.action_horizon,
        max_episodes=args.max_episodes,
        max_text_length=args.max_text_length,
        base=args.base,
        embodiment_tag=args.embodiment_tag,
        backbone_model_path=args.backbone_model_path,
        tune_llm=args.tune_llm,
        tune_visual=args.tune_visual,
    )
    what = f"GR00T N1.7 from {args.base}" if args.base else "a new tiny_vla"
    print(f"[INFO] {what}, on the CPU in float32 (sft uses no GPU); peak learning rate {settings.lr:g}", flush=True)
    return settings


def _train(args: argparse.Namespace, settings: SftSettings) -> SftReport:
    """Train behind progress bars."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from isaaclab_rlinf.workflow.sft import train_sft

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        reading = progress.add_task("read frames", total=None)
        training = progress.add_task("train", total=settings.steps)
        return train_sft(
            args.dataset,
            args.out.absolute(),
            settings,
            on_frame=lambda done, total: progress.update(reading, completed=done, total=total),
            on_step=lambda done, loss: progress.update(
                training, completed=done, description=f"train (loss {loss:.4f})"
            ),
            on_notice=lambda text: progress.print(f"[INFO] {text}", markup=False, highlight=False, soft_wrap=True),
        )


def _check_flags(args: argparse.Namespace) -> None:
    """Report mistakes about the output and the base checkpoint before the dataset is read, all at once."""
    issues = output_issues(args.out)
    if args.base is None:
        idle = ("embodiment_tag", "backbone_model_path", "tune_llm", "tune_visual")
        found = "has no effect without --base"
        issues += [Issue(f"--{name}", found, "--base DIR") for name in idle if vars(args)[name]]
    else:
        if args.max_text_length is not None:
            found = "has no effect with --base, which says itself how long its texts may be"
            issues.append(Issue("--max_text_length", found, "no --max_text_length"))
        issues += _base_issues(args)
    raise_if(issues)
    for path in leftovers(args.out.absolute()):
        print(f"[INFO] {path} is from a run that was killed, or is still going; it is in nobody's way")


def _base_issues(args: argparse.Namespace) -> list[Issue]:
    from isaaclab_rlinf.models.gr00t_n1d7.backbone import backbone_directory
    from isaaclab_rlinf.models.gr00t_n1d7.files import read_files
    from isaaclab_rlinf.models.gr00t_n1d7.inspect import checkpoint_facts

    try:
        files = read_files(args.base)
        checkpoint_facts(files, args.embodiment_tag)
        backbone_directory(files, args.backbone_model_path)
    except ValueError as error:
        return [Issue("--base", str(error), "a GR00T N1.7 checkpoint directory")]
    return []


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _positive_rate(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value
