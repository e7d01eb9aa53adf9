# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf export``."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from isaaclab_rlinf.checkpoints import (
    MANIFEST_FILENAME,
    SELECTORS,
    ResolvedCheckpoint,
    read_manifest,
    resolve_checkpoint,
)
from isaaclab_rlinf.config.errors import ConfigError, Issue, listing
from isaaclab_rlinf.workflow.export import DTYPES, RESOLVED, ExportReport, ExportSettings, find_run_config


def add_export_args(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``isaaclab-rlinf export``.

    Args:
        parser: Parser of the subcommand.
    """
    text = "Checkpoint of a training run: a global_step_N directory, a run that has one, full_weights.pt, latest, best."
    parser.add_argument("--checkpoint", required=True, metavar="PATH", help=text)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="Directory to create.")
    parser.add_argument("--dtype", choices=sorted(DTYPES), help="Dtype of the weights; left out: that of training.")
    parser.add_argument("--drop_value_head", action="store_true", help="Leave the critic out.")
    parser.add_argument("--task", metavar="ID", help="For latest and best: the run's task.")
    parser.add_argument("--config_name", metavar="NAME", help="For latest and best: the run's YAML.")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help=f"{RESOLVED} of the run, when weights lie elsewhere."
    )
    parser.add_argument("--model_path", type=Path, metavar="DIR", help="Base checkpoint, when it was moved.")
    parser.add_argument(
        "--max_shard_size", type=_size, default="5GB", metavar="SIZE", help="Largest weight file, e.g. 500MB."
    )
    parser.add_argument("--no_verify", action="store_true", help="Do not read the exported directory back.")


def run_export(args: argparse.Namespace) -> int:
    """Export and say what was written.

    Args:
        args: Namespace with the arguments of :func:`add_export_args`.

    Returns:
        Exit code 0.

    Raises:
        ConfigError: If something does not fit.
        FileExistsError: If ``--out`` exists.
    """
    from isaaclab_rlinf.workflow.export import export_checkpoint

    checkpoint = _resolve(args)
    if args.config is not None and not args.config.is_file():
        raise ConfigError([Issue("--config", f"{str(args.config)!r} is not a file", f"{RESOLVED} of a training run")])
    config = args.config or find_run_config(checkpoint.weights)
    settings = ExportSettings(
        dtype=args.dtype,
        drop_value_head=args.drop_value_head,
        model_path=args.model_path,
        max_shard_size=args.max_shard_size,
        verify=not args.no_verify,
    )
    for notice in checkpoint.notices:
        print(f"[INFO] {notice}")
    _tell(export_checkpoint(checkpoint, config, args.out.absolute(), settings))
    return 0


def _size(text: str) -> str:
    """Return a size as huggingface_hub reads it; checked here, since it reads it after the model was built."""
    if not re.fullmatch(r"(?=.*[1-9])[0-9]+(\.[0-9]+)?(KB|MB|GB|TB)", text.upper()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write a number and KB, MB, GB or TB, e.g. 500MB")
    return text.upper()


def _resolve(args: argparse.Namespace) -> ResolvedCheckpoint:
    from isaaclab_rlinf.backends.run_directory import TRAIN_LOG_ROOT

    root = Path.cwd() / TRAIN_LOG_ROOT
    task, name = args.task, args.config_name
    selected = args.checkpoint in SELECTORS and not Path(args.checkpoint).exists()
    if selected:
        task, name = _only_run_kind(root, task, name)
    elif task or name:
        found = f"given together with the path {args.checkpoint!r}"
        raise ConfigError([Issue("--task, --config_name", found, "with 'latest' or 'best' only", "leave them out")])
    return resolve_checkpoint(args.checkpoint, log_root=root, task=task or "", config_name=Path(name or "").stem)


def _only_run_kind(root: Path, task: str | None, name: str | None) -> tuple[str | None, str | None]:
    """Return the one task and YAML that the runs are of, among those that the flags leave."""
    manifests = map(read_manifest, root.glob(f"*/{MANIFEST_FILENAME}"))  # resolve_checkpoint tells of unreadable ones
    kinds = {(kind.task, kind.config_name) for kind in manifests if kind is not None and kind.ours}
    stem = Path(name).stem if name else None
    fitting = sorted(kind for kind in kinds if task in (None, kind[0]) and stem in (None, kind[1]))
    if len(fitting) > 1:
        shown = listing(f"--task {kind[0]} --config_name {kind[1]}" for kind in fitting)
        raise ConfigError([Issue("--checkpoint", "runs of several kinds are below logs/rlinf", shown, "name one")])
    return fitting[0] if fitting else (task, name)


def _tell(report: ExportReport) -> None:
    size = sum(file.stat().st_size for file in report.out.rglob("*") if file.is_file())
    merged = "; LoRA merged" if report.lora_merged else ""
    verified = f"; {report.verified} weights read back and equal" if report.verified else "; not read back"
    for name in report.untied:
        print(f"[INFO] {name} was one tensor with another layer's; LoRA changed it alone, so it is exported on its own")
    if report.outputs:
        shown = ", ".join(f"{name} {value:.1e}" for name, value in report.outputs.items())
        print(f"[INFO] Same observations, exported against trained model; largest relative differences: {shown}")
    elif report.not_compared:
        print(f"[WARN] Outputs were not compared: {report.not_compared}")
    print(
        f"[INFO] Weights: {report.loaded.file} ({report.loaded.matched} of {report.loaded.total} keys)\n"
        f"[INFO] {report.tensors} tensors, {report.dtype}, {size / 1e6:.1f} MB; value head: {report.value_head}"
        f"{merged}{verified}\n"
        f"[INFO] From the base checkpoint: {listing(report.copied, 12)}\n"
        f"[INFO] Exported: {report.out}\n"
        f"       To use it: --model_path {report.out}"
    )
