# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Deciding which environments an Isaac Lab 3.0.0 ``step()`` resets.

A manager-based environment resets what ``termination_manager.compute()`` returns, a direct one what its
``_get_dones()`` returns. Wrapping that one call on the instance gives three things without touching private buffers:
resetting an environment although no term asks for it, not resetting on termination, and knowing, before the reset,
whether the final observation (``cfg.compute_final_obs``) is worth computing in this step.

Private names touched: ``DirectRLEnv._get_dones`` (the documented override point of direct-workflow tasks) and
``DirectRLEnv._compute_observations``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

DoneHook = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Maps ``(terminated, truncated)`` of a step, (B,) bool each, to the mask of environments to reset."""


def hook_manager_dones(env: Any, hook: DoneHook) -> None:
    """Lets ``hook`` decide the resets of a ``ManagerBasedRLEnv``; its reward terms still see the task's own dones."""
    manager = env.termination_manager
    compute = manager.compute

    def hooked() -> torch.Tensor:
        compute()
        return hook(manager.terminated, manager.time_outs)

    manager.compute = hooked


def hook_direct_dones(env: Any, hook: DoneHook) -> None:
    """Lets ``hook`` decide the resets of a ``DirectRLEnv``.

    There the reset mask is ``terminated | truncated`` of one call, so forced resets are reported to the environment as
    terminations and left-out terminations are not reported to it at all.

    Direct tasks often return views of live simulator buffers (a camera's output, joint positions), which the next step
    or the reset overwrites; nothing else in Isaac Lab copies them, so they are copied where they leave the task.
    """
    get_dones = env._get_dones

    def hooked() -> tuple[torch.Tensor, torch.Tensor]:
        terminated, truncated = get_dones()
        reset = hook(terminated.clone(), truncated.clone())
        return reset & ~truncated, reset & truncated

    compute_observations = env._compute_observations

    def copied() -> Any:
        return clone_tensors(compute_observations())

    env._get_dones = hooked
    env._compute_observations = copied


def clone_tensors(value: Any) -> Any:
    """Copies the tensors of a nested dictionary."""
    if isinstance(value, dict):
        return {key: clone_tensors(item) for key, item in value.items()}
    return value.clone() if isinstance(value, torch.Tensor) else value
