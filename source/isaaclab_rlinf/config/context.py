# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What every check sees: the resolved configuration, what is being run, and where to put issues and notices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.errors import Issue
from isaaclab_rlinf.config.schema import IsaacLabBlock

MAX_COUNT = 2**31 - 1
"""More of anything is a slip of the keyboard, and some of RLinf's and torch's counters end there."""
MISSING = object()
"""Returned by :meth:`Context.get` for an absent key, since null is a value."""


@dataclass
class Context:
    """One validation in progress."""

    cfg: Mapping[str, Any]
    """Plain and fully resolved."""
    source: Path
    mode: str
    """``train`` or ``play``."""
    num_accelerators: int | None = None
    """Accelerators of the machine; None when the cluster is someone else's, so that ``all`` has no known meaning."""
    issues: list[Issue] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    blocks: dict[str, IsaacLabBlock] = field(default_factory=dict)
    """Parsed ``isaaclab`` blocks by mode, ``train`` and ``eval``."""
    broken: set[str] = field(default_factory=set)
    """Key paths of those blocks that could not be read; see :class:`~isaaclab_rlinf.config.parse.ParsedBlock`."""
    instruction_issues: Callable[[str, str], list[Issue]] | None = None
    """Why the model cannot take an instruction, given its key path and text; None when its files do not tell."""

    def get(self, path: str, default: Any = MISSING) -> Any:
        """Return the value at a dotted key path, ``default`` when any part of it is absent."""
        node: Any = self.cfg
        for key in path.split("."):
            if not isinstance(node, Mapping) or key not in node:
                return default
            node = node[key]
        return node

    def issue(self, where: str, found: str, allowed: str = "", fix: str = "") -> None:
        """Record a mistake, once for each key path and finding; none that only follows from a key that is broken."""
        new = Issue(where, found, allowed, fix)
        if new not in self.issues and self.intact(where):
            self.issues.append(new)

    def intact(self, *paths: str) -> bool:
        """Return whether nothing at, above or below these key paths is broken, so that more can be said about them."""
        return not any(_at_or_below(a, b) or _at_or_below(b, a) for a in paths for b in self.broken)

    def whole(self, path: str) -> int | None:
        """Return a whole number >= 1, None when the key holds anything else (which its own check reports)."""
        value = self.get(path, None)
        return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COUNT else None

    def number(self, path: str) -> float | None:
        """Return a number, None when the key holds anything else."""
        value = self.get(path, None)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def training(self) -> bool:
        """Whether the run updates a policy."""
        return self.mode == "train" and self.get("runner.only_eval", False) is not True and not self._eval_task

    @property
    def evaluating(self) -> bool:
        """Whether the run evaluates, alone or in between."""
        interval = self.whole("runner.val_check_interval")
        return not self.training or interval is not None

    @property
    def _eval_task(self) -> bool:
        return self.get("runner.task_type", None) == "embodied_eval"

    @property
    def model_section(self) -> str:
        """Key path of the model that acts: ``actor.model`` when training, else ``rollout.model``."""
        return "actor.model" if self.training else "rollout.model"

    def env_modes(self) -> Iterator[str]:
        """Yield the ``env`` sections that this run uses."""
        if self.training:
            yield "train"
        if self.evaluating:
            yield "eval"


def _at_or_below(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))
