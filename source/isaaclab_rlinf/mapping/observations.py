# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Isaac Lab observation -> the five entries RLinf forwards to a model.

:meth:`ObservationMap.build` checks the YAML against a real observation once and freezes the result;
:func:`map_observation` then only reads, so that nothing can be skipped or reordered while a run is going on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from isaaclab_rlinf.mapping.columns import beyond_states, use_of_states
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.mapping.instructions import read_instructions
from isaaclab_rlinf.mapping.layout import Entry, ObservationLayout, RawObs

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import IsaacLabBlock

IMAGE_FIELDS = ("main_images", "wrist_images", "extra_view_images")


@dataclass(frozen=True)
class StatePart:
    """Columns ``[start, stop)`` of one observation entry, flattened to ``(B, stop - start)``."""

    entry: Entry
    start: int
    stop: int


@dataclass(frozen=True)
class ObservationMap:
    """A checked YAML mapping for one task."""

    images: tuple[tuple[str, tuple[Entry, ...]], ...]
    """Per image field, the cameras that fill it; ``extra_view_images`` may have several."""
    states: tuple[StatePart, ...]
    instruction: Entry | None
    """Per-environment instruction index, or None for one text for all."""
    instructions: tuple[str, ...]
    """The texts: one, or the task's table into which :attr:`instruction` points."""
    notices: tuple[str, ...] = ()
    """What the user should be told once."""

    @classmethod
    def build(cls, block: IsaacLabBlock, layout: ObservationLayout, instructions: Any = None) -> ObservationMap:
        """Checks a YAML block against a task's real observations.

        Args:
            block: The task YAML's ``isaaclab`` block.
            layout: The task's observations.
            instructions: The task's instruction texts (``cfg.instructions``), if it has any; they are checked.

        Raises:
            MappingError: With every problem found, each naming its YAML key.
        """
        problems: list[str] = []
        notices: list[str] = []
        images = _build_images(block, layout, problems, notices)
        states = _build_states(block, layout, problems)
        if len(states) == len(block.states):  # else the width is not known
            width = sum(part.stop - part.start for part in states)
            slices = block.gr00t_mapping.state
            problems += [f"{key}: {found}; allowed: {allowed}" for key, found, allowed in beyond_states(slices, width)]
            notices += use_of_states(slices, width)
        entry, texts = _build_instruction(block, layout, instructions, problems)
        if not (images or states or problems):
            problems.append("the isaaclab block names no image and no state: a policy would see nothing.")
        if problems:
            raise MappingError("\n".join(dict.fromkeys(problems)))
        return cls(images, states, entry, texts, tuple(notices))

    @property
    def state_width(self) -> int:
        """Width D of ``states``."""
        return sum(part.stop - part.start for part in self.states)

    def shapes(self, num_envs: int) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
        """Shapes and dtypes of what :func:`map_observation` returns for ``num_envs`` environments."""
        result: dict[str, tuple[tuple[int, ...], torch.dtype]] = {}
        for name, entries in self.images:
            height, width = entries[0].shape[:2]
            views = (len(entries),) if name == "extra_view_images" else ()
            result[name] = ((num_envs, *views, height, width, 3), torch.uint8)
        if self.states:
            result["states"] = ((num_envs, self.state_width), torch.float32)
        result["instruction"] = ((num_envs,), torch.int64)
        return result

    def describe(self) -> list[tuple[str, str]]:
        """Pairs ``(model input, where it comes from)`` for a printed table."""
        rows = [(name, ", ".join(_name(e) for e in entries)) for name, entries in self.images]
        column = 0
        for part in self.states:
            width = part.stop - part.start
            rows.append((f"states[{column}:{column + width}]", f"{_name(part.entry)}[{part.start}:{part.stop}]"))
            column += width
        source = _name(self.instruction) if self.instruction else repr(self.instructions[0])
        return [*rows, ("task_descriptions", source)]


