# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's training runner with our reporting: one line per step, a metrics file, and the best checkpoint's name."""

from __future__ import annotations

import json
import math
import os
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.backends.ratio_check import ratio_warning
from isaaclab_rlinf.compat.embodied_runner import AtomicCheckpointRunner

if TYPE_CHECKING:
    from .console import RunConsole

METRICS_FILENAME = "metrics.jsonl"
BEST_FILENAME = "best_checkpoint.json"


class TrainRunner(AtomicCheckpointRunner):
    """Runs the training loop of RLinf; see :meth:`~rlinf.runners.embodied_runner.EmbodiedRunner.run`."""

    def __init__(
        self, cfg: Any, actor: Any, rollout: Any, env: Any, *, env_started: Any, console: RunConsole, run_dir: Path
    ):
        """Keep where to report to; the rest is RLinf's.

        Args:
            cfg: Validated config.
            actor: Actor worker group.
            rollout: Rollout worker group.
            env: Environment worker group.
            env_started: Handle of its ``init_worker`` call, see :func:`~isaaclab_rlinf.backends.session.start_env`.
            console: Console for the per-step line.
            run_dir: Run directory, for the metrics file and the best checkpoint's name.
        """
        super().__init__(cfg=cfg, actor=actor, rollout=rollout, env=env)
        self._env_started = env_started
        self._console = console
        self._run_dir = run_dir
        train = cfg.env.train
        self.env_steps_per_step = train.total_num_envs * train.rollout_epoch * train.max_steps_per_rollout_epoch
        self._success = math.nan
        """Success rate of the step that ended last."""
        self._unscored: dict[int, Path] = {}
        """Checkpoints whose weights no step has played yet, by their step."""
        self._ratio_warned = False

    def init_workers(self) -> None:
        """Start rollout and actor, wait for everything, and resume where the config says so.

        With accelerators the actor comes last, as upstream, to keep the peak of device memory low.
        """
        handles = [self._env_started, self.rollout.init_worker()]
        if _has_accelerators():
            for handle in handles:
                handle.wait()
        for handle in [*handles, self.actor.init_worker()]:
            handle.wait()
        resume_dir = self.cfg.runner.get("resume_dir", None)
        if resume_dir is not None:
            self.actor.load_checkpoint(str(Path(resume_dir) / "actor")).wait()
            self.global_step = int(resume_dir.split("global_step_")[-1])

    def print_metrics_table_async(
        self, step: int, total_steps: int, start_time: float, metrics: dict, start_step: int = 0
    ) -> None:
        """Report a finished step; RLinf calls this with everything it measured.

        Args:
            step: Step index from 0.
            total_steps: Number of steps of the whole training.
            start_time: Time at which the loop began, seconds since the epoch.
            metrics: Metric name -> value.
            start_step: First step of this run.
        """
        record = {key: float(value) for key, value in metrics.items() if _is_number(value)}
        record |= {"step": step + 1, "wall_time_s": round(time.time() - start_time, 3)}
        record["env_steps"] = (step + 1) * self.env_steps_per_step
        with (self._run_dir / METRICS_FILENAME).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self._success = record.get("env/success_once", math.nan)
        self._score_checkpoint(step)
        self._console.line(self._step_line(record, step, total_steps, start_time, start_step))
        warning = ratio_warning(record)
        if warning and not self._ratio_warned:
            self._console.line(warning)
            self._ratio_warned = True

    def _step_line(self, record: dict[str, float], step: int, total: int, start_time: float, start_step: int) -> str:
        """Return the step's line: success, return, speed and time left."""
        seconds = record.get("time/step", math.nan)
        mean_seconds = (time.time() - start_time) / (step + 1 - start_step)
        left = timedelta(seconds=round(mean_seconds * (total - step - 1)))
        parts = [
            f"step {step + 1}/{total}",
            f"success {record.get('env/success_once', math.nan):.3f} ({record.get('env/num_trajectories', 0):.0f} ep.)",
            f"return {record.get('env/return', math.nan):+.3f}",
            f"{self.env_steps_per_step / seconds:,.0f} env steps/s",
            f"{seconds:.1f} s",
            f"ETA {left}",
        ]
        if "eval/success_once" in record:
            parts.insert(2, f"eval {record['eval/success_once']:.3f}")
        return " | ".join(parts)

    def on_checkpoint(self, step_dir: Path, step: int) -> None:
        """Tell of the checkpoint; it is scored when a step has been played with its weights.

        Args:
            step_dir: The checkpoint.
            step: Its step.
        """
        self._console.line(f"[INFO] Checkpoint: {step_dir}")
        self._unscored[step] = step_dir

    def score_last_checkpoint(self) -> None:
        """Score a checkpoint that no step followed, by the last step, whose weights are one update older."""
        for step in sorted(self._unscored):
            self._score(self._unscored.pop(step), "training success of the step before")

    def _score_checkpoint(self, step: int) -> None:
        """Score the waiting checkpoint whose weights the step with this index has played."""
        if step in self._unscored:
            self._score(self._unscored.pop(step), "training success of the step after")

    def _score(self, step_dir: Path, metric: str) -> None:
        """Write the checkpoint's name to the run's best file, if none was better."""
        if math.isnan(self._success):
            return
        best_file = self._run_dir / BEST_FILENAME
        best = json.loads(best_file.read_text(encoding="utf-8"))["value"] if best_file.is_file() else -math.inf
        if self._success <= best:
            return
        content = {"step_dir": os.path.relpath(step_dir, self._run_dir), "metric": metric, "value": self._success}
        temporary = best_file.with_suffix(".tmp")
        temporary.write_text(json.dumps(content) + "\n", encoding="utf-8")
        os.replace(temporary, best_file)


def _has_accelerators() -> bool:
    """Return whether the run's cluster has any accelerator."""
    from rlinf.scheduler import Cluster

    return Cluster().num_accelerators > 0


def _is_number(value: Any) -> bool:
    """Return whether a metric can be written as a JSON number."""
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
