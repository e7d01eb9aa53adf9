# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Action mapping: order, affine map, padding and widths."""

import numpy as np
import pytest
import torch

from isaaclab_rlinf.config.schema import ActionMapping
from isaaclab_rlinf.mapping.action_layout import lay_out_actions, nameless
from isaaclab_rlinf.mapping.actions import ActionMap, ActionTermInfo, concatenate_parts, map_actions
from isaaclab_rlinf.mapping.errors import MappingError

TERMS = (ActionTermInfo("arm", 3, "JointPositionAction: j1, j2, j3"), ActionTermInfo("gripper", 2))


def test_affine_on_model_dims_then_padding():
    mapping = ActionMapping(prefix_pad=1, suffix_pad=2, pad_value=(7.0, 8.0, 9.0), scale=(2.0, 3.0), offset=1.0)
    actions = torch.tensor([[[1.0, 1.0], [0.0, 2.0]]])
    mapped = map_actions(actions, ActionMap.build(mapping, 2, TERMS))
    assert mapped.tolist() == [[[7.0, 3.0, 4.0, 8.0, 9.0], [7.0, 1.0, 7.0, 8.0, 9.0]]]
    assert mapped.dtype == torch.float32


def test_identity_passes_through():
    actions = torch.randn(2, 3, 5)
    assert map_actions(actions, ActionMap.build(ActionMapping(), 5, TERMS)) is actions
    assert map_actions(actions.double(), ActionMap.build(ActionMapping(), 5, TERMS)).dtype == torch.float32


def test_width_mismatch_shows_both_tables():
    with pytest.raises(MappingError) as caught:
        ActionMap.build(ActionMapping(suffix_pad=1), 3, TERMS)
    message = str(caught.value)
    assert "make 4 dims" in message and "takes 5" in message
    assert "suffix_pad" in message and "gripper" in message and "j1, j2, j3" in message


@pytest.mark.parametrize("field", ["scale", "offset"])
def test_list_of_wrong_length(field):
    with pytest.raises(MappingError, match=f"action_mapping.{field}: 2 values for 5 model dims"):
        ActionMap.build(ActionMapping(**{field: (1.0, 2.0)}), 5, TERMS)
    with pytest.raises(MappingError, match="pad_value: 3 values for 2 padded dims"):
        ActionMap.build(ActionMapping(prefix_pad=2, pad_value=(1.0, 2.0, 3.0)), 3, TERMS)


def test_non_finite_action_names_environment_step_and_dim():
    actions = torch.zeros(2, 4, 5)
    actions[1, 2, 3] = float("nan")
    with pytest.raises(MappingError, match="environment 1 is nan at chunk step 2, dim 3"):
        map_actions(actions, ActionMap.build(ActionMapping(), 5, TERMS))


@pytest.mark.parametrize(
    ("keys", "columns"),
    [
        (None, ["pad", "hand0", "hand1", "arm0", "arm1", "arm2", "pad"]),
        (("arm", "action.hand"), ["pad", "arm0", "arm1", "arm2", "hand0", "hand1", "pad"]),
        (("action.arm",), ["pad", "arm0", "arm1", "arm2", "pad"]),
    ],
)
def test_the_layout_is_what_the_two_sides_do_together(keys, columns):
    """The columns that a check shows are those that come out of concatenating, mapping and padding."""
    widths = {"action.hand": 2, "arm": 3}
    mapping = ActionMapping(keys=keys, prefix_pad=1, suffix_pad=1, pad_value=(-1.0, -2.0), scale=2.0)
    layout, issues = lay_out_actions(mapping, widths)
    assert not issues
    assert ["pad" if entry is None else f"{entry[0].name}{entry[1]}" for entry in layout.columns] == columns
    own = torch.arange(5.0)
    parts = {"action.hand": own[:2].reshape(1, 1, 2), "arm": own[2:].reshape(1, 1, 3)}
    sent = concatenate_parts(parts, keys)
    applied = map_actions(sent, ActionMap.build(mapping, sent.shape[-1], (ActionTermInfo("all", layout.width),)))
    expected = [None if entry is None else 2.0 * (entry[0].start + entry[1]) for entry in layout.columns]
    expected[0], expected[-1] = -1.0, -2.0
    assert applied.flatten().tolist() == expected
    assert {part.name for part in layout.left_out} == {"hand", "arm"} - {
        entry[0].name for entry in layout.columns if entry
    }


