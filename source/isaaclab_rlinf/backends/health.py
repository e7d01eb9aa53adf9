# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Whether a training learns at all: losses and gradients that are finite, updates that are applied.

rlinf 0.3.0 skips an update whose gradient is not finite, logs it and goes on; a run can reach its end that way with
the weights it began with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

UPDATES = "actor/updates"
"""Metric of the actor: optimizer updates of the step."""
SKIPPED_UPDATES = "actor/skipped_updates"
"""Metric of the actor: those of them that were skipped, since the gradient was not finite."""
SKIPPED_IN_A_ROW = 50
"""Updates in a row that a gradient scaler may skip; halving its scale 50 times takes any scale below 1e-9."""

_CAUSES = (
    ("rollout/rewards", "the environment's rewards are not finite: look at the task's reward terms"),
    (
        "rollout/returns",
        "the returns are not finite: the value head gives values that are not, from such observations?",
    ),
    (
        "rollout/advantages",
        "the normalized advantages are not finite: fewer than two valid samples on an actor rank, or values that are "
        "not finite",
    ),
)
_CAUSE_ELSEWHERE = (
    "samples and rewards are finite, so the update diverged: a learning rate that is too high, a clip_grad that is too "
    "large, or 16-bit precision"
)


class LearningFailedError(RuntimeError):
    """The training does not learn any more; the message says in which step, by which metric, and where to go back."""


@dataclass
class LearningHealth:
    """Watches the training metrics of one run."""

    gradients_are_scaled: bool = False
    """Whether a gradient scaler is at work, which finds its scale by gradients that are not finite."""
    updates: int = 0
    applied: int = 0
    skipped_in_a_row: int = 0

    def fault(self, training: Mapping[str, float]) -> str | None:
        """Take note of one step; return what is wrong with it, None when it learned.

        Args:
            training: The actor's metrics of the step, without RLinf's ``train/``.
        """
        updates, skipped = int(training.get(UPDATES, 0)), int(training.get(SKIPPED_UPDATES, 0))
        self.updates += updates
        self.applied += updates - skipped
        self.skipped_in_a_row = self.skipped_in_a_row + skipped if skipped == updates else 0
        shown = f"; {skipped} of {updates} updates were skipped" if skipped else ""
        for name in sorted(training, key=_by_cause):
            if self._must_be_finite(name) and not math.isfinite(training[name]):
                return f"train/{name} is {training[name]}{shown}"
        if self.skipped_in_a_row >= SKIPPED_IN_A_ROW:
            return f"none of the last {self.skipped_in_a_row} updates was applied: their gradients were not finite"
        return None

    def conclusion(self) -> str | None:
        """Return what is wrong with the run as a whole, None when it learned or made no updates."""
        if self.updates and not self.applied:
            return (
                f"all {self.updates} updates were skipped, since their gradients were not finite: nothing was learned"
            )
        return None

    def _must_be_finite(self, name: str) -> bool:
        last = name.rpartition("/")[2]
        return "loss" in last or (last == "grad_norm" and not self.gradients_are_scaled)


def _by_cause(name: str) -> tuple[bool, str]:
    """Sort losses before the gradients that follow from them."""
    return name.endswith("grad_norm"), name


def describe_fault(step: int, fault: str, record: Mapping[str, float], checkpoint: Path | None) -> str:
    """Return the report of a training that is stopped.

    Args:
        step: The step, from 1.
        fault: What :class:`LearningHealth` found.
        record: All metrics of the step.
        checkpoint: The last complete checkpoint; None when there is none.
    """
    cause = _CAUSE_ELSEWHERE
    for name, text in _CAUSES:
        bad = [key for key, value in record.items() if key.startswith(name) and not math.isfinite(value)]
        if bad:
            cause = f"{bad[0]} is {record[bad[0]]}: {text}"
            break
    back = f"--checkpoint {checkpoint}" if checkpoint else "none was written yet: start anew"
    return (
        f"step {step}: {fault}\n        Cause:                     {cause}\n        Checkpoint to go back to:  {back}"
    )


def last_checkpoint(checkpoints_dir: Path, resumed_from: str | None) -> Path | None:
    """Return the newest complete checkpoint of a run, or the one that it was resumed from.

    Args:
        checkpoints_dir: Where the run writes its ``global_step_N``; each appears there when it is complete.
        resumed_from: ``runner.resume_dir``.
    """
    steps = [path for path in checkpoints_dir.glob("global_step_*") if path.is_dir()]
    if steps:
        return max(steps, key=lambda path: int(path.name.rpartition("_")[2]))
    return Path(resumed_from) if resumed_from else None


def as_number(value: object) -> float | None:
    """Return a metric as a number, NaN and infinities included; None for what is no number."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def json_number(value: float) -> float | None:
    """Return a number as JSON can hold it: null for NaN and infinities, which would otherwise be no JSON or vanish."""
    return value if math.isfinite(value) else None
