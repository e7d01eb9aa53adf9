# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which of a task's observations and actions a model gets: what follows from names and widths, and what does not.

A choice is made only where the task and the checkpoint leave one possibility. Everything else becomes OmegaConf's
missing value ``???`` with a comment that lists the possibilities, which ``check`` then asks for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import listing

if TYPE_CHECKING:
    from isaaclab_rlinf.config.task_facts import TaskFacts
    from isaaclab_rlinf.inspection.model_files import ModelFacts
    from isaaclab_rlinf.inspection.record import SeenEntry, TaskRecord

MISSING = "???"
_ON_THE_ROBOT = re.compile(r"wrist|hand|gripper|eef|end_?effector|tool", re.IGNORECASE)
_SAYS_SUCCESS = re.compile(r"(?<![a-z])(success|reached|goal|lifted|complete|solved)", re.IGNORECASE)
_SAYS_FAILURE = re.compile(r"(?<![a-z])(no|not|fail\w*|lost|miss\w*|limits?|out|un\w+)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """One value of the YAML, as YAML text."""

    value: str
    comment: str = ""
    """Why, or what has to be decided."""

    @property
    def open(self) -> bool:
        """Whether the user has to decide."""
        return MISSING in self.value


def decide(*reasons: str) -> Choice:
    """Return a choice that is the user's."""
    return Choice(MISSING, f"DECIDE: {' '.join(reasons)}")


@dataclass(frozen=True)
class Draft:
    """The block ``isaaclab``, key by key; a missing key is left out of the YAML."""

    keys: dict[str, Choice]
    """Key below the block -> choice; nested keys are written with dots."""
    state_slices: tuple[tuple[str, int, int], ...] = ()
    """GR00T state key and its columns of ``states``."""

    @property
    def open_keys(self) -> list[str]:
        """Keys that the user has to decide."""
        return [key for key, choice in self.keys.items() if choice.open]


def draft_block(record: TaskRecord, facts: TaskFacts, model: ModelFacts) -> Draft:
    """Derive the block from what the task shows.

    Args:
        record: The task after its first reset.
        facts: What its configuration declares.
        model: The checkpoint, as far as it is known.
    """
    keys: dict[str, Choice] = {"task_description": _instruction(record)}
    keys |= _cameras(record, model)
    keys["states"] = _states(record, model)
    keys |= _groups(record)
    keys["success"] = _success(facts)
    keys |= _padding(record, model)
    if record.hold is not None:
        keys["hold_pose_on_midchunk_reset"] = Choice("true", "every action term is absolute joint-position control")
    slices: list[tuple[str, int, int]] = []
    start = 0
    for key, width in model.state_keys:
        slices.append((key, start, start + width))
        start += width
    return Draft(keys, tuple(slices))


def images(record: TaskRecord) -> list[SeenEntry]:
    """Return the observations that are images."""
    return [seen for seen in record.observations if seen.is_image]


def state_terms(record: TaskRecord) -> list[SeenEntry]:
    """Return the one-dimensional observations of the policy group that can be states, in the task's order."""
    group = policy_group(record)
    members = [seen for seen in record.observations if seen.group == group and seen.width is not None]
    named = [seen for seen in members if seen.key != group]  # the terms of a group, where it has any
    return [seen for seen in named or members if seen is not instruction_term(record)]


def policy_group(record: TaskRecord) -> str:
    """Return the group of the states: ``policy`` where there is one, else the first with a one-dimensional entry."""
    groups = [seen.group for seen in record.observations if seen.width is not None]
    return "policy" if "policy" in groups or not groups else groups[0]


def instruction_term(record: TaskRecord) -> SeenEntry | None:
    """Return the observation that holds the index of the instruction, when task and name say so."""
    if not record.instructions:
        return None
    group = policy_group(record)
    names = [seen for seen in record.observations if seen.group == group and seen.width == 1]
    found = [seen for seen in names if "instruction" in seen.key]
    return found[0] if len(found) == 1 else None


def _instruction(record: TaskRecord) -> Choice:
    term = instruction_term(record)
    if term is not None:
        texts = listing(record.instructions, 5)
        return Choice(f"{{obs: {term.key}}}", f"an index into the task's instructions: {texts}")
    return decide("what the robot is told to do, in words that the checkpoint was trained with.")


def _groups(record: TaskRecord) -> dict[str, Choice]:
    """Return the group keys that differ from their defaults."""
    keys = {}
    groups = {seen.group for seen in images(record) if seen.group != seen.key}
    if len(groups) == 1 and groups != {"camera_images"}:
        keys["camera_group"] = Choice(groups.pop())
    elif len(groups) > 1:
        keys["camera_group"] = decide(f"the group of the cameras above: {listing(sorted(groups))}.")
    if policy_group(record) != "policy":
        keys["policy_group"] = Choice(policy_group(record))
    return keys


def _cameras(record: TaskRecord, model: ModelFacts) -> dict[str, Choice]:
    """Fill the image slots that the model has, where names leave one possibility."""
    seen = images(record)
    of_task = listing(f"{image.key} ({image.shape[0]}x{image.shape[1]})" for image in seen)
    moving = [image.key for image in seen if _ON_THE_ROBOT.search(image.key)]
    fixed = [image.key for image in seen if image.key not in moving]
    main = fixed if len(seen) > 1 else [image.key for image in seen]
    slots = view_slots(model)
    keys = {"main_images": _one(main, f"the camera of the main view; the task has: {of_task}.")}
    if "wrist_images" in slots or (model.views is None and len(moving) == 1 and len(seen) > 1):
        keys["wrist_images"] = _one(
            moving if len(seen) > 1 else [], f"the camera of the checkpoint's second view; the task has: {of_task}."
        )
    if "extra_view_images" in slots:
        rest = [*fixed[1:], *moving] if len(main) == 1 else []
        what = f"{len(slots['extra_view_images'])} cameras in the order {listing(slots['extra_view_images'])}"
        single = len(rest) == 1 == len(slots["extra_view_images"])
        keys["extra_view_images"] = Choice(f"[{rest[0]}]") if single else decide(f"{what}; the task has: {of_task}.")
    return keys


def view_slots(model: ModelFacts) -> dict[str, tuple[str, ...]]:
    """Return image slot -> the model's view names that it fills, main first.

    Args:
        model: The checkpoint; without known views only the main slot is sure.
    """
    views = model.views or ("main_images",)
    slots = {"main_images": views[:1]}
    if len(views) == 2:
        slots["wrist_images"] = views[1:]
    elif len(views) > 2:
        slots["extra_view_images"] = views[1:]
    return slots


def _one(candidates: Sequence[str], question: str) -> Choice:
    return Choice(candidates[0]) if len(candidates) == 1 else decide(question)


def _states(record: TaskRecord, model: ModelFacts) -> Choice:
    """Take all state terms, or the one run of them that is as wide as the checkpoint's state."""
    terms = state_terms(record)
    of_task = listing(f"{term.key} ({term.width})" for term in terms)
    if model.state_dim is None:
        names = ", ".join(term.key for term in terms)
        return Choice(f"[{names}]", f"widths: {of_task}; order and meaning must be those that the checkpoint saw")
    runs = [
        terms[first:last]
        for first in range(len(terms))
        for last in range(first + 1, len(terms) + 1)
        if sum(term.width for term in terms[first:last]) == model.state_dim
    ]
    question = f"{model.state_dim} columns, as the checkpoint saw them{_parts(model)}; the task has: {of_task}."
    if len(runs) != 1:
        return decide(question)
    names = ", ".join(term.key for term in runs[0])
    return Choice(f"[{names}]", f"the only {model.state_dim} columns; see that they mean what the checkpoint saw")


def _parts(model: ModelFacts) -> str:
    return f" ({listing(f'{key} {width}' for key, width in model.state_keys)})" if model.state_keys else ""


def _success(facts: TaskFacts) -> Choice:
    """Take the end called ``success``, or the only one if its name means that: being alone does not make it one."""
    if facts.terminations is None:
        return decide("{reward_above: x}: the step reward above which the goal is reached.")
    ends = [name for name, time_out in facts.terminations.items() if not time_out]
    name = "success" if "success" in ends else ends[0] if len(ends) == 1 else ""
    if _SAYS_SUCCESS.search(name) and not _SAYS_FAILURE.search(name):
        return Choice(f"{{termination: {name}}}", f"terminations that are not time-outs: {listing(ends)}")
    if not ends:
        return decide("{reward_above: x}; the task ends by time-out only.")
    return decide(f"{{termination: NAME}}, one of: {listing(ends)}; or {{reward_above: x}}.")


def _padding(record: TaskRecord, model: ModelFacts) -> dict[str, Choice]:
    """Return ``action_mapping`` keys."""
    keys = {}
    if model.action_parts:
        order = listing(f"{name} ({width})" for name, width, _ in record.action_terms)
        keys["action_mapping.keys"] = Choice(
            f"[{', '.join(name for name, _ in model.action_parts)}]",
            f"the checkpoint's order; the action vector is {order}",
        )
    if model.action_dim is None or model.action_dim == record.action_dim:
        return keys
    widths = f"the checkpoint acts in {model.action_dim} columns, the task takes {record.action_dim}"
    if model.action_dim > record.action_dim:
        if len(model.action_parts) > 1:
            of_model = listing(f"{name} ({width})" for name, width in model.action_parts)
            keys["action_mapping.keys"] = decide(f"{widths}: which of the checkpoint's parts, in order: {of_model}.")
        else:
            keys["action_mapping.prefix_pad"] = decide(
                f"{widths}: they do not fit; another checkpoint or task is needed."
            )
        return keys
    missing = record.action_dim - model.action_dim
    keys["action_mapping.prefix_pad"] = decide(f"{widths}; how many of the other {missing} come before.")
    keys["action_mapping.suffix_pad"] = decide("how many come after.")
    keys["action_mapping.pad_value"] = decide("their value, a number or a list; 0 is not neutral for positions.")
    return keys
