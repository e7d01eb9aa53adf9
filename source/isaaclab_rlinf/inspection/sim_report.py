# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The tables of ``isaaclab-rlinf check --sim``: what the task shows, and where each YAML entry lies in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from isaaclab_rlinf.inspection.tables import open_console, print_table
from isaaclab_rlinf.mapping.action_layout import ActionTermInfo, lay_out_actions, width_problem
from isaaclab_rlinf.models.action_parts import action_parts

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.config.schema import ActionMapping, IsaacLabBlock
    from isaaclab_rlinf.env.protocol import SimulatorSpec
    from isaaclab_rlinf.inspection.record import SeenEntry, TaskRecord
    from isaaclab_rlinf.inspection.simulate import Look
    from isaaclab_rlinf.mapping.action_layout import ActionLayout

STILL = 0.01
"""A joint that moves less than this in one step (rad or m) counts as holding still."""


def print_look(mode: str, look: Look, spec: SimulatorSpec, model: DictConfig) -> bool:
    """Print everything that was seen.

    Args:
        mode: ``train`` or ``play`` where both were looked at, else empty.
        look: What was seen.
        spec: The simulator's specification.
        model: The model section that acts.

    Returns:
        Whether the action widths fit; False is said on stderr.
    """
    record = look.record
    if record is None:
        return True
    console = open_console()
    of = f"{spec.task_id}{f' ({mode})' if mode else ''}"
    print_table(console, f"Observations of {of}", ("group", "key", "shape", "dtype", "min", "max"), seen_rows(record))
    if record.articulations:
        print_table(console, "Joints, in order", ("articulation", "index", "joint", "position"), joint_rows(record))
    else:
        print("[INFO] The scene names no articulation, so joint names and motion are unknown.")
    print_table(console, "Action vector, in order", ("columns", "term", "what"), term_rows(record))
    if record.config_error:
        return True
    print_table(console, "Into the model", ("YAML", "from the task", "to the model"), input_rows(spec.block, record))
    layout, error = action_layout(spec.block.action_mapping, model, record)
    if error:
        print(f"[ERROR] {error}", file=sys.stderr)
    elif layout is None:
        print(
            f"[INFO] The widths of {model.model_type}'s action parts are not known here; the first action is checked."
        )
    else:
        rows = output_rows(layout, record)
        print_table(console, "Out of the model", ("model columns", "action vector", "term"), rows)
    for notice in look.notices:
        print(f"[INFO] {notice}")
    if not look.failure:
        print(f"[INFO] {motion(look)}")
    return not error


def print_failure(look: Look, spec: SimulatorSpec) -> int:
    """Say why the simulator ended, on stderr.

    Returns:
        2 when the YAML does not fit the task, 1 for a failure of the simulator itself, with its traceback.
    """
    sys.stdout.flush()
    if look.record is not None and look.record.config_error:
        print(f"[ERROR] The isaaclab block does not fit {spec.task_id}:\n{look.record.config_error}", file=sys.stderr)
        return 2
    print(f"[ERROR] {look.failure}", file=sys.stderr)
    return 1


def seen_rows(record: TaskRecord) -> Iterator[tuple[object, ...]]:
    """Yield a row per observation key; values that are not finite are said so."""
    for seen in record.observations:
        shape = " x ".join(map(str, seen.shape)) or "scalar"
        bounds = ("NaN or infinite", "") if not seen.finite else (f"{seen.low:.4g}", f"{seen.high:.4g}")
        yield (seen.group, seen.key, shape, seen.dtype, *bounds)


def joint_rows(record: TaskRecord) -> Iterator[tuple[object, ...]]:
    """Yield a row per joint, in the simulator's order."""
    for articulation in record.articulations:
        for index, (joint, position) in enumerate(zip(articulation.joints, articulation.positions, strict=True)):
            yield (articulation.name, index, joint, f"{position:.4g}")


def term_rows(record: TaskRecord) -> Iterator[tuple[object, ...]]:
    """Yield a row per action term with its columns of the action vector."""
    start = 0
    for name, width, detail in record.action_terms:
        yield (f"[{start}:{start + width}]", name, detail)
        start += width


def input_rows(block: IsaacLabBlock, record: TaskRecord) -> Iterator[tuple[object, ...]]:
    """Yield a row per YAML entry: where it comes from and what it becomes."""
    for slot, cameras in (("main_images", (block.main_images,)), ("wrist_images", (block.wrist_images,))):
        for camera in filter(None, cameras):
            yield (f"{slot}: {camera}", _source(record, block.camera_group, camera), slot)
    for index, camera in enumerate(block.extra_view_images):
        source = _source(record, block.camera_group, camera)
        yield (f"extra_view_images[{index}]: {camera}", source, f"extra_view_images[:, {index}]")
    start = 0
    for index, part in enumerate(block.states):
        seen = find_seen(record, block.policy_group, part.key)
        first, last = part.slice or (0, seen.width or 0)
        source = f"{_name(seen)}[{first}:{last}]"
        yield (f"states[{index}]: {part.key}", source, f"states[{start}:{start + last - first}]")
        start += last - first
    yield from _gr00t_rows(block)
    said = block.task_description
    source = repr(said.text) if said.obs is None else f"{block.policy_group}/{said.obs}, an index into:"
    yield ("task_description", source, "instruction")
    for index, text in enumerate((record.instructions or ()) if said.obs is not None else ()):
        yield ("", f"{index}: {text}", "")


