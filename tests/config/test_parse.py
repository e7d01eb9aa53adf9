# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import dataclasses

import pytest

from isaaclab_rlinf.config.parse import parse_isaaclab_block, read_isaaclab_block
from isaaclab_rlinf.config.schema import Gr00tStateSpec, IsaacLabBlock, StateSpec, SuccessSpec, TaskDescription

WHERE = "env.train.isaaclab"
MINIMAL = {"task_description": "pick it up", "main_images": "front"}
FULL = {
    "task_description": {"obs": "goal"},
    "main_images": "front",
    "wrist_images": "wrist",
    "extra_view_images": ["left", "right"],
    "camera_group": "cams",
    "policy_group": "proprio",
    "states": ["q", {"key": "dq", "slice": [2, 5]}],
    "gr00t_mapping": {
        "video": {"main_images": "video.a", "wrist_images": "video.b", "extra_view_images": ["video.c", "video.d"]},
        "state": [{"gr00t_key": "state.arm", "slice": [0, 3]}],
        "language": "annotation.x",
    },
    "action_mapping": {
        "keys": ["arm", "hand"],
        "prefix_pad": 1,
        "suffix_pad": 2,
        "pad_value": [0.0, 1, -1],
        "scale": 0.5,
        "offset": [1, 2],
    },
    "success": {"termination": "lifted"},
    "hold_pose_on_midchunk_reset": True,
    "render_every_action": True,
    "obs_converter_type": "dex3",
    "embodiment_tag": "new_embodiment",
    "embodiment_tag_id": 31,
    "data_config_class": "module:Class",
}


def issues_of(raw):
    block, issues = parse_isaaclab_block(raw, WHERE)
    assert block is None
    return {issue.where.removeprefix(WHERE).removeprefix("."): issue for issue in issues}


def with_(**changes):
    return {**MINIMAL, **changes}


def test_a_full_block():
    block, issues = parse_isaaclab_block(FULL, WHERE)
    assert issues == []
    assert block.task_description == TaskDescription(obs="goal")
    assert block.states == (StateSpec("q"), StateSpec("dq", (2, 5)))
    assert block.cameras == ("front", "wrist", "left", "right")
    assert block.gr00t_mapping.state == (Gr00tStateSpec("state.arm", (0, 3)),)
    assert block.gr00t_mapping.extra_view_images == ("video.c", "video.d")
    assert block.action_mapping.pad_value == (0.0, 1.0, -1.0)
    assert block.success == SuccessSpec(termination="lifted")
    assert (block.embodiment_tag_id, block.hold_pose_on_midchunk_reset) == (31, True)


def test_the_test_block_sets_every_field():
    block, _ = parse_isaaclab_block(FULL, WHERE)
    default = IsaacLabBlock(TaskDescription(text=""))
    for field in dataclasses.fields(IsaacLabBlock):
        assert getattr(block, field.name) != getattr(default, field.name), field.name


def test_defaults_equal_the_schemas():
    block, _ = parse_isaaclab_block(MINIMAL, WHERE)
    assert block == IsaacLabBlock(TaskDescription(text="pick it up"), main_images="front")


@pytest.mark.parametrize("raw", [None, [], "text", 3])
def test_a_block_must_be_a_mapping(raw):
    assert issues_of(raw)[""].allowed == "a mapping"


def test_unknown_keys_are_refused_with_a_hint_at_every_level():
    issues = issues_of(
        with_(
            main_image="front",
            gr00t_mapping={"video": {"main_imges": "v"}, "sate": []},
            action_mapping={"prefx_pad": 1},
            success={"terminaton": "x"},
            states=[{"key": "a", "slices": [0, 1]}],
        )
    )
    assert "'main_images'" in issues["main_image"].fix
    assert issues["gr00t_mapping.video.main_imges"].fix == "did you mean 'main_images'?"
    assert issues["gr00t_mapping.sate"].fix == "did you mean 'state'?"
    assert issues["action_mapping.prefx_pad"].fix == "did you mean 'prefix_pad'?"
    assert issues["success.terminaton"].fix == "did you mean 'termination'?"
    assert issues["states[0].slices"].fix == "did you mean 'slice'?"


