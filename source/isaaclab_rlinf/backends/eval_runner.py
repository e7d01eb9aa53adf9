# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's evaluation runner, counting episodes exactly."""

from __future__ import annotations

from typing import Any

from rlinf.runners.embodied_eval_runner import EmbodiedEvalRunner


class EvalRunner(EmbodiedEvalRunner):
    """Plays whole episodes, one per environment and rollout epoch, and keeps each one's result."""

    def __init__(self, cfg: Any, rollout: Any, env: Any, *, env_started: Any):
        """Keep the environments' start; the rest is RLinf's.

        Args:
            cfg: Validated config.
            rollout: Rollout worker group.
            env: Environment worker group.
            env_started: Handle of its ``init_worker`` call, see :func:`~isaaclab_rlinf.backends.session.start_env`.
        """
        super().__init__(cfg, rollout=rollout, env=env)
        self._env_started = env_started

    def init_workers(self) -> Any:
        """Start the rollout and wait for the environments.

        Returns:
            The rollout worker's :class:`~isaaclab_rlinf.workers.weights.LoadReport`, or None for base weights.
        """
        reports = self.rollout.init_worker().wait()
        self._env_started.wait()
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
