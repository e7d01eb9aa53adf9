# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The tables of ``isaaclab-rlinf check --sim``: what the task shows, and where each YAML entry lies in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from isaaclab_rlinf.inspection.tables import open_console, print_table

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from isaaclab_rlinf.config.schema import ActionMapping, IsaacLabBlock
    from isaaclab_rlinf.env.protocol import SimulatorSpec
    from isaaclab_rlinf.inspection.record import SeenEntry, TaskRecord
    from isaaclab_rlinf.inspection.simulate import Look

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
    error = width_error(spec.block.action_mapping, int(model.action_dim), record)
    if error:
        print(f"[ERROR] {error}", file=sys.stderr)
    else:
        rows = output_rows(spec.block.action_mapping, int(model.action_dim), record)
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


def width_error(mapping: ActionMapping, model_dim: int, record: TaskRecord) -> str:
    """Return why the model's actions do not fill the environment's, or an empty string."""
    from isaaclab_rlinf.mapping.actions import ActionMap, ActionTermInfo
    from isaaclab_rlinf.mapping.errors import MappingError

    try:
        ActionMap.build(mapping, model_dim, [ActionTermInfo(*term) for term in record.action_terms])
    except MappingError as error:
        return str(error)
    return ""


def output_rows(mapping: ActionMapping, model_dim: int, record: TaskRecord) -> Iterator[tuple[object, ...]]:
    """Yield a row per stretch of the action vector: model columns or padding, cut at action terms."""
    first = mapping.prefix_pad
    cuts, start = [], 0
    for name, width, _ in record.action_terms:
        cuts.append((start, start + width, name))
        start += width
    for begin, end, name in cuts:
        edges = sorted({begin, end, *(edge for edge in (first, first + model_dim) if begin < edge < end)})
        for a, b in pairwise(edges):
            inside = first <= a < first + model_dim
            source = f"[{a - first}:{b - first}]{_affine(mapping)}" if inside else f"padding {mapping.pad_value}"
            yield (source, f"[{a}:{b}]", name)
    if mapping.keys:
        yield ("order of the model's parts", ", ".join(mapping.keys), "")


def _affine(mapping: ActionMapping) -> str:
    scaled = "" if mapping.scale == 1.0 else f" * {mapping.scale}"
    return scaled + ("" if mapping.offset == 0.0 else f" + {mapping.offset}")


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