@pytest.mark.parametrize("text", [None, "", "   "])
def test_an_empty_instruction_is_refused(text):
    assert "unprompted" in issues_of(with_(task_description=text))["task_description"].found


@pytest.mark.parametrize("value", [[1, 1], [3, 2], [-1, 2], [0], [0, 1, 2], [0, True], [0.0, 1.0], "0:3", 3])
def test_bad_slices(value):
    assert "states[0].slice" in issues_of(with_(states=[{"key": "a", "slice": value}]))


def test_exclusive_and_dependent_keys():
    assert "exactly one" in issues_of(with_(success={"termination": "a", "reward_above": 1}))["success"].allowed
    assert issues_of(with_(success={}))["success"].found == "empty"
    assert "2 keys for 1" in (
        issues_of(with_(extra_view_images=["a"], gr00t_mapping={"video": {"extra_view_images": ["v", "w"]}}))[
            "gr00t_mapping.video.extra_view_images"
        ].found
    )
    assert "more than one view" in issues_of(with_(wrist_images="front"))["wrist_images"].found
    assert "main_images has it" in issues_of(with_(extra_view_images=["a", "front"]))["extra_view_images[1]"].found
    assert (
        "3 values for 2"
        in issues_of(with_(action_mapping={"prefix_pad": 2, "pad_value": [1, 2, 3]}))["action_mapping.pad_value"].found
    )
    wide = with_(
        states=[{"key": "a", "slice": [0, 4]}],
        gr00t_mapping={"state": [{"gr00t_key": "s", "slice": [2, 6]}]},
    )
    assert "states is 4 wide" in issues_of(wide)["gr00t_mapping.state[0].slice"].found


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", True, [], [1, "x"]])
def test_numbers_must_be_finite_numbers(value):
    assert "action_mapping.scale" in issues_of(with_(action_mapping={"scale": value}))


def test_all_mistakes_are_reported_at_once():
    assert len(issues_of({"task_descripton": "x", "states": 3, "render_every_action": "yes"})) == 5


def test_repeated_states_are_refused():
    issues = issues_of(with_(states=["q", {"key": "q"}, "dq"]))
    assert list(issues) == ["states[1]"] and "'q' is states[0] already" in issues["states[1]"].found


def test_what_is_right_in_a_broken_block_can_be_read():
    parsed = read_isaaclab_block(
        {**FULL, "render_every_action": 3, "states": ["q", 7, {"key": "dq", "slice": [5, 2]}]}, WHERE
    )
    assert parsed.block.main_images == "front" and parsed.block.action_mapping.keys == ("arm", "hand")
    assert [state.key for state in parsed.block.states] == ["q", "", "dq"]
    assert {issue.where for issue in parsed.issues} == parsed.broken
    assert parsed.broken == {f"{WHERE}.{key}" for key in ("render_every_action", "states[1]", "states[2].slice")}
    assert read_isaaclab_block(FULL, WHERE).issues == () and read_isaaclab_block(3, WHERE).block is None


def test_a_misspelt_key_makes_the_key_that_was_meant_unknown_too():
    parsed = read_isaaclab_block({**MINIMAL, "wrist_image": "w"}, WHERE)
    assert [issue.where for issue in parsed.issues] == [f"{WHERE}.wrist_image"]
    assert f"{WHERE}.wrist_images" in parsed.broken


def test_a_broken_key_has_no_second_mistake():
    """Nothing follows from a key that could not be read."""
    video = {"main_images": "video.a", "wrist_images": "video.b", "extra_view_images": ["video.c"]}
    state = [{"gr00t_key": "state.arm", "slice": [0, 3]}]
    mapping = {"video": video, "state": state}
    for changes in ({"wrist_images": 3}, {"main_images": ""}, {"extra_view_images": 3}, {"states": 3}):
        raw = {**FULL, "extra_view_images": ["left"], "gr00t_mapping": mapping, **changes}
        assert list(issues_of(raw)) == list(changes)
