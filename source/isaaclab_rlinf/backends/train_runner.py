# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's training runner with our reporting: evaluations, one line per step, a metrics file, the best checkpoint."""

from __future__ import annotations

import json
import math
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.backends.best import EVALUATED, TRAINED, CheckpointScores
from isaaclab_rlinf.backends.curves import METRICS_FILENAME, evaluations, read_history
from isaaclab_rlinf.backends.health import (
    LearningFailedError,
    LearningHealth,
    as_number,
    describe_fault,
    json_number,
    last_checkpoint,
)
from isaaclab_rlinf.backends.ratio_check import ratio_warning
from isaaclab_rlinf.backends.writing import writing
from isaaclab_rlinf.compat.embodied_runner import AtomicCheckpointRunner

if TYPE_CHECKING:
    from .console import RunConsole


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
        self.scores = CheckpointScores(run_dir, cfg.runner.weight_sync_interval)
        self._evaluated: float | None = None
        """Evaluated success of the present weights, where they were evaluated."""
        self._first_step = self._env_steps_before = 0
        self._ratio_warned = False
        self._health = LearningHealth(bool(cfg.actor.fsdp_config.grad_scaler.get("enabled", False)))
        self._fault: str | None = None
        """What is wrong with the step that trained last."""

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

    def run(self) -> None:
        """Evaluate the weights that training starts from, unless that was done before, and train."""
        history = read_history(self._run_dir)
        self._first_step = self.global_step
        # A run that was resumed may have had other numbers of environments before.
        counted = history[-1]["env_steps"] if history else self.global_step * self.env_steps_per_step
        self._env_steps_before = int(counted)
        known = any(evaluation.step == self.global_step for evaluation in evaluations(history))
        if self.cfg.runner.val_check_interval > 0 and not known and self.global_step < self.max_steps:
            self._evaluate_start()
        super().run()
        if (fault := self._health.conclusion()) is not None:
            raise LearningFailedError(fault)

    def _evaluate_start(self) -> None:
        started = time.time()
        self.actor.set_global_step(self.global_step)
        self.rollout.set_global_step(self.global_step)
        self.update_rollout_weights()
        metrics = {f"eval/{key}": value for key, value in self.evaluate().items()}
        self.metric_logger.log(data=metrics, step=self.global_step)
        record = self._write_record(metrics, self.global_step, started)
        for evaluation in evaluations([record]):
            self._console.line(f"[INFO] Before step {self.global_step + 1}: evaluated success {evaluation}")

    def _maybe_eval_and_checkpoint(self, step: int) -> dict:
        self._evaluated = None
        self._fault = self._health.fault(self.actor.last_training_metrics().wait()[0])
        # Weights after such a step are neither worth evaluating nor worth a checkpoint.
        return {} if self._fault else super()._maybe_eval_and_checkpoint(step)

    def evaluate(self) -> dict[str, Any]:
        """Play the evaluation's starts with deterministic actions; the checkpoint saved next is scored by it.

        Returns:
            RLinf's means over the finished episodes, ``success_once`` and ``num_trajectories`` among them.
        """
        metrics = super().evaluate()
        self._evaluated = float(metrics.get("success_once", math.nan))
        return metrics

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

        Raises:
            LearningFailedError: When the step did not learn.
        """
        record = self._write_record(metrics, step + 1, start_time)
        self.scores.played(step, record.get(TRAINED, math.nan))
        self._console.line(self._step_line(record, step, total_steps, start_time, start_step))
        warning = ratio_warning(record)
        if warning and not self._ratio_warned:
            self._console.line(warning)
            self._ratio_warned = True
        if self._fault:
            checkpoint = last_checkpoint(self.checkpoints_dir, self.cfg.runner.get("resume_dir", None))
            raise LearningFailedError(describe_fault(step + 1, self._fault, record, checkpoint))

    def _write_record(self, metrics: dict, step: int, start_time: float) -> dict[str, float]:
        """Append the numbers known after ``step`` updates to the metrics file, and return them."""
        numbers = {key: as_number(value) for key, value in metrics.items()}
        record = {key: value for key, value in numbers.items() if value is not None}
        record |= {"step": step, "wall_time_s": round(time.time() - start_time, 3)}
        record["env_steps"] = self._env_steps_before + (step - self._first_step) * self.env_steps_per_step
        metrics_file = self._run_dir / METRICS_FILENAME
        with writing(metrics_file), metrics_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({key: json_number(value) for key, value in record.items()}, allow_nan=False) + "\n")
        return record

    def _step_line(self, record: dict[str, float], step: int, total: int, start_time: float, start_step: int) -> str:
        """Return the step's line: success, return, speed and time left."""
        seconds = record.get("time/step", math.nan)
        mean_seconds = (time.time() - start_time) / (step + 1 - start_step)
        left = timedelta(seconds=round(mean_seconds * (total - step - 1)))
        episodes = record.get("env/num_trajectories", 0)
        outcome = [
            f"success {record.get(TRAINED, math.nan):.3f} ({episodes:.0f} ep.)",
            f"return {record.get('env/return', math.nan):+.3f}",
        ]
        parts = [
            f"step {step + 1}/{total}",
            *(outcome if episodes > 0 else ["success - (no episode ended)", "return -"]),
            f"{self.env_steps_per_step / seconds:,.0f} env steps/s",
            f"{seconds:.1f} s",
            f"ETA {left}",
        ]
        if EVALUATED in record:
            parts.insert(len(parts) - 4, f"evaluated {record[EVALUATED]:.3f}")
        return " | ".join(parts)

    def on_checkpoint(self, step_dir: Path, step: int) -> None:
        """Tell of the checkpoint, and let it be scored.

        Args:
            step_dir: The checkpoint.
            step: Its step.
        """
        self._console.line(f"[INFO] Checkpoint: {step_dir}")
        self.scores.saved(step_dir, step, self._evaluated)


def _has_accelerators() -> bool:
    """Return whether the run's cluster has any accelerator."""
    from rlinf.scheduler import Cluster

    return Cluster().num_accelerators > 0
