# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a configuration means, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import listing
from isaaclab_rlinf.config.parse import parse_isaaclab_block, state_width
from isaaclab_rlinf.inspection.tables import open_console, print_table
from isaaclab_rlinf.mapping.action_layout import lay_out_actions
from isaaclab_rlinf.models.action_parts import action_parts

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.backends.prepare import PreparedRun
    from isaaclab_rlinf.config.schema import IsaacLabBlock


def print_summary(runs: dict[str, PreparedRun]) -> None:
    """Print what train and play would run.

    Args:
        runs: Prepared runs by ``train`` and ``play``, at least one.
    """
    print_table(open_console(), "Configuration", ("", ""), summary_rows(runs))


def summary_rows(runs: dict[str, PreparedRun]) -> list[tuple[str, str]]:
    """Return ``(what, value)`` rows; the evaluation block only where it differs from the training one.

    Args:
        runs: Prepared runs by ``train`` and ``play``, at least one.
    """
    run = runs.get("train") or runs["play"]
    model = run.cfg.actor.model if "train" in runs else run.cfg.rollout.model
    rows = [
        ("Config", str(run.source)),
        ("Model", f"{model.model_type} ({model.model_path})"),
        ("Environments", ", ".join(_environments(runs))),
    ]
    blocks = {
        mode: parse_isaaclab_block(run.cfg.env[section].isaaclab, section)[0]
        for (mode, run), section in ((item, {"train": "train", "play": "eval"}[item[0]]) for item in runs.items())
    }
    told: list[IsaacLabBlock | None] = []
    for mode, block in blocks.items():
        if block is None or block in told:
            continue
        told.append(block)
        suffix = f" ({mode})" if len(told) > 1 else ""
        rows += [(f"{name}{suffix}", value) for name, value in _block_rows(block, model)]
    rows += list(_learning_rows(runs))
    return rows


def _environments(runs: dict[str, PreparedRun]) -> Iterator[str]:
    for mode, run in runs.items():
        section = run.cfg.env["train" if mode == "train" else "eval"]
        yield f"{mode}: {section.total_num_envs} x {run.task} on {section.init_params.device}"


def _block_rows(block: IsaacLabBlock, model: DictConfig) -> Iterator[tuple[str, str]]:
    """Yield what goes into the model and what comes out."""
    said = block.task_description
    source = f"per environment, from {block.policy_group}/{said.obs}"
    yield "Instruction", repr(said.text) if said.obs is None else source
    names = [("main_images", (block.main_images,)), ("wrist_images", (block.wrist_images,))]
    for slot, cameras in (*names, ("extra_view_images", block.extra_view_images)):
        shown = ", ".join(camera for camera in cameras if camera)
        if shown:
            yield slot, shown
    parts = [f"{part.key}[{part.slice[0]}:{part.slice[1]}]" if part.slice else part.key for part in block.states]
    width = state_width(block.states)
    columns = f"{width} columns" if width is not None else "the task decides the width (--sim shows it)"
    yield "states", f"{' + '.join(parts)}: {columns}" if parts else "none"
    yield "Actions", _actions(block, model)
    success = block.success
    if success.termination is not None or success.reward_above is not None:
        named = success.termination or f"a step reward above {success.reward_above:g}"
        yield "Success", named
    else:
        yield "Success", "any termination that is not a time-out"


def _actions(block: IsaacLabBlock, model: DictConfig) -> str:
    layout, _ = lay_out_actions(block.action_mapping, action_parts(model))
    chunk = f"{model.num_action_chunks} per chunk"
    if layout is None:  # of a valid configuration: a GR00T generation whose files this package does not read
        return f"{' + '.join(block.action_mapping.keys)}, of {model.action_dim} columns in all, {chunk}"
    if any(part.name for part in layout.parts):
        of = f" of the model's {model.action_dim}" if layout.left_out else ""
        text = f"{' + '.join(map(str, layout.parts))}: {layout.emitted} columns{of}, {chunk}"
    else:
        text = f"{layout.emitted} columns, {chunk}"
    if layout.left_out:
        text += f"; not sent: {listing(layout.left_out)}"
    if layout.width != layout.emitted:
        before, after = len(layout.prefix), len(layout.suffix)
        text += f"; padded to {layout.width} ({before} before, {after} after)"
    return text


def _learning_rows(runs: dict[str, PreparedRun]) -> Iterator[tuple[str, str]]:
    if "train" not in runs:
        return
    cfg = runs["train"].cfg
    train = cfg.env.train
    steps = train.max_steps_per_rollout_epoch * train.rollout_epoch
    yield "Algorithm", f"{cfg.algorithm.loss_type} / {cfg.algorithm.adv_type}, gamma {cfg.algorithm.gamma:g}"
    yield (
        "One iteration",
        f"{train.total_num_envs} environments x {steps} steps, global batch {cfg.actor.global_batch_size}",
    )
    yield "Iterations", str(cfg.runner.max_epochs)