@pytest.mark.parametrize(
    ("mapping", "parts", "where", "words"),
    [
        (ActionMapping(keys=("amr",)), {"arm": 3}, "keys", "did you mean 'arm'"),
        (ActionMapping(keys=("arm", "action.arm")), {"arm": 3}, "keys", "named twice"),
        (ActionMapping(keys=("arm", "arm")), None, "keys", "named twice"),
        (ActionMapping(keys=("arm",)), nameless(3), "keys", "no named parts"),
        (
            ActionMapping(keys=("arm",), scale=(1.0, 2.0)),
            {"arm": 3, "hand": 2},
            "scale",
            "2 values for 3 dims of arm (3)",
        ),
        (ActionMapping(keys=("arm",), offset=(1.0,) * 5), {"arm": 3, "hand": 2}, "offset", "5 values for 3"),
        (ActionMapping(suffix_pad=2, pad_value=(1.0,)), {"arm": 3}, "pad_value", "1 values for 2"),
        (ActionMapping(pad_value=(1.0,)), None, "pad_value", "allowed: one number"),
    ],
)
def test_each_mistake_in_the_mapping_is_named(mapping, parts, where, words):
    layout, issues = lay_out_actions(mapping, parts)
    assert layout is None and [issue.where for issue in issues] == [f"action_mapping.{where}"]
    assert words in str(issues[0])


def test_the_environments_side_names_the_parts_that_came():
    with pytest.raises(MappingError, match=r"(?s)make 3 dims.*arm  +3.*takes 5|takes 5.*arm +3"):
        ActionMap.build(ActionMapping(keys=("action.arm",)), 3, TERMS)


def test_wrong_shape_from_the_model():
    with pytest.raises(MappingError, match="action_dim"):
        map_actions(torch.zeros(2, 4, 6), ActionMap.build(ActionMapping(), 5, TERMS))


def test_parts_in_the_declared_order_in_either_spelling():
    parts = {"action.hand": torch.ones(1, 2, 2), "action.arm": torch.zeros(1, 2, 3)}
    assert concatenate_parts(parts, ("arm", "action.hand"))[0, 0].tolist() == [0, 0, 0, 1, 1]
    bare = {"hand": torch.ones(1, 2, 2), "arm": torch.zeros(1, 2, 3)}
    assert concatenate_parts(bare, ("action.arm", "hand"))[0, 0].tolist() == [0, 0, 0, 1, 1]
    assert concatenate_parts(bare, None)[0, 0].tolist() == [1, 1, 0, 0, 0]
    with pytest.raises(MappingError, match="no action part 'leg'"):
        concatenate_parts(parts, ("leg",))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_parts_keep_kind_and_dtype(dtype):
    parts = {"hand": torch.ones(2, 4, 2, dtype=dtype), "arm": torch.zeros(2, 4, 3, dtype=dtype)}
    joined = concatenate_parts(parts, ("arm", "hand"), chunk=3)
    assert joined.shape == (2, 3, 5) and joined.dtype == dtype
    if dtype != torch.bfloat16:
        arrays = {key: value.numpy() for key, value in parts.items()}
        joined = concatenate_parts(arrays, ("arm", "hand"), chunk=3)
        assert isinstance(joined, np.ndarray) and joined.dtype == arrays["arm"].dtype
        np.testing.assert_array_equal(joined[..., 3:], 1)


@pytest.mark.parametrize(
    ("parts", "keys", "message"),
    [
        ({"arm": (2, 4, 3), "action.arm": (2, 4, 3)}, None, "both spellings"),
        ({"arm": (2, 4, 3), "hand": (2, 3, 2)}, None, "alike:.*arm.*2x4x3.*hand.*2x3x2"),
        ({"arm": (2, 4)}, None, "must be"),
        ({"arm": (2, 4, 3)}, ("arm", "action.arm"), "named twice"),
        ({"arm": (2, 2, 3)}, None, "predicts 2 actions per call, num_action_chunks is 3"),
    ],
)
def test_parts_that_do_not_fit(parts, keys, message):
    with pytest.raises(MappingError, match=f"(?s){message}"):
        concatenate_parts({key: torch.zeros(shape) for key, shape in parts.items()}, keys, chunk=3)
