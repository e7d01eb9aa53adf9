# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``init_params.env_overrides``: what may be set in a task's env cfg, and setting it.

The driver and the simulator process set overrides by the same function, so nothing passes the one and fails the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isaaclab_rlinf.config.errors import ConfigError, Issue, did_you_mean, listing, show
from isaaclab_rlinf.config.light_import import known

KEY = "init_params.env_overrides"

_OWNED = {
    "scene.num_envs": "total_num_envs",
    "seed": "seed",
    "sim.device": "init_params.device",
    "compute_final_obs": "init_params.final_observation",
    "viewer_camera.width": "video_cfg.width",
    "viewer_camera.height": "video_cfg.height",
}
"""Attributes that follow from a key of the environment section -> that key, on which others rely as well."""

_CONTAINERS = {"list": "a list", "tuple": "a list", "dict": "a mapping"}
_KINDS = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a text", **_CONTAINERS}
_NEUTRAL = {"class", "None", "NoneType"}


class OverrideError(ConfigError):
    """An override that cannot be set; its issue's ``where`` is the dotted attribute."""


def owned_overrides(overrides: Mapping[str, Any], section: str) -> list[Issue]:
    """Return a mistake for each override of something that has a key of its own.

    Args:
        overrides: Dotted attribute -> value.
        section: Key path of the environment section, such as ``env.train``.
    """
    where = f"{section}.{KEY}"
    return [
        Issue(
            f"{where}.{path}",
            f"{show(overrides[path])}, but this attribute follows from {section}.{key}",
            f"any attribute but {listing(_OWNED)}",
            f"set {section}.{key}",
        )
        for path, key in _OWNED.items()
        if path in overrides
    ]


def apply_overrides(cfg: Any, overrides: Mapping[str, Any]) -> list[Issue]:
    """Set every override that can be set.

    Args:
        cfg: A task's env cfg; changed.
        overrides: Dotted attribute -> value.

    Returns:
        What cannot be set or makes no sense, and was left as it is; each ``where`` is the dotted attribute.
    """
    issues = []
    for path, value in overrides.items():
        try:
            set_by_path(cfg, str(path), value)
        except OverrideError as error:
            issues.extend(error.issues)
    return issues


def set_by_path(cfg: Any, path: str, value: Any) -> None:
    """Set a dotted attribute (or mapping key) of a configuration that already exists.

    Args:
        cfg: The configuration; changed.
        path: The attribute.
        value: A plain value, as YAML gives it.

    Raises:
        OverrideError: If a part of the path does not exist, or the value makes no sense there.
    """
    parts = path.split(".")
    target = cfg
    for depth, part in enumerate(parts):
        names = list(target) if isinstance(target, dict) else [n for n in dir(target) if not n.startswith("_")]
        if part not in names:
            where = ".".join(parts[:depth]) or "the env cfg"
            own = sorted(name for name in names if isinstance(target, dict) or name in vars(target))
            raise OverrideError([Issue(path, f"{where} has no '{part}'", listing(own), did_you_mean(part, names))])
        if depth < len(parts) - 1:
            target = known(target[part] if isinstance(target, dict) else getattr(target, part))
    _set(target, parts[-1], path, value)


def _set(target: Any, name: str, path: str, value: Any) -> None:
    """Set the last part of a path, if the value fits what stands there."""
    old = target[name] if isinstance(target, dict) else getattr(target, name)
    field = getattr(type(target), "__dataclass_fields__", {}).get(name)
    annotation = str(field.type) if field is not None else ""
    problem = _mismatch(old, value, annotation) or _check_time(path, value)
    if problem is not None:
        raise OverrideError([replace(problem, where=path)])
    new = tuple(value) if isinstance(old, tuple) and isinstance(value, list) else value
    target.__setitem__(name, new) if isinstance(target, dict) else setattr(target, name, new)


def _mismatch(old: Any, new: Any, annotation: str) -> Issue | None:
    """Return why a value cannot take another one's place.

    Args:
        old: What stands there.
        new: What is to stand there.
        annotation: The attribute's type as written; empty if unknown.
    """
    if isinstance(new, float) and not math.isfinite(new) and not (isinstance(old, float) and not math.isfinite(old)):
        return Issue("", f"{new} is not finite", "a finite number")
    if hasattr(type(old), "__dataclass_fields__"):
        fix = "set one of its attributes, or null to switch it off"
        return None if new is None else Issue("", f"{show(new)} in place of a {type(old).__name__}", "null", fix)
    kind = next((name for name in _KINDS if type(old).__name__ == name), None)
    words = _outer_words(annotation) - _NEUTRAL
    if kind is None or words - set(_KINDS):
        return None  # a callable, a resolvable name, a type of the task's own: only the task knows
    if new is None:
        wanted = kind in _CONTAINERS or "None" in annotation
    else:
        wanted = bool(_kinds_of(new) & _accepted(kind, words))
    if wanted:
        return None
    allowed = [_KINDS[name] for name in _KINDS if name in _accepted(kind, words)]
    return Issue("", f"{show(new)} in place of {show(old)}", " or ".join(dict.fromkeys(allowed)))


def _accepted(kind: str, words: set[str]) -> set[str]:
    """Return the kinds of value that an attribute takes: the annotated ones, else those like the present value."""
    if words:
        return words
    # A default of 1 for a float is common, so a whole number says nothing unless it is annotated so.
    return {"float"} if kind == "int" else {kind}


def _outer_words(annotation: str) -> set[str]:
    """Return the names in a type, without those of members: ``dict`` and ``float`` of ``dict[str, int] | float``."""
    before = ""
    while annotation != before:
        before, annotation = annotation, re.sub(r"\[[^\[\]]*\]", "", annotation)
    return set(re.findall(r"\w+", annotation))


def _kinds_of(value: Any) -> set[str]:
    """Return the kinds that a plain value passes for: a whole number is a number, and a list may be a tuple."""
    if isinstance(value, bool):
        return {"bool"}
    if isinstance(value, int):
        return {"int", "float"}
    if isinstance(value, list | tuple):
        return {"list", "tuple"}
    return {type(value).__name__} if not isinstance(value, Mapping) else {"dict"}


def _check_time(path: str, value: Any) -> Issue | None:
    """Return why a number cannot be one of those that steps and episodes are counted by."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if path in ("decimation", "sim.render_interval") and (value < 1 or value != int(value)):
        return Issue(path, show(value), "a whole number >= 1")
    if path in ("sim.dt", "episode_length_s") and value <= 0:
        return Issue(path, show(value), "a number of seconds > 0")
    return None
