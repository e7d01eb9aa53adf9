# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's training runner with checkpoints that are either whole or absent.

rlinf 0.3.0's ``EmbodiedRunner._save_checkpoint`` writes straight into ``global_step_N``; a failed save leaves a
directory that looks like a checkpoint. The override writes beside it and renames.
"""

from __future__ import annotations

import os
from pathlib import Path

from rlinf.runners.embodied_runner import EmbodiedRunner


class AtomicCheckpointRunner(EmbodiedRunner):
    """RLinf's runner; subclasses hear of every checkpoint through :meth:`on_checkpoint`."""

    @property
    def checkpoints_dir(self) -> Path:
        """Where RLinf keeps the run's checkpoints."""
        logger = self.cfg.runner.logger
        return Path(logger.log_path) / logger.experiment_name / "checkpoints"

    def _save_checkpoint(self) -> None:
        step_dir = self.checkpoints_dir / f"global_step_{self.global_step}"
        partial = step_dir.with_name(f".{step_dir.name}.partial")
        actor_dir = partial / "actor"
        actor_dir.mkdir(parents=True)
        self.actor.save_checkpoint(str(actor_dir), self.global_step).wait()
        os.replace(partial, step_dir)
        self.on_checkpoint(step_dir, self.global_step)

    def on_checkpoint(self, step_dir: Path, step: int) -> None:
        """Called after a checkpoint is complete.

        Args:
            step_dir: The ``global_step_N`` directory.
            step: Its N.
        """
