# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Absolute joint-position control with a speed limit, as a real arm's controller has."""

from isaaclab.envs.mdp import JointPositionActionCfg
from isaaclab.envs.mdp.actions.joint_actions import JointPositionAction
from isaaclab.utils import configclass


class LimitedJointPositionAction(JointPositionAction):
    """Joint targets (rad), clipped to the joint limits, approached at a limited speed.

    The drive is given the present position plus at most ``max_step`` towards the target, so the result of an action
    depends on the present state only.
    """

    cfg: "LimitedJointPositionActionCfg"

    def apply_actions(self) -> None:
        """Writes the limited targets to the drives; called once per control step (decimation is 1)."""
        now = self._asset.data.joint_pos.torch[:, self._joint_ids]
        step = (self.processed_actions - now).clamp(-self.cfg.max_step, self.cfg.max_step)
        self._asset.actuators.target_command.set_position_index(value=now + step, joint_ids=self._joint_ids)


@configclass
class LimitedJointPositionActionCfg(JointPositionActionCfg):
    """Configuration of `LimitedJointPositionAction`."""

    class_type: type = LimitedJointPositionAction
    use_default_offset: bool = False
    preserve_order: bool = True
    max_step: float = 0.2
    """Largest distance of the drive's target from the present position, rad per control step."""
