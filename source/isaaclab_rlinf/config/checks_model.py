# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the model section against itself, the ``isaaclab`` blocks and the checkpoint's files."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from isaaclab_rlinf.compat.rlinf_names import embodied_model_types
from isaaclab_rlinf.config.checks_actions import check_action_mapping
from isaaclab_rlinf.config.checks_gr00t import check_gr00t, refuse_gr00t_keys
from isaaclab_rlinf.config.checks_sizes import check_sizes
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import ConfigError, did_you_mean, listing, show
from isaaclab_rlinf.config.parse import state_width
from isaaclab_rlinf.config.schema import IMAGE_KEYS, IsaacLabBlock
from isaaclab_rlinf.mapping.instructions import instruction_issues
from isaaclab_rlinf.models.weight_files import check_directory, hint_of_run

OUR_MODEL_TYPES = ("tiny_vla",)
BUNDLED = "bundled"
_SAME_IN_BOTH = (
    "model_type",
    "action_dim",
    "num_action_chunks",
    "denoising_steps",
    "embodiment_tag",
    "implementation",
    "is_lora",
    "lora_rank",
    "add_value_head",
    "rl_head_config",
)
"""Keys of the two model sections that decide the shape of the policy, or the probability of an action."""
_OF_EACH = ("isaaclab", "load_to_device", "precision")
"""Keys that the command line gives to each section, and the one that has a check of its own, checks_precision.py."""
FROM_SCRATCH = ("mlp_policy", "cnn_policy", "flow_policy")
"""Model types that RLinf builds without a checkpoint."""
_GRIPPER_LAST = ("openvla", "openvla_oft")
"""Model types for which ``rlinf.envs.action_utils.prepare_actions_for_isaaclab`` rewrites the last column."""


def check_model(ctx: Context) -> None:
    """Check everything about the model that needs no model.

    Args:
        ctx: The validation in progress, after the blocks are parsed.
    """
    section = ctx.model_section
    kind = ctx.get(f"{section}.model_type", None)
    if not isinstance(kind, str) or not kind.strip():
        return
    _check_type(ctx, section, kind)
    if kind in _GRIPPER_LAST:
        ctx.notices.append(
            f"{section}.model_type: RLinf 0.3.0 turns the last action column of {kind} into a gripper command of +1 or "
            "-1; the task's last action must be a gripper (docs/custom_model.md)"
        )
    _check_lora(ctx, section)
    if ctx.training:
        _check_same(ctx)
    _check_rollout(ctx, kind)
    directory = _check_path(ctx, section, kind)
    if kind.startswith("gr00t"):
        check_gr00t(ctx, section, kind, directory)
    else:
        refuse_gr00t_keys(ctx, section, kind)
        check_action_mapping(ctx, section, None, named=False)
    if directory is not None and kind == "tiny_vla":
        _check_tiny_vla(ctx, section, directory)


def check_weights(ctx: Context) -> None:
    """Check that checkpoints named in ``runner`` are there, as ``--checkpoint`` is.

    Args:
        ctx: The validation in progress.
    """
    from isaaclab_rlinf.backends.run_directory import TRAIN_LOG_ROOT
    from isaaclab_rlinf.checkpoints import resolve_checkpoint

    for where, for_resume in (("runner.ckpt_path", False), ("runner.resume_dir", True)):
        value = ctx.get(where, None)
        if not isinstance(value, str) or not value or (for_resume and not ctx.training):
            continue
        task = str(ctx.get("env.train.init_params.id", ""))
        kind = {"log_root": Path.cwd() / TRAIN_LOG_ROOT, "task": task, "config_name": ctx.source.stem}
        try:
            resolve_checkpoint(value, where=where, for_resume=for_resume, **kind)
        except ConfigError as error:
            for issue in error.issues:
                ctx.issue(issue.where, issue.found, issue.allowed, issue.fix)


def _check_type(ctx: Context, section: str, kind: str) -> None:
    known = sorted({*embodied_model_types(), *OUR_MODEL_TYPES})
    if kind in known:
        return
    extensions = ctx.get("extensions", None)
    if isinstance(extensions, list) and any(_may_register(name) for name in extensions):
        ctx.notices.append(f"{section}.model_type: {kind!r} is expected from one of the extensions")
        return
    fix = did_you_mean(kind, known) or "name the module that registers it under extensions:"
    if extensions:
        fix = f"{fix}; none of the extensions ({listing(extensions)}) has a register() that could add a model"
    ctx.issue(
        f"{section}.model_type", f"{kind!r} is not a model type of the installed RLinf or of ours", listing(known), fix
    )


