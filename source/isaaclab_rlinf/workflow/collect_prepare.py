# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""From the command line of ``collect`` to what it runs, through the reading and the checks of ``train``.

Not checked is what collecting does not touch: how a training is spread over a machine, its algorithm, and the
checkpoint, which may be what the demonstrations are collected for.
"""

from __future__ import annotations

import argparse
import importlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue, did_you_mean, listing, raise_if
from isaaclab_rlinf.workflow.partial_directory import output_issues

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.config.schema import IsaacLabBlock
    from isaaclab_rlinf.env.protocol import SimulatorSpec
    from isaaclab_rlinf.workflow.collect import CollectSettings, Expert


@dataclass(frozen=True)
class PreparedCollect:
    """What ``collect`` needs to start."""

    spec: SimulatorSpec
    expert: Expert
    settings: CollectSettings
    notices: tuple[str, ...]


def prepare_collect(args: argparse.Namespace, composed: tuple[Path, DictConfig] | None = None) -> PreparedCollect:
    """Compose the YAML, apply the command line, and check.

    Args:
        args: Namespace with the arguments of :func:`~isaaclab_rlinf.workflow.collect_cli.add_collect_args`.
        composed: YAML and its configuration, where that is composed already; it is changed.

    Raises:
        ConfigError: With every mistake found.
    """
    from isaaclab_rlinf.config.compose import compose_config
    from isaaclab_rlinf.config.discover import find_config
    from isaaclab_rlinf.config.migrate import migrate
    from isaaclab_rlinf.config.validate import COLLECT_CHECKS, examine, require_sound
    from isaaclab_rlinf.workflow.collect import CollectSettings

    if composed is None:
        source = find_config(args.config_name, args.config_path)
        composed = source, compose_config(source)
    source, cfg = composed
    notices = migrate(cfg)
    try:
        require_sound(cfg, source=source, mode="train", checks=COLLECT_CHECKS)
        _refuse_evaluation_only(cfg, source)
        _apply(cfg, args)
    except ConfigError as error:
        named = find_expert(args.expert, "")[1] if args.expert is not None else []
        raise ConfigError([*error.issues, *named, *output_issues(args.out)]) from error
    outcome = examine(cfg, source=source, mode="train", num_accelerators=0, checks=COLLECT_CHECKS)
    expert, expert_issues = find_expert(args.expert, str(cfg.env.train.init_params.id))
    issues = [*outcome.issues, *expert_issues, *output_issues(args.out)]
    columns = None
    if (block := outcome.blocks.get("train")) is not None:
        columns, mapping_issues = _columns(block, _plain(cfg.actor.model))
        issues += [issue.in_file(source) for issue in mapping_issues]
    raise_if(issues)
    settings = CollectSettings(
        num_episodes=args.num_episodes,
        action_noise=args.action_noise,
        calibration_error=args.calibration_error,
        action_dim=None if columns is None else len(columns),
        columns=None if columns is None or columns == tuple(range(len(columns))) else columns,
    )
    return PreparedCollect(_spec(cfg, args, source), expert, settings, (*notices, *outcome.notices))


def _refuse_evaluation_only(cfg: DictConfig, source: Path) -> None:
    only = cfg.runner.get("only_eval", False), cfg.runner.get("task_type", None) == "embodied_eval"
    if any(only):
        where = "runner.only_eval" if only[0] else "runner.task_type"
        found = "the YAML is for evaluation only; collect records what env.train says"
        raise ConfigError([Issue(where, found, "a YAML to train with", file=source)])


def _apply(cfg: DictConfig, args: argparse.Namespace) -> None:
    """Write the command line into the configuration, with the functions of train where there is one."""
    from omegaconf import OmegaConf, open_dict

    from isaaclab_rlinf.backends.apply_args import apply_common

    common = {"task": None, "model_path": None, "working_directory": Path.cwd()}
    with open_dict(cfg):
        apply_common(cfg, argparse.Namespace(**{**vars(args), **common}), ("train",), cfg.actor.model)
        train = cfg.env.train
        train.total_num_envs = args.num_envs
        train.auto_reset, train.init_params.action_chunk = True, 1
        if OmegaConf.is_dict(train.get("video_cfg", None)):
            train.video_cfg.save_video = False


def _spec(cfg: DictConfig, args: argparse.Namespace, source: Path) -> SimulatorSpec:
    """Return the simulator of the YAML's training block."""
    from isaaclab_rlinf.env.settings import simulator_spec_from_config

    try:
        return replace(simulator_spec_from_config(cfg.env.train, args.num_envs), log_file=None, video=None)
    except (ValueError, TypeError) as error:
        raise ConfigError([Issue("env.train", str(error), file=source)]) from error


