# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a training has reached, from its metrics files: the learning curve and the evaluated success."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from isaaclab_rlinf.backends.best import EVALUATED, TRAINED
from isaaclab_rlinf.backends.statistics import wilson_interval
from isaaclab_rlinf.run_lineage import lineage

METRICS_FILENAME = "metrics.jsonl"
EVALUATED_EPISODES = "eval/num_trajectories"


@dataclass(frozen=True)
class Evaluation:
    """Success of one set of weights over the evaluation's starts."""

    step: int
    env_steps: float
    success: float
    episodes: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the success rate."""
        return wilson_interval(round(self.success * self.episodes), self.episodes)

    def __str__(self) -> str:
        """Return success, its interval and of how many episodes it is."""
        low, high = self.interval
        return f"{self.success:.3f} (95 % interval {low:.3f} to {high:.3f}, {self.episodes} episodes)"


def read_metrics(metrics_file: Path) -> list[dict[str, float]]:
    """Return the records of one run's ``metrics.jsonl``; a number that was not finite is NaN.

    Args:
        metrics_file: The file. A last line that a killed run left incomplete does not count.
    """
    if not metrics_file.is_file():
        return []
    *lines, _incomplete = metrics_file.read_text(encoding="utf-8").split("\n")
    records = [json.loads(line) for line in lines]
    return [{key: math.nan if value is None else value for key, value in record.items()} for record in records]


def read_history(run_dir: Path) -> list[dict[str, float]]:
    """Return the records of a run and of the runs it was resumed from, up to where each was left, oldest first.

    Args:
        run_dir: Directory of a training run.
    """
    history: list[dict[str, float]] = []
    for segment in reversed(lineage(run_dir)):
        records = read_metrics(segment.run_dir / METRICS_FILENAME)
        last = math.inf if segment.last_step is None else segment.last_step
        history.extend(record for record in records if record["step"] <= last)
    return history


def evaluations(records: list[dict[str, float]]) -> list[Evaluation]:
    """Return the evaluations among a history's records, in their order.

    Args:
        records: Records of :func:`read_history`.
    """
    return [
        Evaluation(int(record["step"]), record["env_steps"], record[EVALUATED], int(record[EVALUATED_EPISODES]))
        for record in records
        if record.get(EVALUATED_EPISODES, 0) > 0 and not math.isnan(record.get(EVALUATED, math.nan))
    ]


def describe_progress(records: list[dict[str, float]]) -> str | None:
    """Return what the training has changed, in one line; None with fewer than two evaluations.

    Args:
        records: Records of :func:`read_history`.
    """
    points = evaluations(records)
    if len(points) < 2:
        return None
    first, last = points[0], points[-1]
    start = "base" if first.step == 0 else f"step {first.step}"
    best = max(points, key=lambda point: (point.success, point.step))
    text = f"Evaluated success: {start} {first.success:.3f} -> {last} at step {last.step}"
    return text if best.success == last.success else f"{text}; best {best.success:.3f} at step {best.step}"


def draw_learning_curve(run_dir: Path, picture: Path) -> Path | None:
    """Draw success rate and return over environment steps, from the training's beginning on.

    Args:
        run_dir: Directory of a training run.
        picture: PNG file to write.

    Returns:
        The picture's path; None when the run has no finished step.
    """
    records = read_history(run_dir)
    if not records:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel="environment steps (thousands)", ylabel="success rate", ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    returns = axes.twinx()
    returns.set_ylabel("return of training episodes", color="tab:blue")
    steps = [record for record in records if TRAINED in record]
    thousands = [record["env_steps"] / 1000 for record in steps]
    marker = "." if len(steps) == 1 else None
    returns.plot(
        thousands, [record.get("env/return", math.nan) for record in steps], color="tab:blue", alpha=0.4, marker=marker
    )
    axes.plot(
        thousands,
        [record[TRAINED] for record in steps],
        color="tab:green",
        alpha=0.5,
        marker=marker,
        label="training episodes (sampled actions)",
    )
    _draw_evaluations(axes, evaluations(records))
    for segment in lineage(run_dir)[1:]:
        resumed = [record["env_steps"] for record in records if record["step"] == segment.last_step]
        if resumed:
            axes.axvline(resumed[-1] / 1000, color="gray", linestyle=":", label=f"resumed at step {segment.last_step}")
    axes.set_zorder(returns.get_zorder() + 1)  # The evaluations are what the picture is about.
    axes.patch.set_visible(False)
    axes.legend(loc="lower right", fontsize="small")
    figure.savefig(picture, dpi=120)
    return picture


def _draw_evaluations(axes, points: list[Evaluation]) -> None:
    """Draw evaluated success with its intervals."""
    if not points:
        return
    low = [point.success - point.interval[0] for point in points]
    high = [point.interval[1] - point.success for point in points]
    counts = sorted({point.episodes for point in points})
    axes.errorbar(
        [point.env_steps / 1000 for point in points],
        [point.success for point in points],
        # Rounding may leave a bound a hair on the wrong side of the rate.
        yerr=[[max(0.0, value) for value in low], [max(0.0, value) for value in high]],
        color="darkgreen",
        marker="o",
        capsize=3,
        label=f"evaluation, {' or '.join(map(str, counts))} episodes (deterministic actions, 95 % interval)",
    )
