# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check sections and keys against the table of what RLinf reads: presence, type, range, choices, misspellings."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from isaaclab_rlinf.config.context import MAX_COUNT, MISSING, Context
from isaaclab_rlinf.config.errors import did_you_mean, listing, show
from isaaclab_rlinf.config.keys import ALWAYS, EVAL, PPO, TRAIN, Key
from isaaclab_rlinf.config.keys_model import SAMPLING_READ
from isaaclab_rlinf.config.reader import is_number, kind_of
from isaaclab_rlinf.config.rlinf_keys import SECTIONS, TOP_LEVEL

_MISSPELT, _MISSPELT_SET = 0.8, 0.9
"""Likeness (difflib ratio) from which an unknown key counts as a misspelling of a known one, and of one that is set."""

TRAIN_SECTIONS = ("actor", "env.train", "algorithm", "weight_syncer", "critic")
"""Sections of which an evaluation needs nothing."""

_COPIED_FROM = {
    "rollout.model": "actor.model",
    "rollout.model.rl_head_config": "actor.model.rl_head_config",
    "rollout.sampling_params": "algorithm.sampling_params",
}
"""Sections that migration fills from another one, where a mistake is reported."""

_PICKED_FROM = {"algorithm.sampling_params": SAMPLING_READ, "rollout.sampling_params": SAMPLING_READ}
"""Sections of which RLinf passes nothing on but these keys, to whatever model."""

_KIND_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "list": "a list",
    "numbers": "a list of numbers",
    "map": "a mapping",
}


def check_sections(ctx: Context) -> None:
    """Check everything that concerns one key alone.

    Args:
        ctx: The validation in progress.
    """
    _check_top_level(ctx)
    for section, keys in SECTIONS.items():
        raw = ctx.get(section)
        if isinstance(raw, Mapping):
            _check_section(ctx, section, raw, keys)


def _check_top_level(ctx: Context) -> None:
    for name, need in TOP_LEVEL.items():
        value = ctx.get(name)
        if value in (MISSING, None) and (need == ALWAYS or (need == TRAIN and ctx.training)):
            ctx.issue(name, "the section is missing", "a mapping", "start from a bundled task YAML")
        elif value not in (MISSING, None) and name in SECTIONS and not isinstance(value, Mapping):
            ctx.issue(name, f"{show(value)} is {kind_of(value)}", "a mapping")
    for name in ctx.cfg:
        if name not in TOP_LEVEL:
            fix = did_you_mean(name, TOP_LEVEL) or "remove it"
            ctx.issue(str(name), "unknown section", listing(sorted(set(TOP_LEVEL) - {"defaults"})), fix)
    extensions = ctx.get("extensions", None)
    if extensions is not None and not _texts(extensions):
        ctx.issue("extensions", show(extensions), "a list of module names")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) and entry.strip() for entry in value)


def _check_section(ctx: Context, section: str, raw: Mapping[str, Any], keys: Mapping[str, Key]) -> None:
    for name, key in keys.items():
        where, value = f"{section}.{name}", raw.get(name, MISSING)
        if _copied(ctx, section, name, value):
            continue
        if value == "???":
            ctx.issue(
                where, "the value is mandatory (???) and was not given", fix="set it in the YAML or as an override"
            )
        elif value is MISSING or (value is None and not key.null):
            _check_absent(ctx, where, section, value, key)
        elif value is not None:
            _check_value(ctx, where, value, key)
    for name, value in raw.items():
        if name not in keys and not _copied(ctx, section, str(name), value):
            _check_unknown(ctx, section, str(name), raw, keys)


def _copied(ctx: Context, section: str, name: str, value: Any) -> bool:
    """Whether a key only repeats the section that it was filled from, where it is checked already."""
    source = _COPIED_FROM.get(section, "")
    if not isinstance(ctx.get(source), Mapping):
        return False
    original = ctx.get(f"{source}.{name}")
    if original is MISSING and not ctx.training:
        return False  # an evaluation needs it here alone
    return original is value or (original == value and type(original) is type(value))


