# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Observations for GR00T: renaming, cutting, and every way in which an observation may not fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from isaaclab_rlinf.config.parse import parse_isaaclab_block
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.mapping.gr00t import Gr00tFormat, has_mapping, language_problem, to_gr00t

VIDEO = {"main_images": "video.room", "wrist_images": "video.wrist", "extra_view_images": ["video.left", "video.right"]}
STATE = [{"gr00t_key": "state.hand", "slice": [2, 5]}, {"gr00t_key": "state.arm", "slice": [0, 2]}]


def block(**changes):
    raw = {
        "task_description": "push",
        "main_images": "a",
        "wrist_images": "b",
        "extra_view_images": ["c", "d"],
        "states": ["joints"],
        "gr00t_mapping": {"video": VIDEO, "state": STATE},
        **changes,
    }
    parsed, issues = parse_isaaclab_block(raw, "isaaclab")
    assert parsed is not None, issues
    return parsed


def observation(batch=2):
    images = torch.arange(batch * 4 * 4 * 5 * 3, dtype=torch.int64).reshape(batch, 4, 4, 5, 3).to(torch.uint8)
    return {
        "main_images": images[:, 0],
        "wrist_images": images[:, 1],
        "extra_view_images": images[:, 2:],
        "states": torch.arange(batch * 5).reshape(batch, 5).to(torch.bfloat16),
        "task_descriptions": [f"push {index}" for index in range(batch)],
    }


def test_every_input_lands_under_its_key():
    given = observation()
    converted = to_gr00t(given, Gr00tFormat.build(block()))
    assert list(converted) == [
        "video.room",
        "video.wrist",
        "video.left",
        "video.right",
        "state.hand",
        "state.arm",
        "annotation.human.action.task_description",
    ]
    for key, view in (("video.left", 0), ("video.right", 1)):
        assert converted[key].dtype == np.uint8 and converted[key].shape == (2, 1, 4, 5, 3)
        np.testing.assert_array_equal(converted[key][:, 0], given["extra_view_images"][:, view].numpy())
    assert converted["state.hand"].dtype == np.float32
    assert converted["state.hand"].tolist() == [[[2, 3, 4]], [[7, 8, 9]]]
    assert converted["state.arm"].tolist() == [[[0, 1]], [[5, 6]]]
    assert converted["annotation.human.action.task_description"] == ["push 0", "push 1"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wrist_images": None}, "has no wrist_images.*it has: extra_view_images, main_images"),
        ({"main_images": torch.zeros(2, 4, 5, 3)}, "main_images has dtype float32"),
        ({"main_images": torch.zeros(2, 3, 4, 4, 5, dtype=torch.uint8)}, "must have 4 axes"),
        ({"extra_view_images": torch.zeros(2, 3, 4, 5, 3, dtype=torch.uint8)}, "3 views.*2 keys: video.left"),
        ({"states": torch.zeros(2, 4)}, "'state.hand' ends at column 5"),
        ({"task_descriptions": None}, "0 texts"),
        ({"task_descriptions": ["push"]}, "1 texts for batches of"),
    ],
)
def test_an_observation_that_does_not_fit(changes, message):
    with pytest.raises(MappingError, match=message):
        to_gr00t({**observation(), **changes}, Gr00tFormat.build(block()))


@pytest.mark.parametrize(
    ("video", "state", "message"),
    [
        ({"main_images": "room"}, STATE, "'room' is not of the form video.<name>"),
        ({"main_images": "video.room.view"}, STATE, "with one dot"),
        ({"main_images": "video.estate"}, STATE, "contains 'state'"),
        ({"wrist_images": None}, STATE, "would not see wrist_images"),
        ({"wrist_images": "video.room"}, STATE, "'video.room' is used twice"),
        ({}, [{"gr00t_key": "video.x", "slice": [0, 1]}], r"state\[0\].gr00t_key: 'video.x' is not of the form state"),
        ({}, [], "would not see `states`"),
    ],
)
def test_keys_that_gr00t_would_ignore(video, state, message):
    with pytest.raises(MappingError, match=message):
        Gr00tFormat.build(block(gr00t_mapping={"video": {**VIDEO, **video}, "state": state}))


def test_all_problems_at_once():
    with pytest.raises(MappingError) as error:
        Gr00tFormat.build(block(gr00t_mapping={"video": {**VIDEO, "main_images": "x", "wrist_images": "y"}}))
    assert str(error.value).count("\n") == 2


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("annotation.human.action.task_description", True),
        ("annotation.human.task_description", True),
        ("annotation", True),
        ("annotation.task", False),  # one dot: N1.5 takes it for a modality of its own
        ("human.action.task_description", False),
        ("annotation.human.state", False),
    ],
)
def test_where_n1d5_finds_the_instruction(key, found):
    assert (language_problem(key) is None) == found


def test_whether_a_block_has_a_mapping():
    bare = {"task_description": "push", "main_images": "a", "states": ["joints"]}
    assert not has_mapping(parse_isaaclab_block(bare, "isaaclab")[0])
    assert has_mapping(parse_isaaclab_block({**bare, "action_mapping": {"keys": ["arm"]}}, "isaaclab")[0])
    assert has_mapping(block())


def test_an_instruction_under_the_key_of_a_state_would_replace_it():
    mapping = {"video": VIDEO, "state": STATE, "language": "state.hand"}
    with pytest.raises(MappingError, match=r"'state.hand' is used twice"):
        Gr00tFormat.build(block(gr00t_mapping=mapping))
