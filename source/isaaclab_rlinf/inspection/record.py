# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What one simulator start told about a task, and how it travels from the simulator process: as a JSON file.

Free of heavy imports: the simulator process and the command both use it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RECORD_FILE = "simulator.json"
STEP_FILE = "step.json"


@dataclass(frozen=True)
class SeenEntry:
    """One observation key after the first reset."""

    group: str
    key: str
    shape: tuple[int, ...]
    """Without the batch dimension."""
    dtype: str
    low: float
    """Smallest value over all environments."""
    high: float
    finite: bool
    """Whether no value is NaN or infinite."""

    @property
    def is_image(self) -> bool:
        """Whether the shape is that of an RGB or RGBA image, (H, W, 3) or (H, W, 4)."""
        return len(self.shape) == 3 and self.shape[2] in (3, 4)

    @property
    def width(self) -> int | None:
        """Number of columns of a state, None for anything that is not one-dimensional."""
        return {0: 1, 1: self.shape[0] if self.shape else 1}.get(len(self.shape))


@dataclass(frozen=True)
class Articulation:
    """One articulation of the scene."""

    name: str
    joints: tuple[str, ...]
    """Joint names in the simulator's order."""
    positions: tuple[float, ...]
    """Joint positions of environment 0 after the reset, rad or m."""


@dataclass(frozen=True)
class TaskRecord:
    """A task as its simulator showed it after the first reset."""

    managed: bool
    """False for a direct-workflow task."""
    device: str
    step_seconds: float
    max_episode_steps: int
    observations: tuple[SeenEntry, ...]
    articulations: tuple[Articulation, ...]
    action_terms: tuple[tuple[str, int, str], ...]
    """Name, width and description of each action term, in order."""
    instructions: tuple[str, ...] | None
    hold: tuple[tuple[float, ...], ...] | None
    """Per environment the action that keeps the present joint positions; None where no such action is known."""
    hold_reason: str
    """Why :attr:`hold` is None."""
    config_error: str = ""
    """Why the YAML does not fit the task; empty when it does."""

    @property
    def action_dim(self) -> int:
        """Width of the environment's actions."""
        return sum(width for _, width, _ in self.action_terms)


@dataclass(frozen=True)
class StepRecord:
    """What one step did to the joints."""

    displacement: float | None
    """Largest change of a joint position over all environments, rad or m; None without articulations."""
    joint: str
    """The joint that moved most, as ``articulation/joint``."""


def write_json(path: Path, record: Any) -> None:
    """Write a record.

    Args:
        path: File to create or replace.
        record: A dataclass of this module.
    """
    path.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")


def read_task_record(directory: Path) -> TaskRecord | None:
    """Read the record that a simulator process left, None when it did not come that far.

    Args:
        directory: Where it was written.
    """
    raw = _read(directory / RECORD_FILE)
    if raw is None:
        return None
    raw["observations"] = tuple(SeenEntry(**{**entry, "shape": tuple(entry["shape"])}) for entry in raw["observations"])
    raw["articulations"] = tuple(
        Articulation(entry["name"], tuple(entry["joints"]), tuple(entry["positions"])) for entry in raw["articulations"]
    )
    raw["action_terms"] = tuple((name, width, detail) for name, width, detail in raw["action_terms"])
    for key in ("instructions", "hold"):
        raw[key] = None if raw[key] is None else tuple(raw[key])
    return TaskRecord(**raw)


def read_step_record(directory: Path) -> StepRecord | None:
    """Read what the neutral step did, None when there was none."""
    raw = _read(directory / STEP_FILE)
    return None if raw is None else StepRecord(**raw)


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
