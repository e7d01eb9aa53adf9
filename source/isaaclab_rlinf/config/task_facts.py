# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a task's configuration class says about itself, without starting a simulator.

A manager-based task declares its observation keys, terminations and rewards as attributes of its env cfg; importing
that class costs a fraction of a second, torch aside (see :mod:`.light_import`). A direct-workflow task computes them,
so there is less to know before its first reset.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from isaaclab_rlinf.config.errors import Issue, listing, show
from isaaclab_rlinf.config.light_import import call_without_torch, known
from isaaclab_rlinf.config.overrides import apply_overrides
from isaaclab_rlinf.config.presets import FORMS, PresetError, check_presets
from isaaclab_rlinf.env.time_outs import unflagged_time_outs

_KIT_MODULES = {"omni", "isaacsim", "carb", "usdrt"}
"""Importable only inside a running Kit application, which the driver is not."""


@dataclass(frozen=True)
class TaskFacts:
    """Names and numbers of one task."""

    task: str
    groups: Mapping[str, tuple[str, ...]] | None = None
    """Observation group -> keys; None when the task does not declare them (direct workflow)."""
    terminations: Mapping[str, bool] | None = None
    """Termination term -> whether it is a time-out; None for the direct workflow."""
    unflagged_time_outs: tuple[str, ...] = ()
    """Termination terms that look like time-outs, but do not say so."""
    rewards: Mapping[str, float] | None = None
    """Reward term -> weight; None for the direct workflow."""
    episode_steps: int | None = None
    """Environment steps until the task's own time-out."""
    instructions: Any = None
    """The cfg's ``instructions``, unjudged: see :func:`~isaaclab_rlinf.mapping.instructions.read_instructions`."""
    notices: tuple[str, ...] = field(default=())
    problems: tuple[Issue, ...] = field(default=())
    """What is wrong with the overrides; ``where`` is the dotted attribute. The rest is as if those were left out."""


def read_task(spec: Any, overrides: Mapping[str, Any] | None = None, presets: Iterable[str] = ()) -> TaskFacts:
    """Read a task's env cfg.

    Args:
        spec: Its gym registration.
        overrides: ``init_params.env_overrides``: dotted attribute -> value, applied before reading.
        presets: ``init_params.presets``: Isaac Lab preset selectors.

    Returns:
        The facts; with a notice and nothing else when the cfg needs a running Kit application.

    Raises:
        PresetError: If a preset selects nothing.
        Exception: Whatever the task's own module raises while it is imported.
    """
    entry, presets = spec.kwargs["env_cfg_entry_point"], tuple(presets)
    for wrong in (preset for preset in presets if not isinstance(preset, str)):
        raise PresetError(f"{show(wrong)} selects nothing", FORMS, "")
    overrides = dict(overrides or {})
    facts = call_without_torch(_read, spec.id, entry, presets, overrides)
    if facts is None:
        facts = _read(spec.id, entry, presets, overrides)
    if isinstance(facts, PresetError):
        raise facts
    return facts


def _read(task: str, entry: Any, presets: tuple[str, ...], overrides: Mapping[str, Any]) -> TaskFacts | PresetError:
    """Return the facts, or which preset selects nothing: an exception would not come back from the child process."""
    try:
        cfg = _load(task, entry, presets, tuple(overrides))
    except PresetError as error:
        return error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _KIT_MODULES:
            raise
        note = f"task {task}: keys are checked at the first reset only, its cfg needs Isaac Sim ({error.name})"
        return TaskFacts(task, notices=(note,))
    if not overrides:
        return _facts(task, cfg)
    cfg = copy.deepcopy(cfg)
    problems = apply_overrides(cfg, overrides)
    return replace(_facts(task, cfg), problems=tuple(problems))


@functools.lru_cache(maxsize=8)
def _load(task: str, entry: Any, presets: tuple[str, ...], paths: tuple[str, ...]) -> Any:
    """Build the cfg, as the simulator would wherever a fact or one of the overrides' paths is a preset.

    Train and eval mostly share one task. The result is shared too: copy before changing it.
    """
    if isinstance(entry, str) and not presets:
        module, _, name = entry.partition(":")
        entry = getattr(importlib.import_module(module), name)
    cfg = entry() if callable(entry) else entry
    if presets or isinstance(cfg, str) or any(map(_is_preset, _values_read(cfg, paths))):
        from isaaclab_tasks.utils.parse_cfg import parse_env_cfg

        # it announces on stdout which file it reads; a check has one report and nothing else to say
        with contextlib.redirect_stdout(io.StringIO()):
            return _with_presets(task, cfg, presets) if presets else parse_env_cfg(task, overrides=[])
    return cfg