def map_observation(raw_obs: RawObs, spec: ObservationMap) -> dict[str, torch.Tensor]:
    """Maps one observation.

    Args:
        raw_obs: Isaac Lab's observation, tensors ``(B, ...)`` on any one device.
        spec: The checked mapping.

    Returns:
        ``main_images`` and ``wrist_images`` (B, H, W, 3) uint8, ``extra_view_images`` (B, N, H, W, 3) uint8,
        ``states`` (B, D) float32, each only if the YAML names it, and ``instruction`` (B,) int64, an index into
        ``spec.instructions``. All on the device of the input.

    Raises:
        MappingError: For NaN or infinity in a state, a float image outside [0, 1] or an instruction index outside
            the table, naming key and environment.
    """
    mapped: dict[str, torch.Tensor] = {}
    for name, entries in spec.images:
        views = [_to_rgb8(entry.read(raw_obs), entry) for entry in entries]
        mapped[name] = torch.stack(views, dim=1) if name == "extra_view_images" else views[0]
    if spec.states:
        mapped["states"] = _concatenate_states(raw_obs, spec.states)
    mapped["instruction"] = _read_instruction(raw_obs, spec, mapped)
    return mapped


def task_descriptions(instruction: torch.Tensor, spec_instructions: tuple[str, ...]) -> list[str]:
    """Returns the instruction text of each environment for indices ``(B,)``."""
    return [spec_instructions[index] for index in instruction.tolist()]


def _name(entry: Entry) -> str:
    return f"{entry.group}/{entry.key}" if entry.key is not None else entry.group


def _build_images(
    block: IsaacLabBlock, layout: ObservationLayout, problems: list[str], notices: list[str]
) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    images = []
    for field, keys in zip(IMAGE_FIELDS, (block.main_images, block.wrist_images, block.extra_view_images), strict=True):
        names = (keys,) if isinstance(keys, str) else (keys or ())
        entries = [entry for key in names if (entry := _find(layout, block.camera_group, key, field, problems))]
        entries = [entry for entry in entries if _check_image(entry, field, problems, notices)]
        sizes = {entry.shape[:2] for entry in entries}
        if len(sizes) > 1:
            shown = ", ".join(f"{_name(e)} {e.shape[0]}x{e.shape[1]}" for e in entries)
            problems.append(f"{field}: stacked cameras must have one size; found {shown}.")
        if entries:
            images.append((field, tuple(entries)))
    return tuple(images)


def _find(layout: ObservationLayout, group: str, key: str, yaml_key: str, problems: list[str]) -> Entry | None:
    try:
        return layout.find(group, key, yaml_key)
    except MappingError as error:
        problems.append(str(error))
        return None


def _check_image(entry: Entry, field: str, problems: list[str], notices: list[str]) -> bool:
    shape = entry.shape
    if len(shape) != 3 or shape[2] not in (3, 4):
        advice = (
            " It looks channel-first: return (H, W, C) from the observation term."
            if len(shape) == 3 and shape[0] in (3, 4)
            else " Choose a camera term that returns RGB or RGBA."
        )
        problems.append(
            f"{field}: '{_name(entry)}' has shape {shape}; an image must be (H, W, 3) or (H, W, 4).{advice}"
        )
        return False
    if entry.dtype.startswith("torch.float"):
        notices.append(f"{field}: '{_name(entry)}' is {entry.dtype}; values in [0, 1] are converted to uint8.")
    elif entry.dtype != "torch.uint8":
        problems.append(f"{field}: '{_name(entry)}' has dtype {entry.dtype}; allowed are uint8 and float in [0, 1].")
        return False
    return True


