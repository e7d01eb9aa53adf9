# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Registering the run's tasks with RLinf, which looks an environment class up by task id."""

from __future__ import annotations

from typing import Any


def register_envs(cfg: Any) -> None:
    """Makes RLinf use :class:`.generic_env.IsaacLabGenericEnv` for the tasks of ``cfg.env.train`` and ``cfg.env.eval``.

    Call in every process that creates environments; calling again changes nothing. A task id for which RLinf ships a
    class of its own is taken over, with a notice, if the section has an ``isaaclab`` block.

    Args:
        cfg: The resolved RLinf configuration.
    """
    from rlinf.envs.isaaclab import REGISTER_ISAACLAB_ENVS

    from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv

    for mode in ("train", "eval"):
        section = cfg.env.get(mode, None)
        if section is None or section.get("env_type", None) != "isaaclab" or section.get("isaaclab", None) is None:
            continue
        task_id = section.init_params.id
        taken = REGISTER_ISAACLAB_ENVS.get(task_id)
        if taken is IsaacLabGenericEnv:
            continue
        if taken is not None:
            print(f"[INFO] env.{mode}.isaaclab replaces RLinf's own {taken.__name__} for '{task_id}'.", flush=True)
        REGISTER_ISAACLAB_ENVS[task_id] = IsaacLabGenericEnv
