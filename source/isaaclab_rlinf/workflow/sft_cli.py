# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf sft``."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_sft_args(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``isaaclab-rlinf sft``.

    Args:
        parser: Parser of the subcommand.
    """
    parser.add_argument("--dataset", required=True, type=Path, metavar="DIR", help="LeRobot dataset directory.")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="Checkpoint directory to create.")
    parser.add_argument("--steps", type=_positive, default=3000, metavar="N", help="Optimizer steps.")
    parser.add_argument("--batch_size", type=_positive, default=64, metavar="N", help="Frames per step.")
    parser.add_argument("--lr", type=float, default=1e-3, metavar="RATE", help="Peak learning rate.")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="Seed of weights and batches.")
    parser.add_argument("--action_horizon", type=_positive, default=8, metavar="N", help="Actions per chunk.")
    parser.add_argument("--max_episodes", type=_positive, metavar="N", help="Use only the first N episodes.")


def run_sft(args: argparse.Namespace) -> int:
    """Train on demonstrations, show progress and say where the results are.

    Args:
        args: Namespace with the arguments of :func:`add_sft_args`.

    Returns:
        Exit code 0.

    Raises:
        ConfigError: If the dataset does not fit.
        FileExistsError: If ``--out`` exists.
        FileNotFoundError: If ``--dataset`` is not a dataset.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from isaaclab_rlinf.workflow.sft import SftSettings, train_sft

    settings = SftSettings(
        steps=args.steps,
        batch_size=args.batch_size,
        lr=args.lr,
        seed=args.seed,
        action_horizon=args.action_horizon,
        max_episodes=args.max_episodes,
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        reading = progress.add_task("read frames", total=None)
        training = progress.add_task("train", total=settings.steps)
        report = train_sft(
            args.dataset,
            args.out.absolute(),
            settings,
            on_frame=lambda done, total: progress.update(reading, completed=done, total=total),
            on_step=lambda done, loss: progress.update(
                training, completed=done, description=f"train (loss {loss:.4f})"
            ),
        )
    print(
        f"[INFO] {report.episodes} episodes, {report.frames} frames; {report.parameters / 1e6:.2f} M parameters; "
        f"loss {report.first_loss:.4f} -> {report.final_loss:.4f} in {report.seconds:.0f} s\n"
        f"[INFO] TensorBoard: {report.out_dir / 'tensorboard'}\n"
        f"[INFO] Checkpoint: {report.out_dir}"
    )
    return 0


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value
