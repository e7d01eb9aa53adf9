# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Observation mapping: what goes where, and that nothing wrong passes."""

import pytest
import torch

from isaaclab_rlinf.config.schema import Gr00tMapping, Gr00tStateSpec, IsaacLabBlock, StateSpec, TaskDescription
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.mapping.layout import describe_observations
from isaaclab_rlinf.mapping.observations import ObservationMap, map_observation, task_descriptions

TEXT = TaskDescription(text="pick it up")


def raw(batch=3):
    torch.manual_seed(0)
    image = torch.randint(0, 256, (batch, 8, 6, 3), dtype=torch.uint8)
    return {
        "policy": {
            "joint_pos": torch.randn(batch, 4),
            "joint_vel": torch.randn(batch, 4, dtype=torch.float64),
            "gripper": torch.ones(batch),
            "task": torch.tensor([[2], [0], [1]])[:batch],
        },
        "camera_images": {
            "front": image,
            "left": image.flip(1),
            "right": image.flip(2),
            "rgba": torch.cat([image] * 2, -1)[..., :4],
        },
    }


def build(obs=None, columns=None, instructions=None, **fields):
    obs = obs or raw()
    block = IsaacLabBlock(**{"task_description": TEXT, **fields})
    return ObservationMap.build(block, describe_observations(obs, columns), instructions)


def test_every_entry_in_the_declared_order():
    obs = raw()
    spec = build(
        main_images="front",
        wrist_images="rgba",
        extra_view_images=("right", "left"),
        states=(StateSpec("joint_vel", (2, 4)), StateSpec("gripper"), StateSpec("joint_pos", (0, 1))),
    )
    mapped = map_observation(obs, spec)
    policy = obs["policy"]
    expected = torch.cat(
        [policy["joint_vel"][:, 2:].float(), policy["gripper"][:, None], policy["joint_pos"][:, :1]], 1
    )
    assert torch.equal(mapped["states"], expected) and mapped["states"].dtype == torch.float32
    assert torch.equal(mapped["main_images"], obs["camera_images"]["front"])
    assert torch.equal(mapped["wrist_images"], obs["camera_images"]["rgba"][..., :3])
    assert torch.equal(mapped["extra_view_images"][:, 0], obs["camera_images"]["right"])
    assert torch.equal(mapped["extra_view_images"][:, 1], obs["camera_images"]["left"])
    assert task_descriptions(mapped["instruction"], spec.instructions) == ["pick it up"] * 3
    for name, (shape, dtype) in spec.shapes(3).items():
        assert mapped[name].shape == shape and mapped[name].dtype == dtype


def test_one_environment():
    mapped = map_observation(raw(1), build(raw(1), main_images="front", states=(StateSpec("gripper"),)))
    assert mapped["states"].shape == (1, 1) and mapped["main_images"].shape[0] == 1


@pytest.mark.parametrize(
    ("fields", "needles"),
    [
        ({"main_images": "fromt"}, ["main_images", "'fromt'", "Did you mean 'front'", "left", "8x6x3"]),
        ({"states": (StateSpec("join_pos"),)}, ["states[0]", "Did you mean 'joint_pos'"]),
        ({"states": (StateSpec("joint_pos", (2, 5)),)}, ["states[0]", "[2, 5]", "width 4"]),
        ({"main_images": "front", "camera_group": "cams"}, ["'cams' (which the task does not have)", "camera_images"]),
        ({"task_description": TaskDescription(obs="task")}, ["instructions"]),
    ],
)
def test_mistakes_name_the_key_and_what_is_available(fields, needles):
    with pytest.raises(MappingError) as caught:
        build(**fields)
    for needle in needles:
        assert needle in str(caught.value)


def test_a_policy_that_would_see_nothing_is_refused():
    with pytest.raises(MappingError, match="no image and no state"):
        build()


def test_all_mistakes_at_once():
    with pytest.raises(MappingError) as caught:
        build(main_images="a", wrist_images="b", states=(StateSpec("c"),))
    assert all(key in str(caught.value) for key in ("main_images", "wrist_images", "states[0]"))


def test_extra_views_of_different_size_are_refused():
    obs = raw()
    obs["camera_images"]["left"] = obs["camera_images"]["left"][:, :4]
    with pytest.raises(MappingError, match="one size"):
        build(obs, extra_view_images=("left", "right"))


@pytest.mark.parametrize(
    ("image", "needle"),
    [
        (torch.zeros(3, 3, 8, 8, dtype=torch.uint8), "channel-first"),
        (torch.zeros(3, 8, 8, 1), r"\(H, W, 3\)"),
        (torch.zeros(3, 8, 8, 3, dtype=torch.int32), "dtype torch.int32"),
    ],
)
def test_other_images_are_refused(image, needle):
    obs = raw()
    obs["camera_images"]["front"] = image
    with pytest.raises(MappingError, match=needle):
        build(obs, main_images="front")


