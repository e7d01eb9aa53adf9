# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's evaluation runner, counting episodes exactly."""

from __future__ import annotations

from typing import Any

from rlinf.runners.embodied_eval_runner import EmbodiedEvalRunner


class EvalRunner(EmbodiedEvalRunner):
    """Plays whole episodes, one per environment and rollout epoch, and keeps each one's result."""

    def init_workers(self) -> Any:
        """Start rollout and environments.

        Returns:
            The rollout worker's :class:`~isaaclab_rlinf.workers.weights.LoadReport`, or None for base weights.
        """
        rollout, env = self.rollout.init_worker(), self.env.init_worker()
        reports = rollout.wait()
        env.wait()
        return reports[0]

    def evaluate(self) -> dict[str, Any]:
        """Play the configured episodes.

        Returns:
            Metric name -> one-dimensional tensor with one entry per finished episode, over all environment workers.
        """
        import torch

        env_handle = self.env.evaluate(input_channel=self.env_channel, rollout_channel=self.rollout_channel)
        rollout_handle = self.rollout.evaluate(input_channel=self.rollout_channel, output_channel=self.env_channel)
        results = [result for result in env_handle.wait() if result]
        rollout_handle.wait()
        names = sorted({name for result in results for name in result})
        return {name: torch.cat([result[name].flatten().float() for result in results]) for name in names}
