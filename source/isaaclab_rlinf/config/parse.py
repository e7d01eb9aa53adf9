# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Turn a raw ``isaaclab`` block into the typed :class:`~isaaclab_rlinf.config.schema.IsaacLabBlock`, strictly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.errors import Issue
from isaaclab_rlinf.config.reader import Reader
from isaaclab_rlinf.config.schema import (
    ActionMapping,
    Gr00tMapping,
    Gr00tStateSpec,
    IsaacLabBlock,
    StateSpec,
    SuccessSpec,
    TaskDescription,
)
from isaaclab_rlinf.mapping.action_layout import list_issues
from isaaclab_rlinf.mapping.columns import beyond_states, repeated_states
from isaaclab_rlinf.mapping.instructions import text_problem


@dataclass(frozen=True)
class ParsedBlock:
    """What could be read of a block."""

    block: IsaacLabBlock | None
    """None when it is no mapping. A broken key has its default, or an empty text."""
    issues: tuple[Issue, ...]
    broken: frozenset[str]
    """Key paths whose value here is not what the YAML meant: nothing can be said about them, but all the rest holds."""


def parse_isaaclab_block(raw: Any, where: str, file: Path | None = None) -> tuple[IsaacLabBlock | None, list[Issue]]:
    """Parse one block.

    Args:
        raw: The resolved block: plain dicts, lists and scalars (a DictConfig is resolved first).
        where: Its key path, e.g. ``env.train.isaaclab``.
        file: The YAML it comes from, named in the issues.

    Returns:
        The block and an empty list, or None and every mistake found.
    """
    parsed = read_isaaclab_block(raw, where)
    if parsed.issues:
        return None, [issue.in_file(file) if file is not None else issue for issue in parsed.issues]
    return parsed.block, []


def read_isaaclab_block(raw: Any, where: str) -> ParsedBlock:
    """Read as much of a block as can be read, so that what is right in it can be checked further.

    Args:
        raw: See :func:`parse_isaaclab_block`.
        where: Its key path.
    """
    if hasattr(raw, "_get_node"):
        from omegaconf import OmegaConf

        raw = OmegaConf.to_container(raw, resolve=True)
    reader = Reader(raw, where, [])
    if not reader.ok:
        return ParsedBlock(None, tuple(reader.issues), frozenset(reader.broken))
    fields = _fields(reader)
    reader.finish()
    _cross_checks(reader, fields)
    return ParsedBlock(IsaacLabBlock(**fields), tuple(reader.issues), frozenset(reader.broken))


def _fields(reader: Reader) -> dict[str, Any]:
    return {
        "task_description": _task_description(reader),
        "main_images": reader.name("main_images"),
        "wrist_images": reader.name("wrist_images"),
        "extra_view_images": reader.names("extra_view_images"),
        "states": _states(reader),
        "camera_group": reader.name("camera_group") or "camera_images",
        "policy_group": reader.name("policy_group") or "policy",
        "gr00t_mapping": _sub(reader, "gr00t_mapping", _gr00t_mapping) or Gr00tMapping(),
        "action_mapping": _sub(reader, "action_mapping", _action_mapping) or ActionMapping(),
        "success": _sub(reader, "success", _success) or SuccessSpec(),
        "hold_pose_on_midchunk_reset": reader.flag("hold_pose_on_midchunk_reset"),
        "render_every_action": reader.flag("render_every_action"),
        "obs_converter_type": reader.name("obs_converter_type"),
        "embodiment_tag": reader.name("embodiment_tag"),
        "embodiment_tag_id": reader.whole("embodiment_tag_id", low=0),
        "data_config_class": reader.name("data_config_class"),
    }


def _sub(reader: Reader, key: str, parse: Callable[[Reader], Any]) -> Any | None:
    """Parse a nested mapping when it is there; its unknown keys are reported too."""
    child = reader.child(key)
    if child is None:
        return None
    value = parse(child)
    child.finish()
    return value


def _task_description(reader: Reader) -> TaskDescription:
    key, allowed = "task_description", "a text, or {obs: KEY} to read a per-environment instruction from the task"
    value = reader.take(key)
    if isinstance(value, Mapping):
        child = reader.child(key)
        obs = child.name("obs", required=True)
        child.finish()
        return TaskDescription(obs=obs)
    problem = text_problem(value)
    if problem and not reader.has_issue(key):
        reader.issue(key, problem, allowed)
    return TaskDescription(text="" if problem else value)


def _states(reader: Reader) -> tuple[StateSpec, ...]:
    states = []
    for where, entry in reader.entries("states", "a list of keys or of {key: KEY, slice: [a, b]}"):
        if isinstance(entry, str) and entry.strip():
            states.append(StateSpec(entry))
            continue
        child = reader.below(entry, where, "a key, or {key: KEY, slice: [a, b]}")
        if child.ok:
            key = child.name("key", required=True)
            states.append(StateSpec(key or "", child.columns("slice")))
            child.finish()
        else:
            states.append(StateSpec(""))  # keeps the place, so that the others are named by their own index
    return tuple(states)


