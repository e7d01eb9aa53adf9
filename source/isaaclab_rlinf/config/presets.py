# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check ``init_params.presets`` against what a task declares, before Isaac Lab hands what it does not know to Hydra.

Isaac Lab takes the same texts as its command line: ``physics=NAME``, ``renderer=NAME``, ``presets=NAME,NAME`` and
``env.PATH=NAME``. Anything else goes to Hydra, which prints its own message and ends the process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from isaaclab_rlinf.config.errors import did_you_mean, listing

SELECTORS = ("physics", "renderer", "presets")
FORMS = "'physics=NAME', 'renderer=NAME', 'presets=NAME,NAME' or 'env.PATH=NAME'"


class PresetError(ValueError):
    """A preset selector that cannot be applied; ``args`` are found, allowed and fix."""


def check_presets(presets: Iterable[Any], declared: Mapping[str, Iterable[str]], renamed: Mapping[str, str]) -> None:
    """Check selectors.

    Args:
        presets: The entries of ``init_params.presets``.
        declared: Path below the env cfg -> names of its presets.
        renamed: Older names of presets -> their names today; Isaac Lab takes both.

    Raises:
        PresetError: For the first that selects nothing.
    """
    known = {name for names in declared.values() for name in names if name != "default"}
    names = known | {old for old, new in renamed.items() if new in known}
    for entry in presets:
        key, equals, value = str(entry).partition("=")
        if not isinstance(entry, str) or not equals:
            fix = f"write 'presets={entry}'" if entry in names else did_you_mean(entry, names)
            raise PresetError(f"{entry!r} selects nothing", FORMS, fix)
        if key in SELECTORS:
            _check_names(key, value, names)
        else:
            _check_path(entry, key, value, declared)


def _check_names(key: str, value: str, names: set[str]) -> None:
    for name in filter(None, (part.strip() for part in value.split(","))):
        if name not in names:
            raise PresetError(f"'{key}={name}': the task has no preset {name!r}", _those(names), _near(name, names))
    if not value.strip(" ,"):
        raise PresetError(f"'{key}=' names no preset", _those(names), "name one, or remove the entry")


def _check_path(entry: str, key: str, value: str, declared: Mapping[str, Iterable[str]]) -> None:
    path = key.removeprefix("env.")
    if not key.startswith("env."):
        raise PresetError(f"{entry!r}: {key!r} is no selector", FORMS, did_you_mean(key, SELECTORS))
    if path not in declared:
        fix = did_you_mean(path, declared) or f"a value is set by env_overrides: {{{path}: {value}}}"
        raise PresetError(f"{entry!r}: the task has no presets at {path!r}", _those(declared), fix)
    if value not in declared[path]:
        names = set(declared[path])
        raise PresetError(f"{entry!r}: {path!r} has no preset {value!r}", _those(names), _near(value, names))


def _those(names: Iterable[str]) -> str:
    return listing(sorted(names)) if names else "no preset: this task declares none"


def _near(name: str, names: Iterable[str]) -> str:
    return did_you_mean(name, names) or ("name one of these, or remove the entry" if names else "remove the entry")
