# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The action term of `.actions.LimitedJointPositionActionCfg`; its base class takes long to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab.envs.mdp.actions.joint_actions import JointPositionAction

if TYPE_CHECKING:
    from .actions import LimitedJointPositionActionCfg


class LimitedJointPositionAction(JointPositionAction):
    """Joint targets (rad), clipped to the joint limits, approached at a limited speed.

    The drive is given the present position plus at most ``max_step`` towards the target, so the result of an action
    depends on the present state only.
    """

    cfg: LimitedJointPositionActionCfg

    def apply_actions(self) -> None:
        """Writes the limited targets to the drives; called once per control step (decimation is 1)."""
        now = self._asset.data.joint_pos.torch[:, self._joint_ids]
        step = (self.processed_actions - now).clamp(-self.cfg.max_step, self.cfg.max_step)
        self._asset.actuators.target_command.set_position_index(value=now + step, joint_ids=self._joint_ids)