def _with_presets(task: str, cfg: Any, presets: tuple[Any, ...]) -> Any:
    """Build the cfg with presets applied.

    Raises:
        PresetError: If one selects nothing.
    """
    from isaaclab_tasks.utils.hydra import collect_presets
    from isaaclab_tasks.utils.parse_cfg import load_cfg_from_registry, parse_env_cfg
    from isaaclab_tasks.utils.preset_target import PresetTarget

    declared = collect_presets(load_cfg_from_registry(task, "env_cfg_entry_point") if isinstance(cfg, str) else cfg)
    check_presets(presets, declared, PresetTarget.all_legacy_aliases())
    try:
        return parse_env_cfg(task, overrides=list(presets))
    except ValueError as error:  # such as a renderer's name given as physics
        raise PresetError(f"{listing(presets)}: {error}", FORMS, "") from None


def _is_preset(value: Any) -> bool:
    """Whether a value is a choice that Isaac Lab has to resolve; by name, as its module costs more than the check."""
    return any(base.__name__ == "PresetCfg" for base in type(value).__mro__)


def _values_read(cfg: Any, paths: Iterable[str]) -> Iterator[Any]:
    """Yield what :func:`_facts` reads of a cfg, and what lies on the way to the attributes that overrides set."""
    yield cfg
    for name, depth in (("observations", 3), ("terminations", 2), ("rewards", 2)):
        yield from _below(getattr(cfg, name, None), depth)
    yield from (getattr(cfg, name, None) for name in ("decimation", "episode_length_s", "instructions"))
    for path in ("sim.dt.", *(str(path) for path in paths)):
        yield from _on_the_way(cfg, path)


def _on_the_way(cfg: Any, path: str) -> Iterator[Any]:
    """Yield the values between a cfg and the attribute at the end of a dotted path."""
    value = cfg
    for part in path.split(".")[:-1]:
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
        yield value


def _below(value: Any, depth: int) -> Iterator[Any]:
    """Yield a value and the members of configurations in it."""
    yield value
    attributes = hasattr(type(value), "__dataclass_fields__") and hasattr(value, "__dict__")
    if depth and (attributes or isinstance(value, Mapping)):
        for member in _members(value).values():
            yield from _below(member, depth - 1)


def _facts(task: str, cfg: Any) -> TaskFacts:
    observations = getattr(cfg, "observations", None)
    groups = None
    if observations is not None:
        groups = {
            name: tuple(_terms(group))
            for name, group in _known_members(observations).items()
            if group is not None and not isinstance(group, str | int | float | bool | tuple | list)
        }
    terminations, rewards = getattr(cfg, "terminations", None), getattr(cfg, "rewards", None)
    return TaskFacts(
        task,
        groups=groups,
        terminations=_attributes(terminations, "time_out", bool) if groups is not None else None,
        unflagged_time_outs=unflagged_time_outs(_terms(terminations) if terminations is not None else {}),
        rewards=_attributes(rewards, "weight", float) if groups is not None else None,
        episode_steps=_episode_steps(cfg),
        instructions=known(getattr(cfg, "instructions", None)),
    )


def _members(section: Any) -> dict[str, Any]:
    return dict(section) if isinstance(section, Mapping) else dict(vars(section))


def _known_members(section: Any) -> dict[str, Any]:
    """Return the members of something that is no placeholder and holds none.

    Raises:
        TypeError: If a placeholder is among them: names alone would then pass for terms.
    """
    return {name: known(member) for name, member in _members(known(section)).items()}


def _terms(section: Any) -> dict[str, Any]:
    """Return the terms of a group in its own order: members with a ``func``; those set to None are switched off."""
    return {name: term for name, term in _known_members(section).items() if hasattr(term, "func")}


def _attributes(section: Any, attribute: str, kind: type) -> dict[str, Any]:
    if section is None:
        return {}
    return {name: kind(getattr(term, attribute, 0)) for name, term in _terms(section).items()}


def _episode_steps(cfg: Any) -> int | None:
    """Return ``ceil(episode_length_s / (sim.dt * decimation))``, as ``ManagerBasedRLEnv.max_episode_length`` does."""
    sim = known(getattr(cfg, "sim", None))
    for value in (getattr(cfg, "episode_length_s", None), getattr(cfg, "decimation", None), getattr(sim, "dt", None)):
        known(value)
    try:
        return math.ceil(cfg.episode_length_s / (cfg.sim.dt * cfg.decimation))
    except (AttributeError, TypeError, ZeroDivisionError):
        return None