def _check_absent(ctx: Context, where: str, section: str, value: Any, key: Key) -> None:
    found = "missing" if value is MISSING else "null"
    if _needed(ctx, section, key.need):
        ctx.issue(where, found, _allowed(key))
    elif value is None:
        ctx.issue(where, "null", _allowed(key), "remove the key to get RLinf's default")


def _needed(ctx: Context, section: str, need: str) -> bool:
    if not ctx.training and section.startswith(TRAIN_SECTIONS):
        return False
    if need == ALWAYS:
        return True
    if need == PPO:
        return ctx.training and ctx.get("algorithm.loss_type", None) != "embodied_sac"
    if need == EVAL:
        return ctx.training if section.startswith("env.train") else ctx.evaluating
    return need == TRAIN and ctx.training


def _check_value(ctx: Context, where: str, value: Any, key: Key) -> None:
    if not _kind_fits(value, key):
        ctx.issue(where, f"{show(value)} is {kind_of(value)}", _allowed(key))
    elif key.need and isinstance(value, str) and not value.strip():
        ctx.issue(where, "empty", _allowed(key))
    elif key.choices and not any(value == choice and type(value) is type(choice) for choice in key.choices):
        ctx.issue(where, show(value), _allowed(key), did_you_mean(value, key.choices))
    elif not _in_range(value, key):
        ctx.issue(where, show(value), _allowed(key))
    elif key.kind == "int" and key.high is None and abs(value) > MAX_COUNT:
        ctx.issue(where, show(value), f"at most {MAX_COUNT}")


def _kind_fits(value: Any, key: Key) -> bool:
    kinds = {
        "int": lambda: isinstance(value, int) and not isinstance(value, bool),
        "float": lambda: is_number(value),
        "bool": lambda: isinstance(value, bool),
        "str": lambda: isinstance(value, str),
        "list": lambda: isinstance(value, list),
        "numbers": lambda: isinstance(value, list) and all(is_number(entry) for entry in value),
        "map": lambda: isinstance(value, Mapping),
        "any": lambda: True,
    }
    return kinds[key.kind]()


def _in_range(value: Any, key: Key) -> bool:
    return (
        (key.low is None or value >= key.low)
        and (key.high is None or value <= key.high)
        and (key.above is None or value > key.above)
    )


def _allowed(key: Key) -> str:
    if key.choices:
        return "one of " + ", ".join("null" if choice is None else str(choice) for choice in dict.fromkeys(key.choices))
    bounds = [
        f">= {key.low:.12g}" if key.low is not None else "",
        f"> {key.above:.12g}" if key.above is not None else "",
        f"<= {key.high:.12g}" if key.high is not None else "",
    ]
    return " ".join(filter(None, [_KIND_WORDS.get(key.kind, ""), " and ".join(filter(None, bounds))]))


def _check_unknown(ctx: Context, section: str, name: str, raw: Mapping[str, Any], keys: Mapping[str, Key]) -> None:
    """Refuse what looks like a misspelling; let through what may be a key of a model or of an extension."""
    likeness = {other: difflib.SequenceMatcher(None, name, other).ratio() for other in keys}
    meant = [other for other, ratio in likeness.items() if ratio >= (_MISSPELT_SET if other in raw else _MISSPELT)]
    where = f"{section}.{name}"
    if meant:
        ctx.issue(where, "unknown key; RLinf would ignore it", listing(sorted(keys)), did_you_mean(name, meant))
    elif section in _PICKED_FROM:
        ctx.issue(where, "unknown key; RLinf 0.3.0 hands it to no model", listing(_PICKED_FROM[section]), "remove it")
    else:
        ctx.notices.append(f"{where}: passed through unchecked (not a key that RLinf 0.3.0 is known to read)")
