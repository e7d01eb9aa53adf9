# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""From a command line to one resolved, checked config. Everything here runs before Ray or a simulator starts."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isaaclab_rlinf.backends.run_directory import TRAIN_LOG_ROOT
from isaaclab_rlinf.config.errors import ConfigError, Issue, raise_if

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.checkpoints import ResolvedCheckpoint

BUNDLED_MODEL = "bundled"
"""Value of ``actor.model.model_path`` that means the base checkpoint shipped with this package."""


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


def prepare_train(args: argparse.Namespace) -> PreparedRun:
    """Compose, apply the training command line, and check.

    Args:
        args: Namespace of :func:`~isaaclab_rlinf.backends.cli_args.parse_train_args`.

    Returns:
        The run, ready to start.

    Raises:
        ConfigError: With every mistake found.
    """
    from omegaconf import open_dict

    cfg, source, notices, issues = _compose(args, "train")
    with open_dict(cfg):
        _apply_common(cfg, args, ("train", "eval"))
        if args.num_envs is not None:
            cfg.env.train.total_num_envs = args.num_envs
        if args.video:
            cfg.env.train.video_cfg.save_video = True
        checkpoint = _resolve_checkpoint(args, cfg, source, issues, for_resume=True)
        _apply_resume(cfg, args, checkpoint)
    return _checked(cfg, source, args, "train", notices, issues, checkpoint)


def prepare_play(args: argparse.Namespace) -> PreparedRun:
    """Compose, apply the evaluation command line, and check; see :func:`prepare_train`."""
    from omegaconf import open_dict

    cfg, source, notices, issues = _compose(args, "play")
    with open_dict(cfg):
        cfg.runner.only_eval = True
        _apply_common(cfg, args, ("eval",))
        checkpoint = _resolve_checkpoint(args, cfg, source, issues, for_resume=False)
        cfg.runner.ckpt_path = str(checkpoint.weights) if checkpoint else None
        cfg.runner.resume_dir = None
        episodes = _apply_episodes(cfg, args)
        cfg.env.eval.video_cfg.save_video = args.video
    return _checked(cfg, source, args, "play", notices, issues, checkpoint, episodes)


def _compose(args: argparse.Namespace, mode: str) -> tuple[DictConfig, Path, list[str], list[Issue]]:
    """Find, compose and bring up to date; what cannot be read at all ends here."""
    from isaaclab_rlinf.config.compose import compose_config
    from isaaclab_rlinf.config.discover import find_config
    from isaaclab_rlinf.config.migrate import migrate
    from isaaclab_rlinf.config.validate import require_sound

    source = find_config(args.config_name, args.config_path, args.task)
    cfg = compose_config(source, args.overrides)
    notices = migrate(cfg)
    require_sound(cfg, source=source, mode=mode)
    return cfg, source, notices, []


def _apply_common(cfg: DictConfig, args: argparse.Namespace, modes: tuple[str, ...]) -> None:
    """Write what train and play share into the config. Relative paths mean the launcher's working directory."""
    if args.task:
        for mode in ("train", "eval"):
            cfg.env[mode].init_params.id = args.task
    if args.seed is not None:
        cfg.actor.seed = args.seed
        cfg.env.train.seed = args.seed
        # Evaluation episodes are not those that training saw.
        cfg.env.eval.seed = args.seed + 1000
    if args.model_path:
        cfg.actor.model.model_path = cfg.rollout.model.model_path = args.model_path
    for model in (cfg.actor.model, cfg.rollout.model):
        model.model_path = _model_path(str(model.model_path), args.working_directory)
    for mode in modes:
        init_params = cfg.env[mode].init_params
        init_params.device = _simulator_device(args.device)
        init_params.action_chunk = cfg.actor.model.num_action_chunks
        init_params.import_modules = list(cfg.get("extensions", None) or ())


def _model_path(value: str, working_directory: Path) -> str:
    """Return an absolute path for a model directory, or the bundled checkpoint's."""
    if value == BUNDLED_MODEL:
        from isaaclab_rlinf.models.base import bundled_checkpoint

        return str(bundled_checkpoint())
    return str((working_directory / Path(value).expanduser()).absolute())


def _simulator_device(requested: str | None) -> str:
    """Return the device for the simulator: the one asked for, else CUDA where there is any."""
    import torch

    if requested and requested.startswith("cuda") and not torch.cuda.is_available():
        raise ConfigError(
            [Issue("--device", f"'{requested}', but torch finds no CUDA device", "cpu on this machine", "--device cpu")]
        )
    return requested or ("cuda" if torch.cuda.is_available() else "cpu")


def _resolve_checkpoint(
    args: argparse.Namespace, cfg: DictConfig, source: Path, issues: list[Issue], *, for_resume: bool
) -> ResolvedCheckpoint | None:
    """Resolve ``--checkpoint``; a mistake joins the report in place of ending it."""
    if not args.checkpoint:
        return None
    from isaaclab_rlinf.checkpoints import resolve_checkpoint

    try:
        return resolve_checkpoint(
            args.checkpoint,
            log_root=args.working_directory / TRAIN_LOG_ROOT,
            for_resume=for_resume,
            task=str(cfg.env.train.init_params.id),
            config_name=source.stem,
        )
    except ConfigError as error:
        issues.extend(error.issues)
        return None


def _apply_resume(cfg: DictConfig, args: argparse.Namespace, checkpoint: ResolvedCheckpoint | None) -> None:
    """Set where training starts and ends."""
    if checkpoint is not None:
        cfg.runner.resume_dir = str(checkpoint.step_dir)
        # A resumed run must not replay the episodes that the run before it started with.
        cfg.env.train.seed = int(cfg.env.train.seed) + 7919 * checkpoint.step
    if args.max_iterations is not None:
        cfg.runner.max_epochs = args.max_iterations + (checkpoint.step if checkpoint else 0)


def _apply_episodes(cfg: DictConfig, args: argparse.Namespace) -> int:
    """Spread the episodes over environments and rollout epochs, one whole episode each.

    Every environment plays each episode to its end, whatever its length: stopping at the first N finished ones would
    favour short episodes.
    """
    env = cfg.env.eval
    episodes = args.num_episodes or args.num_envs or int(env.total_num_envs)
    parallel = min(args.num_envs or int(env.total_num_envs), episodes)
    env.rollout_epoch = -(-episodes // parallel)
    env.total_num_envs = -(-episodes // env.rollout_epoch)
    chunk = int(cfg.rollout.model.num_action_chunks)
    env.max_steps_per_rollout_epoch = -(-int(env.max_episode_steps) // chunk) * chunk
    env.auto_reset = env.ignore_terminations = False
    env.init_params.report_instruction = True
    return episodes


def _checked(
    cfg: DictConfig,
    source: Path,
    args: argparse.Namespace,
    mode: str,
    notices: list[str],
    issues: list[Issue],
    checkpoint: ResolvedCheckpoint | None,
    episodes: int = 0,
) -> PreparedRun:
    """Validate and raise everything at once."""
    from isaaclab_rlinf.config.validate import examine

    accelerators = {"num_accelerators": 0} if args.device == "cpu" else {}
    outcome = examine(cfg, source=source, mode=mode, **accelerators)
    raise_if([*issues, *outcome.issues], source)
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
