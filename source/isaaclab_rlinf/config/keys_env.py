# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Keys of ``env.<train|eval>`` and its sections ``video_cfg`` and ``init_params``."""

from __future__ import annotations

from isaaclab_rlinf.config.keys import ALWAYS, ANY, BOOL, EVAL, LIST, MAP, TEXT, Key, number, seed, text, whole

ENV = {
    "env_type": text(EVAL, "isaaclab"),
    "total_num_envs": whole(EVAL, low=1),
    "rollout_epoch": whole(low=1),
    "max_steps_per_rollout_epoch": whole(EVAL, low=1),
    "max_episode_steps": whole(EVAL, low=1),
    "auto_reset": Key("bool", EVAL),
    "ignore_terminations": Key("bool", EVAL),
    "use_rel_reward": Key("bool", EVAL),
    "use_fixed_reset_state_ids": BOOL,
    "seed": seed(EVAL),
    "group_size": whole(low=1),
    "reward_coef": number(),
    "enable_offload": BOOL,
    "use_step_penalty": BOOL,
    "video_cfg": Key("map", EVAL),
    "init_params": Key("map", ALWAYS),
    "isaaclab": Key("map", EVAL),
    "override_cfg": MAP,
    "override_cfgs": LIST,
    "data_collection": MAP,
    "wm_env_type": TEXT,
    "reset_gripper_open": BOOL,
    "is_eval": BOOL,
    "specific_reset_id": ANY,
}
VIDEO = {
    "save_video": Key("bool", EVAL),
    "info_on_video": BOOL,
    "video_base_dir": text(EVAL),
    "fps": number(above=0, null=True),
    "extra_info_on_video": LIST,
    # read by our environment
    "max_envs": whole(low=1, null=True),
    "max_seconds": number(above=0, null=True),
    "width": whole(low=64, null=True),
    "height": whole(low=64, null=True),
}
INIT = {
    "id": text(EVAL),
    "num_envs": whole(low=1, null=True),
    "max_episode_steps": whole(low=1),
    "task_description": TEXT,
    "env_overrides": MAP,
    # written by our command line
    "device": TEXT,
    "action_chunk": whole(low=1),
    "import_modules": LIST,
    # read by our environment
    "presets": LIST,
    "log_dir": TEXT,
    "final_observation": text("", "truncated", "done"),
    "report_instruction": BOOL,
    "start_timeout": number(above=0),
    "step_timeout": number(above=0),
}
