# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which runs a training run goes on from, so that its curve and its best checkpoint begin where the training did.

A resumed run's manifest names the checkpoint it was resumed from, relative to the run's own directory, so that a
directory of logs can be moved as a whole.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MANIFEST_FILENAME = "run.json"
"""``isaaclab_rl.entrypoints.common.RUN_MANIFEST_FILENAME``, repeated since importing it costs seconds."""
RESUMED_FROM = "resumed_from"
"""Key of the manifest's ``metadata``."""
STEP_NAME = re.compile(r"global_step_(\d+)")
"""Name of a checkpoint's directory."""


@dataclass(frozen=True)
class Segment:
    """A run's part in a training that may have been resumed several times."""

    run_dir: Path
    last_step: int | None = None
    """Step after which the next run went on; None for the run that was asked about, of which everything counts."""


def resumed_from(step_dir: Path, run_dir: Path) -> dict[str, str]:
    """Return the manifest entry of a run that goes on from a checkpoint.

    Args:
        step_dir: The ``global_step_N`` directory.
        run_dir: Directory of the run that goes on.
    """
    return {RESUMED_FROM: os.path.relpath(step_dir, run_dir)}


def lineage(run_dir: Path) -> list[Segment]:
    """Return a run and the runs it goes on from, newest first.

    A manifest that is absent or unreadable ends the list: a run whose past is not on this machine begins with itself.

    Args:
        run_dir: Directory of a training run.
    """
    segments = [Segment(run_dir)]
    seen = {run_dir.resolve()}
    for parent in _parents(run_dir):
        if parent.run_dir in seen:
            break
        seen.add(parent.run_dir)
        segments.append(parent)
    return segments


def _parents(run_dir: Path) -> Iterator[Segment]:
    while True:
        step_dir = _resumed_step(run_dir)
        match = STEP_NAME.fullmatch(step_dir.name) if step_dir else None
        homes = [parent for parent in step_dir.parents if (parent / MANIFEST_FILENAME).is_file()] if match else []
        if not homes:
            return
        run_dir = homes[0]
        yield Segment(run_dir, int(match[1]))


def _resumed_step(run_dir: Path) -> Path | None:
    try:
        metadata = json.loads((run_dir / MANIFEST_FILENAME).read_text(encoding="utf-8"))["metadata"]
        return (run_dir / metadata[RESUMED_FROM]).resolve()
    except (OSError, ValueError, KeyError, TypeError):
        return None