def _gr00t_rows(block: IsaacLabBlock) -> Iterator[tuple[object, ...]]:
    mapping = block.gr00t_mapping
    views = [("main_images", mapping.main_images), ("wrist_images", mapping.wrist_images)]
    views += [(f"extra_view_images[:, {index}]", key) for index, key in enumerate(mapping.extra_view_images)]
    for source, key in views:
        if key:
            yield ("gr00t_mapping.video", source, key)
    for index, part in enumerate(mapping.state):
        yield (f"gr00t_mapping.state[{index}]", f"states[{part.slice[0]}:{part.slice[1]}]", part.gr00t_key)


def find_seen(record: TaskRecord, group: str, key: str) -> SeenEntry:
    """Return an observation as the mapping finds it: in its group, or as a top-level entry."""
    for seen in record.observations:
        if seen.key == key and seen.group in (group, key):
            return seen
    raise KeyError(f"{group}/{key}")


def _source(record: TaskRecord, group: str, key: str) -> str:
    seen = find_seen(record, group, key)
    return f"{_name(seen)} ({' x '.join(map(str, seen.shape))} {seen.dtype})"


def _name(seen: SeenEntry) -> str:
    return seen.group if seen.group == seen.key else f"{seen.group}/{seen.key}"


def action_layout(mapping: ActionMapping, model: DictConfig, record: TaskRecord) -> tuple[ActionLayout | None, str]:
    """Return where the model's actions go in the environment's; or None, with the reason when they do not fill them.

    Args:
        mapping: The block's.
        model: The model section that acts.
        record: What the task showed.
    """
    layout, issues = lay_out_actions(mapping, action_parts(model))
    if layout is None:
        return None, "\n".join(map(str, issues))
    problem = width_problem(layout, [ActionTermInfo(*term) for term in record.action_terms])
    return (None, problem) if problem else (layout, "")


def output_rows(layout: ActionLayout, record: TaskRecord) -> Iterator[tuple[object, ...]]:
    """Yield a row per stretch of the action vector that has one source (a part, or padding) and one action term."""
    start = 0
    for name, width, _ in record.action_terms:
        for _, columns in groupby(range(start, start + width), key=lambda column: _source_of(layout, column)):
            stretch = list(columns)
            yield (_said(layout, stretch), f"[{stretch[0]}:{stretch[-1] + 1}]", name)
        start += width
    for part in layout.left_out:
        yield (f"{part.name}[0:{part.width}]", "not sent", "")


def _source_of(layout: ActionLayout, column: int) -> str | None:
    entry = layout.columns[column]
    return None if entry is None else entry[0].name


def _said(layout: ActionLayout, stretch: list[int]) -> str:
    """Say what fills columns of the environment's actions: the part with its columns, scale and offset; or values."""
    first, before = stretch[0], len(layout.prefix)
    if layout.columns[first] is None:
        pads = (*layout.prefix, *layout.suffix)
        at = first if first < before else first - layout.emitted
        return f"padding {_number(pads[at : at + len(stretch)])}"
    part, column = layout.columns[first]
    own = slice(first - before, first - before + len(stretch))
    scale, offset = _number(layout.scale[own]), _number(layout.offset[own])
    affine = ("" if scale == "1" else f" * {scale}") + ("" if offset == "0" else f" + {offset}")
    return f"{part.name}[{column}:{column + len(stretch)}]{affine}"


def _number(values: Sequence[float]) -> str:
    """Return one number where all are the same, else the list."""
    return f"{values[0]:g}" if len(set(values)) == 1 else f"[{', '.join(f'{value:g}' for value in values)}]"


def motion(look: Look) -> str:
    """Say what the neutral action did to the robot."""
    record, step = look.record, look.step
    if record.hold is not None:
        action = "One step of holding the present joint positions"
    else:
        action = f"One step of zeros ({record.hold_reason}, so zeros may well mean a motion)"
    if step is None or step.displacement is None:
        return f"{action}: whether the robot moved is unknown, the scene names no articulation."
    verb = "the robot held still" if step.displacement < STILL else "the robot moved"
    text = f"{action}: {verb}; largest joint displacement {step.displacement:.4g} ({step.joint})."
    return text + (" An episode ended in this step, its reset is part of the displacement." if look.ended else "")