def _gr00t_mapping(reader: Reader) -> Gr00tMapping:
    video = reader.child("video")
    views: dict[str, Any] = {}
    if video is not None:
        views = {
            "main_images": video.name("main_images"),
            "wrist_images": video.name("wrist_images"),
            "extra_view_images": video.names("extra_view_images"),
        }
        video.finish()
    state = []
    for where, entry in reader.entries("state", "a list of {gr00t_key: KEY, slice: [a, b]}"):
        child = reader.below(entry, where, "{gr00t_key: KEY, slice: [a, b]}")
        if child.ok:
            key = child.name("gr00t_key", required=True)
            columns = child.columns("slice", required=True)
            state.append(Gr00tStateSpec(key or "", columns or (0, 0)))
            child.finish()
        else:
            state.append(Gr00tStateSpec("", (0, 0)))
    language = reader.name("language")
    return Gr00tMapping(**views, state=tuple(state), **({"language": language} if language else {}))


def _action_mapping(reader: Reader) -> ActionMapping:
    keys = reader.names("keys", none_if_absent=True)
    mapping = ActionMapping(
        keys=keys,
        prefix_pad=reader.whole("prefix_pad", low=0) or 0,
        suffix_pad=reader.whole("suffix_pad", low=0) or 0,
        pad_value=reader.number_or_list("pad_value", 0.0),
        scale=reader.number_or_list("scale", 1.0),
        offset=reader.number_or_list("offset", 0.0),
    )
    if not reader.failed:
        for issue in list_issues(mapping, "pad_value", mapping.prefix_pad + mapping.suffix_pad, "padded dims"):
            reader.issue("pad_value", issue.found, issue.allowed)
    return mapping


def _success(reader: Reader) -> SuccessSpec:
    termination, above = reader.name("termination"), reader.number("reward_above")
    if termination is not None and above is not None:
        reader.issue("", "both termination and reward_above are set", "exactly one of them", "remove one")
    elif termination is None and above is None and not reader.failed:
        reader.issue("", "empty", "{termination: NAME} or {reward_above: x}", "name the signal, or remove the key")
    return SuccessSpec(termination=termination, reward_above=above)


def _cross_checks(reader: Reader, fields: Mapping[str, Any]) -> None:
    """Check what follows from two keys together; a broken one leaves nothing to follow from it."""
    extra, video = fields["extra_view_images"], fields["gr00t_mapping"]
    if not fields["main_images"] and not reader.has_issue("main_images"):
        reader.issue("main_images", "missing; a vision-language-action model needs a main view", "a camera key")
    cameras = [("main_images", fields["main_images"]), ("wrist_images", fields["wrist_images"])]
    cameras += [(f"extra_view_images[{index}]", key) for index, key in enumerate(extra)]
    first: dict[str, str] = {}
    for where, key in cameras:
        if key and first.setdefault(key, where) != where:
            reader.issue(where, f"camera {key!r} is used for more than one view: {first[key]} has it", "another camera")
    lengths_known = not any(map(reader.has_issue_in, ("extra_view_images", "gr00t_mapping.video.extra_view_images")))
    if video.extra_view_images and len(video.extra_view_images) != len(extra) and lengths_known:
        found = f"{len(video.extra_view_images)} keys for {len(extra)} extra_view_images"
        reader.issue("gr00t_mapping.video.extra_view_images", found, "one key per camera, in the same order")
    for key in ("main_images", "wrist_images"):
        if getattr(video, key) and not fields[key] and not reader.has_issue_in(key):
            reader.issue(
                f"gr00t_mapping.video.{key}", f"names a view, but {key} is not set", f"set {key}, or remove it"
            )
    _check_state_coverage(reader, fields)


def _check_state_coverage(reader: Reader, fields: Mapping[str, Any]) -> None:
    """Compare the GR00T slices with the width of ``states`` where slices make it known."""
    width = None if reader.has_issue_in("states") else state_width(fields["states"])
    for where, found, allowed in beyond_states(fields["gr00t_mapping"].state, width) if width is not None else ():
        reader.issue(where, found, allowed)
    for where, found in repeated_states(fields["states"]):
        reader.issue(where, found, "each column once", "remove it")
    if fields["gr00t_mapping"].state and not fields["states"] and not reader.has_issue_in("states"):
        reader.issue("gr00t_mapping.state", "slices `states`, which is not set", "set states, or remove it")


def state_width(states: tuple[StateSpec, ...]) -> int | None:
    """Return the width of the concatenated states, or None when an entry has no slice.

    Args:
        states: The block's states.
    """
    if not states or any(state.slice is None for state in states):
        return None
    return sum(state.slice[1] - state.slice[0] for state in states)