def _may_register(name: Any) -> bool:
    """Return whether an extension module has RLinf's hook; one that cannot be imported is reported elsewhere."""
    try:
        return hasattr(importlib.import_module(str(name)), "register")
    except Exception:
        return True


def _check_lora(ctx: Context, section: str) -> None:
    """RLinf reads the rank of new adapters without a default, and asks a hub for a directory that is not there."""
    if ctx.get(f"{section}.is_lora", None) is not True:
        return
    path = ctx.get(f"{section}.lora_path", None)
    if path is None and ctx.get(f"{section}.lora_rank", None) is None:
        ctx.issue(f"{section}.lora_rank", "missing, but is_lora is true", "a whole number >= 1", "e.g. 32")
    elif isinstance(path, str) and not Path(path).expanduser().is_dir():
        ctx.issue(f"{section}.lora_path", f"{path!r} is not a directory", "a directory of trained adapters", "or null")


def _check_same(ctx: Context) -> None:
    """RLinf's rollout and actor hold one policy: what decides its shape must not differ between the two."""
    for key in _SAME_IN_BOTH:
        actor, rollout = ctx.get(f"actor.model.{key}", None), ctx.get(f"rollout.model.{key}", None)
        if actor is not None and rollout is not None and actor != rollout:
            found = f"{show(rollout)}, but actor.model.{key} is {show(actor)}"
            ctx.issue(f"rollout.model.{key}", found, "the same value", "remove the key: rollout.model inherits it")


def _check_rollout(ctx: Context, kind: str) -> None:
    """Check the directory that only the rollout builds from as the actor's is, and say what else differs."""
    actor, rollout = ctx.get("actor.model", None), ctx.get("rollout.model", None)
    if not isinstance(actor, Mapping) or not isinstance(rollout, Mapping):
        return
    differing = {key for key in actor.keys() & rollout.keys() if actor[key] != rollout[key]}
    told = sorted(differing - {"model_path", *_OF_EACH, *_SAME_IN_BOTH})
    if ctx.training:
        for key in told:
            value, others = show(rollout[key]), show(actor[key])
            ctx.notices.append(f"rollout.model.{key}: {value} differs from actor.model.{key} {others}")
    paths = [section.get("model_path", None) for section in (actor, rollout)]
    if not all(isinstance(path, str) and path.strip() for path in paths) or Path(paths[0]) == Path(paths[1]):
        return
    if not ctx.training:
        ctx.notices.append(f"actor.model.model_path: {paths[0]} is not read by play, rollout.model.model_path is")
        return
    ctx.notices.append(
        f"rollout.model.model_path: {paths[1]} differs from actor.model.model_path {paths[0]}; the actor's weights "
        "replace the rollout's before the first step, its tokenizer, statistics and configuration do not"
    )
    before = len(ctx.issues)
    directory = _check_path(ctx, "rollout.model", kind)
    if directory is not None and kind.startswith("gr00t"):
        check_gr00t(ctx, "rollout.model", kind, directory)
    elif directory is not None and kind == "tiny_vla":
        _check_tiny_vla(ctx, "rollout.model", directory)
    own = "rollout.model.model_path"
    fix = "remove the key, so that rollout.model inherits the actor's; --model_path DIR sets both"
    ctx.issues[before:] = [replace(issue, fix=fix) if issue.where == own else issue for issue in ctx.issues[before:]]


