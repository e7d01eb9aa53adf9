# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check what a GR00T model of any generation asks of the ``isaaclab`` blocks."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path

from isaaclab_rlinf.compat.rlinf_names import BROKEN_N1D7_CONVERTERS, STOCK_GR00T_CONVERTERS
from isaaclab_rlinf.config.checks_actions import check_action_mapping
from isaaclab_rlinf.config.checks_gr00t_n1d5 import check_n1d5
from isaaclab_rlinf.config.checks_gr00t_n1d7 import check_n1d7
from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import show
from isaaclab_rlinf.config.parse import state_width
from isaaclab_rlinf.config.schema import IsaacLabBlock
from isaaclab_rlinf.mapping.columns import use_of_states
from isaaclab_rlinf.mapping.gr00t import has_mapping, key_problems
from isaaclab_rlinf.models.gr00t.packages import missing_package

_OF_THE_MODEL = ("gr00t_mapping", "obs_converter_type", "embodiment_tag", "embodiment_tag_id", "data_config_class")
"""What one model cannot have two of, whatever the environments are."""


def check_gr00t(ctx: Context, section: str, kind: str, directory: Path | None) -> None:
    """Check mapping, converters and embodiment.

    Args:
        ctx: The validation in progress, after the blocks are parsed.
        section: Key path of the model that acts.
        kind: ``model_type``.
        directory: The checkpoint, None when it cannot be read.
    """
    for mode, block in ctx.blocks.items():
        where = f"env.{mode}.isaaclab"
        _check_same(ctx, section, where, block)
        _check_converter(ctx, section, kind, where, block)
        if ctx.intact(f"{where}.states", f"{where}.gr00t_mapping.state"):
            lines = use_of_states(block.gr00t_mapping.state, state_width(block.states))
            ctx.notices.extend(f"{where}.{line}" for line in lines)
    _check_blocks_agree(ctx)
    if kind == "gr00t":
        check_n1d5(ctx, section, directory)
    elif kind == "gr00t_n1d7":
        check_n1d7(ctx, section, directory)
    else:
        check_action_mapping(ctx, section, None, named=True)
    implementation = ctx.get(f"{section}.implementation", None)
    wrong = any(issue.where == f"{section}.implementation" for issue in ctx.issues)
    if not wrong and (reason := missing_package(kind, implementation)):
        ctx.notices.append(f"{section}.model_type: {kind} cannot be run here: {reason}")


def refuse_gr00t_keys(ctx: Context, section: str, kind: str) -> None:
    """Refuse what only a GR00T model reads, in the blocks of a model that is none.

    Args:
        ctx: The validation in progress, after the blocks are parsed.
        section: Key path of the model that acts.
        kind: ``model_type``.
    """
    unset = {field.name: field for field in fields(IsaacLabBlock)}
    for mode, block in ctx.blocks.items():
        for key in _OF_THE_MODEL:
            default = unset[key].default_factory() if unset[key].default is MISSING else unset[key].default
            if getattr(block, key) != default:
                found = f"is read by GR00T models only, and {section}.model_type is {show(kind)}"
                ctx.issue(f"env.{mode}.isaaclab.{key}", found, "no such key", "remove it, or name a GR00T model_type")


def _check_same(ctx: Context, section: str, where: str, block: IsaacLabBlock) -> None:
    for key in ("embodiment_tag", "obs_converter_type"):
        of_model, of_block = ctx.get(f"{section}.{key}", None), getattr(block, key)
        if of_model is not None and of_block is not None and of_model != of_block:
            found = f"{show(of_model)}, but {where}.{key} is {show(of_block)}"
            ctx.issue(f"{section}.{key}", found, "the same value", f"write ${{{where}.{key}}}")
        elif of_model is None and key == "embodiment_tag":
            ctx.issue(f"{section}.{key}", "missing; GR00T picks its projector by it", "a tag of the checkpoint")


def _check_converter(ctx: Context, section: str, kind: str, where: str, block: IsaacLabBlock) -> None:
    """A name that RLinf has taken is a choice of RLinf's converter; a mapping beside it would not be read."""
    name = ctx.get(f"{section}.obs_converter_type", None)
    if name not in STOCK_GR00T_CONVERTERS:
        for key, problem in key_problems(block):
            ctx.issue(f"{where}.{key}", problem, "see docs/gr00t.md, Converters")
        return
    key = f"{where}.obs_converter_type" if block.obs_converter_type else f"{section}.obs_converter_type"
    if kind == "gr00t_n1d7" and name in BROKEN_N1D7_CONVERTERS:
        found = f"{name!r} is RLinf's own converter, which reads N1.5's action keys and fails with N1.7"
        ctx.issue(key, found, "another name, with a gr00t_mapping", "remove the key")
    elif has_mapping(block):
        found = f"{name!r} is RLinf's own converter, which reads neither gr00t_mapping nor action_mapping.keys"
        ctx.issue(key, found, "any other name", "remove the key to use the mapping, or remove the mapping")
    else:
        ctx.notices.append(f"{key}: {name!r} is RLinf's own converter; observations and actions are converted by it")


def _check_blocks_agree(ctx: Context) -> None:
    """Training with validation uses one model, and its converters, for both blocks."""
    train, evaluation = ctx.blocks.get("train"), ctx.blocks.get("eval")
    if train is None or evaluation is None or not (ctx.training and ctx.evaluating):
        return
    for key in _OF_THE_MODEL:
        if getattr(train, key) != getattr(evaluation, key) and ctx.intact(f"env.train.isaaclab.{key}"):
            found = "differs from env.train.isaaclab, but one model acts in both"
            ctx.issue(f"env.eval.isaaclab.{key}", found, "the same value", "share the block by a YAML anchor")
    keys = "env.train.isaaclab.action_mapping.keys"
    if train.action_mapping.keys != evaluation.action_mapping.keys and ctx.intact(keys):
        found = "differs from env.train.isaaclab, but one model acts in both"
        ctx.issue("env.eval.isaaclab.action_mapping.keys", found, "the same value")
