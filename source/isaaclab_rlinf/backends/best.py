# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The run's best checkpoint: written down by the training, read by ``--checkpoint best``.

A checkpoint is scored by its own weights only: by the evaluation of its step, or, in a run without evaluations, by
the training episodes of the first step that plays them. Numbers of the two kinds are never compared.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from isaaclab_rlinf.backends.writing import writing
from isaaclab_rlinf.checkpoints import BEST_FILENAME

EVALUATED = "eval/success_once"
"""Success over the evaluation's fixed starts, deterministic actions."""
TRAINED = "env/success_once"
"""Success over the training episodes that a step played, sampled actions."""


@dataclass(frozen=True)
class BestCheckpoint:
    """Content of ``best_checkpoint.json``."""

    step_dir: str
    """The ``global_step_N`` directory, relative to the run directory."""
    metric: str
    """:data:`EVALUATED` or :data:`TRAINED`."""
    value: float


class CheckpointScores:
    """Scores the checkpoints of one run as their results become known."""

    def __init__(self, run_dir: Path, weight_sync_interval: int) -> None:
        """Start without a checkpoint.

        Args:
            run_dir: Run directory, to which the best file is written.
            weight_sync_interval: Steps that play the same weights (``runner.weight_sync_interval``).
        """
        self._run_dir, self._interval = run_dir, weight_sync_interval
        self._best: BestCheckpoint | None = None
        self._waiting: dict[int, Path] = {}

    @property
    def best(self) -> BestCheckpoint | None:
        """The best checkpoint so far; None when none could be scored."""
        return self._best

    def saved(self, step_dir: Path, step: int, evaluated: float | None) -> None:
        """Take note of a checkpoint.

        Args:
            step_dir: The checkpoint.
            step: Its step: the number of updates its weights have seen.
            evaluated: Evaluated success of the same weights; None in a run without evaluations.
        """
        if evaluated is not None:
            self._score(step_dir, EVALUATED, evaluated)
        elif step % self._interval == 0:  # Weights between two synchronizations are never played.
            self._waiting[step] = step_dir

    def played(self, step_index: int, success: float) -> None:
        """Score the waiting checkpoint whose weights a step has just played.

        Args:
            step_index: Index of the step from 0, which is the number of updates before it.
            success: Success rate of its training episodes; NaN when none ended.
        """
        if step_index in self._waiting:
            self._score(self._waiting.pop(step_index), TRAINED, success)

    def _score(self, step_dir: Path, metric: str, value: float) -> None:
        if math.isnan(value) or (self._best is not None and value < self._best.value):
            return  # Of two equal ones the later is kept: it has seen more.
        self._best = BestCheckpoint(os.path.relpath(step_dir, self._run_dir), metric, value)
        file = self._run_dir / BEST_FILENAME
        temporary = file.with_suffix(".tmp")
        with writing(file):
            temporary.write_text(json.dumps(asdict(self._best)) + "\n", encoding="utf-8")
            os.replace(temporary, file)
