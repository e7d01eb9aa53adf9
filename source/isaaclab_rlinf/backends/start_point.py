# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Where a run starts: ``--checkpoint``, ``runner.resume_dir`` and ``runner.ckpt_path``, all through one resolver."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.backends.run_directory import TRAIN_LOG_ROOT
from isaaclab_rlinf.config.errors import ConfigError, Issue

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.checkpoints import ResolvedCheckpoint


@dataclass(frozen=True)
class StartPoint:
    """The checkpoint that a run starts from.

    Attributes:
        checkpoint: None when it starts from the base model, or when what was named cannot be used.
        where: The flag or key that named it.
        notices: What is not read, one line each.
    """

    checkpoint: ResolvedCheckpoint | None = None
    where: str = "--checkpoint"
    notices: tuple[str, ...] = ()


def find_training_start(args: argparse.Namespace, cfg: DictConfig, source: Path, issues: list[Issue]) -> StartPoint:
    """Resolve what a training resumes from, or which weights it starts with; the config gets absolute paths.

    Args:
        args: Parsed command line.
        cfg: Config to change.
        source: The task YAML.
        issues: Receives a mistake.

    Returns:
        What the training resumes from; weights of ``runner.ckpt_path`` alone are none.
    """
    runner, notices = cfg.runner, []
    resume, weights = runner.get("resume_dir", None), runner.get("ckpt_path", None)
    where, value = ("--checkpoint", args.checkpoint) if args.checkpoint else ("runner.resume_dir", resume)
    if args.checkpoint and resume:
        notices.append(f"runner.resume_dir: {resume} is not read, --checkpoint is")
    if value and weights:
        notices.append(f"runner.ckpt_path: {weights} is not read, since the training resumes from {value}")
        runner.ckpt_path = None
    elif weights:
        found = _resolve(weights, "runner.ckpt_path", args, cfg, source, issues, for_resume=False)
        runner.ckpt_path = str(found.weights) if found else None
    # without what cannot be used: it is reported already
    runner.resume_dir = None
    checkpoint = _resolve(value, where, args, cfg, source, issues, for_resume=True) if value else None
    return StartPoint(checkpoint, where, tuple(notices))


def find_played_weights(args: argparse.Namespace, cfg: DictConfig, source: Path, issues: list[Issue]) -> StartPoint:
    """Resolve which weights are evaluated, and write them to ``runner.ckpt_path``; see :func:`find_training_start`."""
    runner, notices = cfg.runner, []
    resume, weights = runner.get("resume_dir", None), runner.get("ckpt_path", None)
    where, value = ("--checkpoint", args.checkpoint) if args.checkpoint else ("runner.ckpt_path", weights)
    if args.checkpoint and weights:
        notices.append(f"runner.ckpt_path: {weights} is not read, --checkpoint is")
    if resume:
        notices.append(
            f"runner.resume_dir: {resume} is not read by play (a training resumes from it); --checkpoint {resume} "
            "evaluates it"
        )
    checkpoint = _resolve(value, where, args, cfg, source, issues, for_resume=False) if value else None
    runner.ckpt_path = str(checkpoint.weights) if checkpoint else None
    runner.resume_dir = None
    return StartPoint(checkpoint, where, tuple(notices))


def _resolve(
    value: object,
    where: str,
    args: argparse.Namespace,
    cfg: DictConfig,
    source: Path,
    issues: list[Issue],
    *,
    for_resume: bool,
) -> ResolvedCheckpoint | None:
    """Resolve one value; a mistake joins the report in place of ending it."""
    from isaaclab_rlinf.checkpoints import resolve_checkpoint
    from isaaclab_rlinf.config.checks_weights import check_trained_weights

    model = cfg.actor.model if for_resume else cfg.rollout.model
    try:
        checkpoint = resolve_checkpoint(
            str(value),
            where=where,
            log_root=args.working_directory / TRAIN_LOG_ROOT,
            for_resume=for_resume,
            task=_trained_task(cfg),
            config_name=source.stem,
        )
        check_trained_weights(checkpoint, model, where, for_resume=for_resume)
    except ConfigError as error:
        issues.extend(error.issues)
        return None
    return checkpoint


def _trained_task(cfg: DictConfig) -> str:
    """Return the task whose runs have the checkpoints: the training's, which an evaluation's YAML may leave out."""
    from omegaconf import OmegaConf

    return str(OmegaConf.select(cfg, "env.train.init_params.id") or OmegaConf.select(cfg, "env.eval.init_params.id"))
