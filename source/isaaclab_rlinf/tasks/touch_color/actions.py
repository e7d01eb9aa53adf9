# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Absolute joint-position control with a speed limit, as a real arm's controller has."""

from isaaclab.envs.mdp import JointPositionActionCfg
from isaaclab.utils import configclass


@configclass
class LimitedJointPositionActionCfg(JointPositionActionCfg):
    """Configuration of `.action_term.LimitedJointPositionAction`."""

    class_type: type | str = "{DIR}.action_term:LimitedJointPositionAction"
    use_default_offset: bool = False
    preserve_order: bool = True
    max_step: float = 0.2
    """Largest distance of the drive's target from the present position, rad per control step."""
