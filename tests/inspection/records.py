# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Task records as a simulator would leave them: the bundled task's, and others with a twist."""

from __future__ import annotations

from dataclasses import replace

from isaaclab_rlinf.config.task_facts import TaskFacts
from isaaclab_rlinf.inspection.record import Articulation, SeenEntry, TaskRecord

INSTRUCTIONS = ("touch the red ball", "touch the green ball", "touch the blue ball")


def seen(group: str, key: str, *shape: int, dtype: str = "float32") -> SeenEntry:
    """Return an observation."""
    return SeenEntry(group, key, shape, dtype, -1.0, 1.0, True)


def image(key: str, group: str = "camera_images") -> SeenEntry:
    """Return a camera's observation."""
    return seen(group, key, 64, 64, 3, dtype="uint8")


TOUCH = TaskRecord(
    managed=True,
    device="cpu",
    step_seconds=0.05,
    max_episode_steps=48,
    observations=(
        seen("policy", "joint_pos", 3),
        seen("policy", "joint_vel", 3),
        seen("policy", "instruction", 1),
        image("front_camera"),
        image("wrist_camera"),
    ),
    articulations=(Articulation("arm", ("joint_1", "joint_2", "joint_3"), (0.1, 0.2, 0.3)),),
    action_terms=(("joints", 3, "JointPositionAction: joint_1, joint_2, joint_3"),),
    instructions=INSTRUCTIONS,
    hold=((0.1, 0.2, 0.3),),
    hold_reason="",
)
TOUCH_FACTS = TaskFacts(
    "Isaac-Touch-Color-Arm3-v0",
    groups={"policy": ("joint_pos", "joint_vel", "instruction"), "camera_images": ("front_camera", "wrist_camera")},
    terminations={"success": False, "wrong_ball": False, "time_out": True},
    rewards={"success": 1.0},
    episode_steps=48,
    instructions=INSTRUCTIONS,
)
DIRECT = replace(
    TOUCH,
    managed=False,
    observations=(seen("policy", "policy", 6), image("camera", "camera")),
    action_terms=(("actions", 3, "direct-workflow task"),),
    instructions=None,
    hold=None,
    hold_reason="a direct-workflow task does not say what its actions mean",
)
DIRECT_FACTS = TaskFacts("Test-Direct-Arm-v0", episode_steps=200)
