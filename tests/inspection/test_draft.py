# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What `init` derives, and what it leaves to the user."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import DIRECT, DIRECT_FACTS, TOUCH, TOUCH_FACTS, image, seen

from isaaclab_rlinf.inspection.draft import draft_block
from isaaclab_rlinf.inspection.model_files import ModelFacts

TINY = ModelFacts("tiny_vla", "bundled", 3, 8, ("main_images", "wrist_images"), 6)


def values(record=TOUCH, facts=TOUCH_FACTS, model=TINY) -> dict[str, str]:
    return {key: choice.value for key, choice in draft_block(record, facts, model).keys.items()}


def with_cameras(*names: str):
    states = [entry for entry in TOUCH.observations if not entry.is_image]
    return replace(TOUCH, observations=(*states, *map(image, names)))


def test_the_bundled_task_leaves_nothing_open():
    assert values() == {
        "task_description": "{obs: instruction}",
        "main_images": "front_camera",
        "wrist_images": "wrist_camera",
        "states": "[joint_pos, joint_vel]",
        "success": "{termination: success}",
        "hold_pose_on_midchunk_reset": "true",
    }


def test_a_direct_workflow_task_leaves_instruction_second_view_and_success():
    draft = draft_block(DIRECT, DIRECT_FACTS, TINY)
    assert draft.open_keys == ["task_description", "wrist_images", "success"]
    assert draft.keys["main_images"].value == "camera"
    assert draft.keys["states"].value == "[policy]"
    assert "hold_pose_on_midchunk_reset" not in draft.keys
    assert "camera (64x64)" in draft.keys["wrist_images"].comment


@pytest.mark.parametrize(
    ("cameras", "main", "wrist"),
    [
        (("front", "gripper_cam"), "front", "gripper_cam"),
        (("left", "right"), "???", "???"),
        (("front", "side", "wrist"), "???", "wrist"),
        (("front", "left_wrist", "right_wrist"), "front", "???"),
        ((), "???", "???"),
    ],
)
def test_cameras_are_assigned_only_where_names_leave_one_possibility(cameras, main, wrist):
    drafted = values(with_cameras(*cameras))
    assert (drafted["main_images"], drafted["wrist_images"]) == (main, wrist)


def test_one_view_takes_one_camera():
    one = replace(TINY, views=("main_images",))
    assert values(with_cameras("wrist"), model=one)["main_images"] == "wrist"
    assert "wrist_images" not in values(model=one)


def test_states_are_the_one_run_that_is_as_wide_as_the_checkpoints():
    terms = (seen("policy", "a", 2), seen("policy", "b", 4), seen("policy", "c", 3))
    record = replace(TOUCH, observations=(*terms, image("front_camera"), image("wrist_camera")), instructions=None)
    assert values(record, model=replace(TINY, state_dim=7))["states"] == "[b, c]"
    assert values(record, model=replace(TINY, state_dim=8))["states"] == "???"
    ambiguous = replace(record, observations=(seen("policy", "a", 3), seen("policy", "b", 3), image("front_camera")))
    assert values(ambiguous, model=replace(TINY, state_dim=3))["states"] == "???"
    assert values(record, model=ModelFacts("tiny_vla"))["states"] == "[a, b, c]"


def test_a_concatenated_group_gives_its_terms_not_itself():
    observations = (seen("policy", "joint_pos", 3), seen("policy", "joint_vel", 3), seen("policy", "policy", 6))
    record = replace(TOUCH, observations=(*observations, image("front_camera"), image("wrist_camera")))
    assert values(record)["states"] == "[joint_pos, joint_vel]"


def test_groups_with_other_names_are_named():
    observations = (seen("proprio", "q", 6), image("front_camera", "rgb"), image("wrist_camera", "rgb"))
    drafted = values(replace(TOUCH, observations=observations, instructions=None))
    assert (drafted["camera_group"], drafted["policy_group"], drafted["states"]) == ("rgb", "proprio", "[q]")


@pytest.mark.parametrize(
    ("terminations", "expected"),
    [
        ({"lifted": False, "time_out": True}, "{termination: lifted}"),
        ({"object_reached_goal": False, "time_out": True}, "{termination: object_reached_goal}"),
        ({"dropped": False, "success": False, "time_out": True}, "{termination: success}"),
        ({"object_dropping": False, "time_out": True}, "???"),
        ({"joint_limit_reached": False, "time_out": True}, "???"),
        ({"incomplete": False, "time_out": True}, "???"),
        ({"success": True}, "???"),
        ({"dropped": False, "lifted": False, "time_out": True}, "???"),
        ({"time_out": True}, "???"),
    ],
)
def test_success_is_an_end_whose_name_says_so(terminations, expected):
    choice = draft_block(TOUCH, replace(TOUCH_FACTS, terminations=terminations), TINY).keys["success"]
    assert choice.value == expected
    assert all(name in choice.comment for name, time_out in terminations.items() if not time_out)


def test_padding_is_asked_for_with_both_widths():
    wide = replace(TOUCH, action_terms=(("body", 4, ""), ("arm", 3, "")))
    draft = draft_block(wide, TOUCH_FACTS, TINY)
    pads = [key for key in draft.open_keys if key.startswith("action_mapping")]
    assert pads == [f"action_mapping.{key}" for key in ("prefix_pad", "suffix_pad", "pad_value")]
    assert "3 columns, the task takes 7" in draft.keys["action_mapping.prefix_pad"].comment
    narrow = draft_block(replace(TOUCH, action_terms=(("arm", 2, ""),)), TOUCH_FACTS, TINY)
    assert "do not fit" in narrow.keys["action_mapping.prefix_pad"].comment


def test_gr00t_state_keys_become_consecutive_slices():
    model = replace(
        TINY,
        model_type="gr00t_n1d7",
        tag="t",
        state_keys=(("arm", 4), ("hand", 2)),
        action_parts=(("arm", 2), ("hand", 1)),
    )
    draft = draft_block(TOUCH, TOUCH_FACTS, model)
    assert draft.state_slices == (("arm", 0, 4), ("hand", 4, 6))
    assert draft.keys["action_mapping.keys"].value == "[arm, hand]"


def test_parts_that_are_too_many_are_asked_for_by_name():
    parts = (("arm", 3), ("hand", 2))
    model = replace(TINY, model_type="gr00t_n1d7", tag="t", action_dim=5, action_parts=parts)
    choice = draft_block(TOUCH, TOUCH_FACTS, model).keys["action_mapping.keys"]
    assert choice.open and "arm (3), hand (2)" in choice.comment
