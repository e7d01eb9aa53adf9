# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""From a command line to one resolved, checked config. Everything here runs before Ray or a simulator starts."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.backends.apply_args import apply_common, apply_episodes, apply_resume
from isaaclab_rlinf.backends.attribution import attribute, own_rollout_keys
from isaaclab_rlinf.backends.evaluation_config import keep_for_evaluation
from isaaclab_rlinf.backends.start_point import find_played_weights, find_training_start
from isaaclab_rlinf.config.errors import ConfigError, Issue, raise_if

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.checkpoints import ResolvedCheckpoint


class EvaluationOnlyError(ConfigError):
    """A training was asked for with a config that says to evaluate only."""


@dataclass(frozen=True)
class PreparedRun:
    """What a backend needs to start."""

    cfg: DictConfig
    source: Path
    """The task YAML."""
    task: str
    force_cpu: bool
    checkpoint: ResolvedCheckpoint | None = None
    notices: tuple[str, ...] = ()
    episodes: int = 0
    """Number of episodes to count; play only."""
    metadata: dict[str, str] = field(default_factory=dict)


def compose(args: argparse.Namespace) -> tuple[Path, DictConfig]:
    """Find and compose the YAML that a command line names.

    Args:
        args: Namespace of a backend.

    Raises:
        ConfigError: If there is none, or it cannot be composed.
    """
    from isaaclab_rlinf.config.compose import compose_config
    from isaaclab_rlinf.config.discover import find_config

    source = find_config(args.config_name, args.config_path, args.task)
    return source, compose_config(source, args.overrides)


def prepare_train(args: argparse.Namespace, composed: tuple[Path, DictConfig] | None = None) -> PreparedRun:
    """Compose, apply the training command line, and check.

    Args:
        args: Namespace of :func:`~isaaclab_rlinf.backends.cli_args.parse_train_args`.
        composed: What :func:`compose` gave, where that is known already; it is changed.

    Returns:
        The run, ready to start.

    Raises:
        ConfigError: With every mistake found.
    """
    from omegaconf import open_dict

    cfg, source, notices, issues, own = _compose(args, "train", composed)
    with open_dict(cfg):
        _refuse_evaluation_config(cfg, source)
        apply_common(cfg, args, ("train", "eval"), cfg.actor.model)
        if args.num_envs is not None:
            cfg.env.train.total_num_envs = args.num_envs
        if args.video:
            cfg.env.train.video_cfg.save_video = True
        start = find_training_start(args, cfg, source, issues)
        apply_resume(cfg, args, start.checkpoint, issues, start.where)
    return _checked(cfg, source, args, "train", [*notices, *start.notices], issues, start.checkpoint, own)


def prepare_play(args: argparse.Namespace, composed: tuple[Path, DictConfig] | None = None) -> PreparedRun:
    """Compose, apply the evaluation command line, and check; see :func:`prepare_train`."""
    from omegaconf import open_dict

    cfg, source, notices, issues, own = _compose(args, "play", composed)
    with open_dict(cfg):
        apply_common(cfg, args, ("eval",), cfg.rollout.model)
        start = find_played_weights(args, cfg, source, issues)
        episodes = apply_episodes(cfg, args)
        if args.video:
            cfg.env.eval.video_cfg.save_video = True
    return _checked(cfg, source, args, "play", [*notices, *start.notices], issues, start.checkpoint, own, episodes)


def _compose(
    args: argparse.Namespace, mode: str, composed: tuple[Path, DictConfig] | None
) -> tuple[DictConfig, Path, list[str], list[Issue], frozenset[str] | None]:
    """Find, compose and bring up to date; what cannot be read at all ends here."""
    from omegaconf import OmegaConf, open_dict

    from isaaclab_rlinf.config.migrate import migrate
    from isaaclab_rlinf.config.validate import require_sound

    source, cfg = composed or compose(args)
    own = own_rollout_keys(cfg)
    if mode == "play" and OmegaConf.is_dict(cfg.get("runner", None)):
        with open_dict(cfg):  # before migration, which reads older names of evaluation keys only then
            cfg.runner.only_eval = True
    notices = migrate(cfg)
    try:
        require_sound(cfg, source=source, mode=mode)
    except ConfigError as error:
        raise ConfigError(attribute(error.issues, args, mode, source, own)) from None
    return cfg, source, notices, [], own


def _refuse_evaluation_config(cfg: DictConfig, source: Path) -> None:
    """Refuse to train with a config that says to evaluate only: RLinf would wait for environments it never made."""
    fix = "use 'isaaclab play', or --only_eval"
    if cfg.runner.get("only_eval", False):
        raise EvaluationOnlyError([Issue("runner.only_eval", "true, in a training", "false", fix, source)])
    if cfg.runner.get("task_type", None) == "embodied_eval":
        issue = Issue("runner.task_type", "embodied_eval, in a training", "embodied", fix, source)
        raise EvaluationOnlyError([issue])


def _checked(
    cfg: DictConfig,
    source: Path,
    args: argparse.Namespace,
    mode: str,
    notices: list[str],
    issues: list[Issue],
    checkpoint: ResolvedCheckpoint | None,
    own: frozenset[str] | None,
    episodes: int = 0,
) -> PreparedRun:
    """Validate and raise everything at once."""
    from isaaclab_rlinf.config.gr00t_block import attach_blocks
    from isaaclab_rlinf.config.validate import examine

    accelerators = {"num_accelerators": 0} if args.device == "cpu" else {}
    outcome = examine(cfg, source=source, mode=mode, **accelerators)
    raise_if(attribute([*issues, *outcome.issues], args, mode, source, own))
    if mode == "play":
        keep_for_evaluation(cfg)
    attach_blocks(cfg, source)
    return PreparedRun(
        cfg=cfg,
        source=source,
        task=str(cfg.env["train" if mode == "train" else "eval"].init_params.id),
        force_cpu=args.device == "cpu",
        checkpoint=checkpoint,
        notices=(*notices, *outcome.notices, *(checkpoint.notices if checkpoint else ())),
        episodes=episodes,
        metadata={"config_name": source.stem},
    )
