# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Registers the bundled tasks with Gymnasium.

Importing this package is cheap: entry points are strings, so neither torch nor Isaac Lab is loaded before a task
is made. The registration runs in every process that imports the package, the simulator's included.
"""

import gymnasium as gym

TOUCH_COLOR_ID = "Isaac-Touch-Color-Arm3-v0"
"""Gymnasium id of the bundled task: touch the ball whose colour the instruction names."""

if TOUCH_COLOR_ID not in gym.registry:
    gym.register(
        id=TOUCH_COLOR_ID,
        entry_point="isaaclab.envs:ManagerBasedRLEnv",
        disable_env_checker=True,
        kwargs={
            "env_cfg_entry_point": f"{__name__}.touch_color.env_cfg:TouchColorEnvCfg",
            "rlinf_cfg_entry_point": f"{__name__}.touch_color:config/isaaclab_ppo_tiny_vla_touch_color.yaml",
            "default_agent": "rlinf",
            # Ours: the scripted expert that `isaaclab-rlinf collect` uses by default.
            "expert_entry_point": f"{__name__}.touch_color.expert:expert_actions",
        },
    )
