# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The inverse of absolute joint-position control (Isaac Lab 3.0.0): which action keeps the present joint positions?

``JointPositionAction`` sends ``raw * scale + offset`` to the joints; holding a pose therefore needs
``raw = (joint_pos - offset) / scale``, joint by joint in the term's own order.

Private names touched: ``JointAction._asset``, ``._joint_ids``, ``._joint_names``, ``._scale``, ``._offset``. The public
``IO_descriptor`` has the same numbers but is deprecated and changes the configuration when read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from isaaclab_rlinf.mapping.actions import ActionTermInfo


class HoldPoseError(ValueError):
    """Holding a pose was asked for, but the task's actions are not absolute joint positions."""


def action_terms(env: Any) -> tuple[ActionTermInfo, ...]:
    """Lists a manager-based environment's action terms in order, with joint names where a term has them."""
    manager = env.action_manager
    terms = []
    for name, width in zip(manager.active_terms, manager.action_term_dim, strict=True):
        term = manager.get_term(name)
        joints = getattr(term, "_joint_names", None)
        detail = type(term).__name__ + (f": {', '.join(joints)}" if joints else "")
        terms.append(ActionTermInfo(name, width, detail))
    return tuple(terms)


def pose_holder(env: Any) -> Callable[[], torch.Tensor]:
    """Returns a function that gives the actions (B, env_dim) which keep the present joint positions.

    Raises:
        HoldPoseError: If a term is not absolute joint-position control or has a zero scale; all terms are shown.
    """
    from isaaclab.envs.mdp.actions.joint_actions import JointPositionAction

    manager = getattr(env, "action_manager", None)
    if manager is None:
        raise HoldPoseError(
            "hold_pose_on_midchunk_reset: a direct-workflow task does not say what its actions mean. Remove the key; "
            "the environment is then reset a second time at the end of the chunk."
        )
    terms = [manager.get_term(name) for name in manager.active_terms]
    wrong = [term for term in terms if not isinstance(term, JointPositionAction)]
    wrong += [term for term in terms if term not in wrong and bool((torch.as_tensor(term._scale) == 0).any())]
    if wrong:
        shown = "\n".join(f"  {info.name} ({info.width}): {info.detail}" for info in action_terms(env))
        raise HoldPoseError(
            "hold_pose_on_midchunk_reset needs absolute joint-position control in every action term; the task has:\n"
            f"{shown}\nRemove the key (the environment is then reset a second time at the end of the chunk), or use "
            "JointPositionActionCfg terms with non-zero scales."
        )

    def hold() -> torch.Tensor:
        parts = [(_joint_positions(term) - term._offset) / term._scale for term in terms]
        return torch.cat(parts, dim=-1)

    return hold


def _joint_positions(term: Any) -> torch.Tensor:
    positions = term._asset.data.joint_pos
    # Isaac Lab 3 wraps simulator arrays; `.torch` is their zero-copy tensor.
    positions = getattr(positions, "torch", positions)
    return positions[:, term._joint_ids].clone()