def find_expert(name: str | None, task: str) -> tuple[Any, list[Issue]]:
    """Return the expert named on the command line or by the task's registration, or why there is none.

    Args:
        name: ``MODULE:FUNCTION``; None asks the registration.
        task: Gym id of a task.
    """
    from isaaclab_rlinf.config.tasks import find_task

    where, form = "--expert", "MODULE:FUNCTION, a function (environment, horizon) -> (B, horizon, A)"
    if name is None:
        registered, _ = find_task(task)  # an unknown task is reported under its own key
        name = registered.kwargs.get("expert_entry_point") if registered is not None else None
        if name is None:
            found = f"not given, and the registration of {task!r} names none (expert_entry_point)"
            return None, [Issue(where, found, form)] if registered is not None else []
    module, _, function = str(name).partition(":")
    if not module or not function:
        return None, [Issue(where, repr(name), form)]
    try:
        imported = importlib.import_module(module)
    except Exception as error:  # whatever the user's module raises
        return None, [Issue(where, f"module {module!r} cannot be imported: {type(error).__name__}: {error}", form)]
    expert = getattr(imported, function, None)
    if not callable(expert):
        found = f"{module!r} has no function {function!r}" if expert is None else f"{name!r} is no function"
        return None, [Issue(where, found, form, did_you_mean(function, vars(imported)))]
    return expert, []


def _columns(block: IsaacLabBlock, model: dict[str, Any]) -> tuple[tuple[int, ...] | None, list[Issue]]:
    """Return for each column of the model's own action vector the emitted column it becomes, or why none can be told.

    The checkpoint is read only where ``keys`` choose among its action parts.

    Args:
        block: What is recorded.
        model: ``actor.model``.
    """
    from isaaclab_rlinf.mapping.action_layout import WHERE, lay_out_actions, nameless
    from isaaclab_rlinf.models.action_parts import action_parts

    mapping, below = block.action_mapping, "env.train.isaaclab"
    try:
        parts = nameless(int(model["action_dim"])) if mapping.keys is None else action_parts(model)
    except (KeyError, TypeError, ValueError) as error:
        return None, [Issue("actor.model", f"the action parts that {below}.{WHERE}.keys names cannot be read: {error}")]
    layout, issues = lay_out_actions(mapping, parts)
    if parts is None:
        found = f"{list(mapping.keys)}: the columns of {model['model_type']}'s action parts are not known here"
        issues = (*issues, Issue(f"{WHERE}.keys", found, "no keys", "collect with a YAML without them"))
    scales = mapping.scale if isinstance(mapping.scale, tuple) else (mapping.scale,)
    if any(scale == 0 for scale in scales):
        found = f"{mapping.scale}: with 0 no action of a model gives the expert's"
        issues = (*issues, Issue(f"{WHERE}.scale", found, "numbers other than 0"))
    if layout is not None and layout.left_out:
        found = f"leaves out {listing(layout.left_out)}, which the expert's actions do not tell"
        issues = (*issues, Issue(f"{WHERE}.keys", found, "every action part of the model", "name all of them"))
    if issues or layout is None:
        return None, [replace(issue, where=f"{below}.{issue.where}") for issue in issues]
    emitted = [column for part in layout.parts for column in range(part.start, part.start + part.width)]
    return tuple(emitted.index(own) for own in range(len(emitted))), []


def _plain(node: Any) -> dict[str, Any]:
    from omegaconf import OmegaConf

    return OmegaConf.to_container(node, resolve=True)
