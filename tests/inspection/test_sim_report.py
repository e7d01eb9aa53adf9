# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The rows of the tables that `check --sim` prints."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import DIRECT, TOUCH

from isaaclab_rlinf.config.parse import parse_isaaclab_block
from isaaclab_rlinf.config.schema import ActionMapping
from isaaclab_rlinf.inspection import sim_report
from isaaclab_rlinf.inspection.record import StepRecord, read_task_record, write_json
from isaaclab_rlinf.inspection.sim_report import action_layout, input_rows, motion, output_rows, seen_rows, term_rows
from isaaclab_rlinf.inspection.simulate import Look, open_output

PLAIN = {"model_type": "tiny_vla", "action_dim": 5}


def test_a_record_survives_its_file(tmp_path):
    for record in (TOUCH, DIRECT):
        write_json(tmp_path / "simulator.json", record)
        assert read_task_record(tmp_path) == replace(record, hold=record.hold and tuple(map(list, record.hold)))
    assert read_task_record(tmp_path / "elsewhere") is None


def test_each_yaml_entry_has_its_source_and_its_columns():
    raw = {
        "task_description": {"obs": "instruction"},
        "main_images": "front_camera",
        "extra_view_images": ["wrist_camera"],
        "states": ["joint_vel", {"key": "joint_pos", "slice": [1, 3]}],
        "gr00t_mapping": {"state": [{"gr00t_key": "state.vel", "slice": [0, 3]}]},
    }
    block, issues = parse_isaaclab_block(raw, "block")
    assert not issues
    rows = list(input_rows(block, TOUCH))
    assert ("states[0]: joint_vel", "policy/joint_vel[0:3]", "states[0:3]") in rows
    assert ("states[1]: joint_pos", "policy/joint_pos[1:3]", "states[3:5]") in rows
    assert rows[1][0] == "extra_view_images[0]: wrist_camera" and rows[1][2] == "extra_view_images[:, 0]"
    assert ("gr00t_mapping.state[0]", "states[0:3]", "state.vel") in rows
    assert ("", "1: touch the green ball", "") in rows


def test_a_direct_tasks_entries_are_top_level():
    raw = {"task_description": "go", "main_images": "camera", "states": [{"key": "policy", "slice": [0, 3]}]}
    block, _ = parse_isaaclab_block(raw, "block")
    rows = list(input_rows(block, DIRECT))
    assert rows[0] == ("main_images: camera", "camera (64 x 64 x 3 uint8)", "main_images")
    assert rows[1] == ("states[0]: policy", "policy[0:3]", "states[0:3]")


def test_actions_are_cut_at_terms_and_padding():
    record = replace(TOUCH, action_terms=(("body", 4, ""), ("arm", 3, ""), ("hand", 2, "")))
    mapping = ActionMapping(prefix_pad=3, suffix_pad=1, pad_value=0.5, scale=2.0)
    layout, problem = action_layout(mapping, PLAIN, record)
    assert problem == ""
    assert list(output_rows(layout, record)) == [
        ("padding 0.5", "[0:3]", "body"),
        ("[0:1] * 2", "[3:4]", "body"),
        ("[1:4] * 2", "[4:7]", "arm"),
        ("[4:5] * 2", "[7:8]", "hand"),
        ("padding 0.5", "[8:9]", "hand"),
    ]
    assert list(term_rows(record)) == [("[0:4]", "body", ""), ("[4:7]", "arm", ""), ("[7:9]", "hand", "")]
    assert "the environment takes 9" in action_layout(ActionMapping(), PLAIN, record)[1]


@pytest.fixture
def named(monkeypatch):
    """A model with the action parts arm (3) and hand (2)."""
    monkeypatch.setattr(sim_report, "action_parts", lambda model: {"arm": 3, "hand": 2})


def test_named_parts_are_followed_to_their_columns(named):
    record = replace(TOUCH, action_terms=(("hand", 2, ""), ("arm", 4, "")))
    mapping = ActionMapping(keys=("hand", "action.arm"), suffix_pad=1, scale=(1.0, 2.0, 3.0, 3.0, 3.0), offset=-1.0)
    layout, problem = action_layout(mapping, PLAIN, record)
    assert problem == ""
    assert list(output_rows(layout, record)) == [
        ("hand[0:2] * [1, 2] + -1", "[0:2]", "hand"),
        ("arm[0:3] * 3 + -1", "[2:5]", "arm"),
        ("padding 0", "[5:6]", "arm"),
    ]


def test_what_keys_emit_is_counted_not_what_the_model_predicts(named):
    record = replace(TOUCH, action_terms=(("joints", 4, ""),))
    layout, problem = action_layout(ActionMapping(keys=("arm",), suffix_pad=1), PLAIN, record)
    assert problem == "" and list(output_rows(layout, record))[-1] == ("hand[0:2]", "not sent", "")
    layout, problem = action_layout(ActionMapping(keys=("arm",)), PLAIN, record)
    assert layout is None and "make 3 dims after padding, the environment takes 4" in problem
    assert "(hand: left out of keys)" in problem


def test_parts_that_are_not_known_are_no_mistake(monkeypatch):
    monkeypatch.setattr(sim_report, "action_parts", lambda model: None)
    assert action_layout(ActionMapping(keys=("arm",)), PLAIN, TOUCH) == (None, "")


def test_values_that_are_not_finite_are_said_so():
    broken = replace(TOUCH.observations[0], finite=False)
    assert "NaN or infinite" in next(iter(seen_rows(replace(TOUCH, observations=(broken,)))))


@pytest.mark.parametrize(
    ("record", "step", "expected"),
    [
        (TOUCH, StepRecord(0.0, "arm/joint_1"), "holding the present joint positions: the robot held still"),
        (TOUCH, StepRecord(0.2, "arm/joint_2"), "the robot moved; largest joint displacement 0.2 (arm/joint_2)"),
        (DIRECT, StepRecord(0.2, "arm/joint_2"), "zeros (a direct-workflow task does not say"),
        (TOUCH, StepRecord(None, ""), "whether the robot moved is unknown"),
    ],
)
def test_motion_is_said_plainly(record, step, expected):
    assert expected in motion(Look(record, step))


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "out").mkdir()
    assert open_output(tmp_path / "out", "x") == tmp_path / "out"
    (tmp_path / "out/mine").touch()
    with pytest.raises(FileExistsError, match="Choose another --out"):
        open_output(tmp_path / "out", "x")