def _build_states(block: IsaacLabBlock, layout: ObservationLayout, problems: list[str]) -> tuple[StatePart, ...]:
    parts = []
    for index, spec in enumerate(block.states):
        where = f"states[{index}]"
        entry = _find(layout, block.policy_group, spec.key, where, problems)
        if entry is None:
            continue
        if len(entry.shape) > 1:
            problems.append(f"{where}: '{_name(entry)}' has shape {entry.shape}; a state must be one-dimensional.")
            continue
        width = entry.shape[0] if entry.shape else 1
        start, stop = spec.slice or (0, width)
        if not 0 <= start < stop <= width:
            problems.append(
                f"{where}: slice [{start}, {stop}] of '{_name(entry)}' does not fit its width {width}; "
                f"allowed is 0 <= a < b <= {width}."
            )
            continue
        parts.append(StatePart(entry, start, stop))
    return tuple(parts)


def _build_instruction(
    block: IsaacLabBlock, layout: ObservationLayout, instructions: Any, problems: list[str]
) -> tuple[Entry | None, tuple[str, ...]]:
    source = block.task_description
    if source.obs is None:
        return None, (source.text or "",)
    entry = _find(layout, block.policy_group, source.obs, "task_description.obs", problems)
    if entry is not None and entry.shape not in ((), (1,)):
        problems.append(
            f"task_description.obs: '{_name(entry)}' has shape {entry.shape}; it must be one index per environment."
        )
    texts, mistakes = read_instructions(instructions)
    problems += [
        f"task_description.obs: {mistake}. Repair it, or give one text as `task_description: ...`."
        for mistake in mistakes
    ]
    return entry, texts


def _to_rgb8(image: torch.Tensor, entry: Entry) -> torch.Tensor:
    rgb = image[..., :3]
    if rgb.dtype == torch.uint8:
        return rgb
    flat = rgb.flatten(1)
    bad = ~((flat >= 0) & (flat <= 1)).all(dim=1)
    if bad.any():
        env = int(bad.nonzero()[0, 0])
        low, high = float(flat[env].min()), float(flat[env].max())
        raise MappingError(
            f"Image '{_name(entry)}' of environment {env} has values in [{low:.3g}, {high:.3g}]; a float image must "
            "lie in [0, 1]. Isaac Lab's `mdp.image` subtracts the mean unless `normalize: False`."
        )
    return (rgb * 255.0).round().to(torch.uint8)


def _concatenate_states(raw_obs: RawObs, parts: tuple[StatePart, ...]) -> torch.Tensor:
    columns = []
    for part in parts:
        value = part.entry.read(raw_obs)
        value = value.reshape(value.shape[0], -1)[:, part.start : part.stop]
        columns.append(value.to(torch.float32))
    states = torch.cat(columns, dim=1)
    if not torch.isfinite(states).all():
        _report_non_finite(columns, parts)
    return states


def _report_non_finite(columns: list[torch.Tensor], parts: tuple[StatePart, ...]) -> None:
    for value, part in zip(columns, parts, strict=True):
        bad = (~torch.isfinite(value)).nonzero()
        if len(bad):
            env, column = bad[0].tolist()
            raise MappingError(
                f"Observation '{_name(part.entry)}' of environment {env} is {float(value[env, column])} in column "
                f"{part.start + column} ({len(bad)} such values). The simulation probably diverged: check the time "
                "step, contacts and action range."
            )


def _read_instruction(raw_obs: RawObs, spec: ObservationMap, mapped: dict[str, torch.Tensor]) -> torch.Tensor:
    if spec.instruction is None:
        like = next(iter(mapped.values()))
        return torch.zeros(like.shape[0], dtype=torch.int64, device=like.device)
    value = spec.instruction.read(raw_obs).reshape(-1)
    index = value.to(torch.int64)
    bad = (index < 0) | (index >= len(spec.instructions)) | (index != value)
    if bad.any():
        env = int(bad.nonzero()[0, 0])
        raise MappingError(
            f"Instruction index '{_name(spec.instruction)}' of environment {env} is {value[env].item():g}; "
            f"the task has {len(spec.instructions)} instructions, numbered from 0."
        )
    return index
