# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A resumed optimizer keeps its moments and its place in the schedule; its settings are those that are given now.

A checkpoint of torch holds both kinds in the same groups, and loading one replaces whatever the config says.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TRAINER_STATE_FILENAME = "trainer_state.json"
"""In a checkpoint's ``actor`` directory: counters and schedules, which upstream leaves out."""

_SCHEDULE_DEFAULTS: dict[str, Any] = {
    "lr_scheduler": "constant",
    "lr_warmup_steps": -1,
    "lr_warmup_steps_ratio": 0.0,
    "total_training_steps": 0,
    "num_cycles": 0.5,
    "min_lr": 0.0,
    "min_lr_rate": None,
}
"""Keys of an optimizer's section that shape the schedule, with rlinf 0.3.0's defaults."""

_SETTINGS = ("lr", "betas", "eps", "weight_decay")
_KEYS = {"betas": ("adam_beta1", "adam_beta2"), "eps": ("adam_eps",), "weight_decay": ("weight_decay",)}


class SchedulePosition:
    """Reads from a checkpoint how often its schedule has stepped, whatever kind of schedule it was."""

    def __init__(self) -> None:
        """Begin at the start."""
        self.last_epoch = 0

    def state_dict(self) -> dict[str, int]:
        """Return what to look for in the checkpoint."""
        return {"last_epoch": self.last_epoch}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the position over."""
        self.last_epoch = int(state["last_epoch"])


def settings_of(optimizer: Any) -> list[dict[str, Any]]:
    """Return the settings of each parameter group, with the learning rate as it is before any schedule."""
    return [
        {name: group.get("initial_lr", group["lr"]) if name == "lr" else group[name] for name in _SETTINGS}
        for group in optimizer.param_groups
    ]


def put_settings(
    optimizer: Any, settings: Sequence[Mapping[str, Any]], rates: Sequence[str], section: str = "actor.optim"
) -> list[str]:
    """Give an optimizer other settings, in place; a schedule must be built anew afterwards.

    Args:
        optimizer: A torch optimizer.
        settings: What :func:`settings_of` returned for an optimizer with the same groups.
        rates: Name of each group's learning rate in the config, such as ``("lr", "value_lr")``.
        section: Key path of the optimizer's settings.

    Returns:
        One text for each setting that is another than before.
    """
    changes: list[str] = []
    for group, given, former, rate in zip(optimizer.param_groups, settings, settings_of(optimizer), rates, strict=True):
        for name in _SETTINGS:
            pairs = zip(_KEYS.get(name, (rate,)), _values(former[name]), _values(given[name]), strict=True)
            changes += [_change(section, key, now, before) for key, before, now in pairs if now != before]
        group.update(given, initial_lr=given["lr"])
    return list(dict.fromkeys(changes))


def schedule_of(optim: Mapping[str, Any]) -> dict[str, Any]:
    """Return what shapes the schedule of an optimizer's section, such as ``actor.optim``."""
    return {key: optim.get(key, default) for key, default in _SCHEDULE_DEFAULTS.items()}


def schedule_changes(now: Mapping[str, Any], before: Mapping[str, Any], section: str = "actor.optim") -> list[str]:
    """Return one text for each key of the schedule that is another than in the checkpoint."""
    return [_change(section, key, value, before[key]) for key, value in now.items() if value != before.get(key, value)]


def move_schedule(scheduler: Any, steps: int) -> None:
    """Step a new schedule to where the checkpoint's was; the learning rates are then those of that step."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Detected call of `lr_scheduler.step\\(\\)` before")
        for _ in range(steps):
            scheduler.step()


def read_trainer_state(directory: str) -> dict[str, Any]:
    """Return what :func:`write_trainer_state` wrote, nothing for a checkpoint of RLinf itself."""
    file = Path(directory) / TRAINER_STATE_FILENAME
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def write_trainer_state(directory: str, state: Mapping[str, Any]) -> None:
    """Write what a resumed run needs and upstream leaves out; for one rank only.

    Args:
        directory: The checkpoint's ``actor`` directory.
        state: With ``optimizer_steps``, by which a checkpoint is known to be complete.
    """
    (Path(directory) / TRAINER_STATE_FILENAME).write_text(json.dumps(dict(state)), encoding="utf-8")


def _change(section: str, key: str, now: Any, before: Any) -> str:
    return f"{section}.{key}: {_shown(now)}; the checkpoint had {_shown(before)}"


def _shown(value: Any) -> str:
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _values(setting: Any) -> tuple[Any, ...]:
    return tuple(setting) if isinstance(setting, list | tuple) else (setting,)
