# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Touch-colour: a planar three-joint arm touches the ball that a per-episode instruction names.

Modules: `geometry` (every length and limit), `ik` (kinematics and path planning), `sampling` (what is random in an
episode), `scene`, `mdp` and `env_cfg` (the Isaac Lab environment), `expert` (scripted demonstrations). The first
three need torch only and run without a simulator.
"""