def test_float_images_are_converted_with_a_notice_and_others_refused():
    obs = raw()
    exact = obs["camera_images"]["front"]
    obs["camera_images"]["front"] = exact.float() / 255
    spec = build(obs, main_images="front")
    assert len(spec.notices) == 1 and "camera_images/front" in spec.notices[0]
    assert torch.equal(map_observation(obs, spec)["main_images"], exact)
    for value in (1.5, -0.1, float("nan")):
        obs["camera_images"]["front"][1, 0, 0, 0] = value
        with pytest.raises(MappingError, match="of environment 1 has values"):
            map_observation(obs, spec)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_non_finite_state_names_key_environment_and_column(value):
    obs = raw()
    spec = build(states=(StateSpec("gripper"), StateSpec("joint_pos", (1, 3))))
    obs["policy"]["joint_pos"][2, 2] = value
    with pytest.raises(MappingError, match=r"'policy/joint_pos' of environment 2 .* column 2"):
        map_observation(obs, spec)
    obs = raw()
    obs["policy"]["joint_pos"][2, 3] = value  # Outside the slice: nobody sees it.
    map_observation(obs, spec)


def test_instruction_per_environment():
    spec = build(
        task_description=TaskDescription(obs="task"), states=(StateSpec("gripper"),), instructions=("a", "b", "c")
    )
    mapped = map_observation(raw(), spec)
    assert task_descriptions(mapped["instruction"], spec.instructions) == ["c", "a", "b"]
    obs = raw()
    obs["policy"]["task"][1] = 3
    with pytest.raises(MappingError, match="environment 1 is 3; the task has 3 instructions"):
        map_observation(obs, spec)


@pytest.mark.parametrize(
    ("instructions", "words"),
    [
        ("abc", "each of its letters"),
        (("a", ""), "[1]` of the task's env cfg: empty"),
        (("a", None), "[1]`"),
        ([], "empty"),
    ],
)
def test_a_table_of_instructions_that_is_none(instructions, words):
    with pytest.raises(MappingError) as caught:
        build(task_description=TaskDescription(obs="task"), states=(StateSpec("gripper"),), instructions=instructions)
    assert words in str(caught.value) and "task_description.obs" in str(caught.value)


def test_an_index_that_is_no_whole_number():
    spec = build(
        task_description=TaskDescription(obs="task"), states=(StateSpec("gripper"),), instructions=("a", "b", "c")
    )
    for value in (1.4, float("nan"), -1.0):
        obs = raw()
        obs["policy"]["task"] = torch.tensor([[0.0], [value], [2.0]])
        with pytest.raises(MappingError, match="of environment 1 is"):
            map_observation(obs, spec)


def test_terms_of_a_concatenated_group():
    obs = {"policy": torch.arange(12.0).reshape(2, 6)}
    columns = {"policy": {"pos": (0, 4), "vel": (4, 6)}}
    spec = build(obs, columns, states=(StateSpec("vel"), StateSpec("pos", (1, 2))))
    assert map_observation(obs, spec)["states"].tolist() == [[4.0, 5.0, 1.0], [10.0, 11.0, 7.0]]


def test_direct_workflow_tensors_by_group_name():
    obs = {"policy": torch.ones(2, 6), "tiled_camera": torch.zeros(2, 4, 4, 3)}
    spec = build(obs, main_images="tiled_camera", states=(StateSpec("policy", (0, 2)),))
    mapped = map_observation(obs, spec)
    assert mapped["states"].shape == (2, 2) and mapped["main_images"].dtype == torch.uint8


def test_gr00t_slices_against_the_real_width_of_the_states():
    """Without slices in `states` their width is known only here."""
    state = lambda *slices: Gr00tMapping(state=tuple(Gr00tStateSpec(f"state.{a}{b}", (a, b)) for a, b in slices))  # noqa: E731
    fields = {"states": (StateSpec("joint_pos"), StateSpec("gripper"))}
    with pytest.raises(MappingError, match=r"gr00t_mapping.state\[1\].slice: ends at column 6, but states is 5 wide"):
        build(gr00t_mapping=state((0, 4), (4, 6)), **fields)
    assert build(gr00t_mapping=state((0, 4), (4, 5)), **fields).notices == ()
    told = build(gr00t_mapping=state((0, 2), (1, 3)), **fields).notices
    assert told == (
        "gr00t_mapping.state: state.02 and state.13 both read columns [1, 2] of states",
        "gr00t_mapping.state: no key reads columns [3, 5] of the 5 of states",
    )
    assert build(**fields).notices == ()
