# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The environment worker: RLinf's, with the tasks of this run registered before it looks for them."""

from __future__ import annotations

from typing import Any

from isaaclab_rlinf.compat import prepare_worker_imports

prepare_worker_imports()

from rlinf.envs.utils import get_env_attr  # noqa: E402
from rlinf.workers.env.env_worker import EnvWorker  # noqa: E402


class SimulatorEnvWorker(EnvWorker):
    """RLinf's environment worker over :class:`isaaclab_rlinf.env.generic_env.IsaacLabGenericEnv`."""

    def init_worker(self) -> None:
        """Register the run's tasks, from the resolved config only, then start the simulators."""
        from isaaclab_rlinf.env.registration import register_envs

        register_envs(self.cfg)
        super().init_worker()

    def evaluate(self, input_channel: Any, rollout_channel: Any) -> dict[str, Any]:
        """Play the configured episodes, the same ones in every evaluation of this run.

        Args:
            input_channel: Where the actions come from.
            rollout_channel: Where the observations go.

        Returns:
            Metric name -> one entry for each episode that ended.
        """
        for env in self.eval_env_list:
            get_env_attr(env, "begin_evaluation")()
        results = super().evaluate(input_channel, rollout_channel)
        for env in self.eval_env_list:
            get_env_attr(env, "end_evaluation")()
        return results

    def instructions(self) -> tuple[str, ...]:
        """Return the task's instruction texts, into which episode metrics index."""
        return get_env_attr((*self.env_list, *self.eval_env_list)[0], "simulator").handshake.instructions

    def notices(self) -> list[str]:
        """Return what the simulators had to say so far, such as what counts as success by default."""
        envs = (*self.env_list, *self.eval_env_list)
        told = [notice for env in envs for notice in get_env_attr(env, "notices")]
        return list(dict.fromkeys(told))

    def close_simulators(self) -> None:
        """Stop the simulator processes of this worker; later calls have nothing left to close."""
        for env in (*self.env_list, *self.eval_env_list):
            env.close()
        self.env_list, self.eval_env_list = [], []