def _check_path(ctx: Context, section: str, kind: str) -> Path | None:
    """Return the checkpoint directory when it can be read."""
    value = ctx.get(f"{section}.model_path", None)
    if not isinstance(value, str) or not value.strip() or kind in FROM_SCRATCH:
        return None
    where = f"{section}.model_path"
    if value == BUNDLED:
        return _bundled(ctx, where, kind)
    path = Path(value).expanduser()
    if not path.exists():
        note = "" if path.is_absolute() else f" (relative paths start at {str(Path.cwd())!r})"
        fix = "give one as --model_path DIR, or in the YAML"
        ctx.issue(where, f"{value!r} does not exist{note}", "an existing checkpoint directory", fix)
    elif not path.is_dir():
        ctx.issue(where, f"{value!r} is a file", "a checkpoint directory", "weights of a run are given by --checkpoint")
    elif (kind == "tiny_vla" or kind.startswith("gr00t")) and not (path / "config.json").is_file():
        inside = listing(sorted(entry.name for entry in path.iterdir()), 12)
        found = f"{value!r} has no config.json; it holds: {inside}"
        ctx.issue(where, found, "a Hugging Face checkpoint directory", hint_of_run(path))
    else:
        return path if _weights_readable(ctx, where, kind, path) else None
    return None


def _weights_readable(ctx: Context, where: str, kind: str, path: Path) -> bool:
    """Check the weight files of models whose directory has no check of its own."""
    if kind == "tiny_vla" or kind.startswith("gr00t"):
        return True
    try:
        check_directory(path)
    except ValueError as error:
        ctx.issue(where, str(error), "a complete checkpoint directory")
        return False
    return True


def _bundled(ctx: Context, where: str, kind: str) -> Path | None:
    if kind != "tiny_vla":
        ctx.issue(where, f"{BUNDLED!r} means the tiny_vla base checkpoint, but model_type is {kind!r}", "a directory")
        return None
    try:
        from isaaclab_rlinf.models.base import bundled_checkpoint

        return Path(bundled_checkpoint())
    except (ImportError, OSError) as error:
        ctx.issue(
            where, f"the bundled checkpoint cannot be found: {error}", fix="reinstall the package, or --model_path"
        )
        return None


def _check_tiny_vla(ctx: Context, section: str, directory: Path) -> None:
    from isaaclab_rlinf.models.inspect import checkpoint_facts

    try:
        facts = checkpoint_facts(directory)
    except Exception as error:
        ctx.issue(f"{section}.model_path", f"{directory} cannot be read as tiny_vla: {error}", "a tiny_vla checkpoint")
        return
    of_model = f"the checkpoint {directory}"
    check_sizes(ctx, section, of_model, facts.action_dim, facts.action_horizon)
    _check_rl_head(ctx, section)
    ctx.instruction_issues = functools.partial(
        instruction_issues,
        vocabulary=facts.vocabulary,
        max_words=facts.max_text_length,
        unknown_allowed=facts.unknown_words == "unk",
    )
    for mode, block in ctx.blocks.items():
        _check_inputs(ctx, f"env.{mode}.isaaclab", block, facts, of_model)


def _check_rl_head(ctx: Context, section: str) -> None:
    from isaaclab_rlinf.models.rl_head import RLHeadConfig

    where = f"{section}.rl_head_config"
    try:
        RLHeadConfig.from_mapping(ctx.get(where, None), ctx.whole(f"{section}.denoising_steps") or 1)
    except ValueError as error:
        key = re.match(r"rl_head_config\.(\w+)", str(error))
        ctx.issue(f"{where}.{key[1]}" if key else where, str(error), "see docs/yaml_reference.md")
    except TypeError:
        pass  # a wrong type, reported by the section's own check


def _check_inputs(ctx: Context, where: str, block: IsaacLabBlock, facts: Any, of_model: str) -> None:
    slots = [name for name in ("main_images", "wrist_images") if getattr(block, name)]
    slots += [f"extra_view_images_{index}" for index in range(len(block.extra_view_images))]
    if set(slots) != set(facts.image_views) and ctx.intact(*(f"{where}.{name}" for name in IMAGE_KEYS)):
        found = f"{len(slots)} cameras, as {listing(slots)}, but {of_model} takes {listing(facts.image_views)}"
        ctx.issue(f"{where}.main_images", found, f"{len(facts.image_views)} views, {listing(facts.image_views)}")
    width = state_width(block.states) if block.states else 0
    if width is not None and facts.state_dim is not None and width != facts.state_dim:
        found = f"{width} columns in all, but {of_model} takes {facts.state_dim}"
        ctx.issue(f"{where}.states", found, f"{facts.state_dim} columns")
    if block.task_description.text:
        for issue in ctx.instruction_issues(f"{where}.task_description", block.task_description.text):
            ctx.issue(issue.where, issue.found, issue.allowed, issue.fix)
