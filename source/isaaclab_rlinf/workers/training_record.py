# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What an actor's last training step measured, for the driver to ask before it saves the weights."""

from __future__ import annotations

from typing import Any

from isaaclab_rlinf.backends.health import as_number


class TrainingRecord:
    """Comes before one of RLinf's actor workers among the bases of a class."""

    _last_metrics: dict[str, float]

    def run_training(self) -> dict[str, Any]:
        """Train one step.

        Returns:
            RLinf's metrics, with what the subclass adds in :meth:`added_metrics`.
        """
        self.before_training()
        metrics = super().run_training()
        metrics = {**(metrics or {}), **self.added_metrics()}
        numbers = {name: as_number(value) for name, value in metrics.items()}
        self._last_metrics = {name: value for name, value in numbers.items() if value is not None}
        return metrics

    def before_training(self) -> None:
        """Called before each step."""

    def added_metrics(self) -> dict[str, float]:
        """Return what this package measures in addition to RLinf."""
        return {}

    def last_training_metrics(self) -> dict[str, float]:
        """Return the metrics of the last training step, equal on every rank."""
        return self._last_metrics
