# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The learning curve of a run, from its metrics file."""

from __future__ import annotations

import json
from pathlib import Path


def read_metrics(metrics_file: Path) -> list[dict[str, float]]:
    """Return the records of a run's ``metrics.jsonl``, one per training step."""
    return [json.loads(line) for line in metrics_file.read_text(encoding="utf-8").splitlines() if line]


def draw_learning_curve(metrics_file: Path, picture: Path) -> Path | None:
    """Draw success rate and return over environment steps.

    Args:
        metrics_file: A run's ``metrics.jsonl``.
        picture: PNG file to write.

    Returns:
        The picture's path; None when the run has no finished step.
    """
    if not metrics_file.is_file():
        return None
    from matplotlib.figure import Figure

    records = read_metrics(metrics_file)
    steps = [record["env_steps"] / 1000 for record in records]
    figure = Figure(figsize=(7, 4), layout="constrained")
    success = figure.add_subplot()
    success.plot(steps, [record.get("env/success_once", float("nan")) for record in records], color="tab:green")
    success.set(xlabel="environment steps (thousands)", ylabel="success rate", ylim=(0, 1))
    success.grid(alpha=0.3)
    returns = success.twinx()
    returns.plot(steps, [record.get("env/return", float("nan")) for record in records], color="tab:blue", alpha=0.5)
    returns.set_ylabel("return", color="tab:blue")
    success.set_title("training episodes (sampled actions)")
    figure.savefig(picture, dpi=120)
    return picture
