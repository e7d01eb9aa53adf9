# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Tests of GR00T N1.5 that hold for the stand-in and for the real package: both test modules import them.

Fixtures: ``facts`` of a checkpoint whose ``gr00t`` package is importable, ``policy``, built from it, and ``projector``,
the index of its embodiment.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from isaaclab_rlinf.mapping.errors import MappingError
from n1d5_kit import block_for, observation


def prepared(policy, facts, **changes):
    """Convert an observation as RLinf's model does."""
    converted = policy.obs_convert_fn({**observation(facts), **changes})
    return {key: value if isinstance(value, np.ndarray) else np.array(value) for key, value in converted.items()}


def test_the_transforms_take_what_the_converter_gives(policy, facts, projector):
    inputs = policy.apply_transforms(prepared(policy, facts))
    assert inputs["state"].shape == (3, 1, facts.max_state_dim)
    assert inputs["eagle_pixel_values"].shape[0] == 3 * len(facts.video)
    assert inputs["embodiment_id"].tolist() == [projector] * 3


def test_each_environment_gets_its_own_instruction(policy, facts):
    first, second, third = policy.apply_transforms(prepared(policy, facts))["eagle_input_ids"]
    same = {**observation(facts), "task_descriptions": ["push"] * 3}["task_descriptions"]
    fourth = policy.apply_transforms(prepared(policy, facts, task_descriptions=same))["eagle_input_ids"]
    assert not torch.equal(first, second) and not torch.equal(second, third)
    assert torch.equal(fourth[0], fourth[1])


def test_the_ratio_is_one_before_any_update(policy, facts):
    torch.manual_seed(3)
    actions, result = policy.predict_action_batch(observation(facts), mode="train")
    assert actions.shape == (3, 8, facts.action_dim)
    policy.train()
    output = policy.default_forward(result["forward_inputs"], prev_logprobs=result["prev_logprobs"])
    policy.eval()
    assert output["logprobs"].shape == (3, 8, facts.action_dim)
    assert (output["logprobs"] - output["prev_logprobs"]).abs().max() <= 1e-4
    assert output["logprobs"].abs().min() > 0
    torch.testing.assert_close(output["values"].reshape(3, 1), result["prev_values"], atol=1e-4, rtol=0)
    (output["logprobs"].sum() + output["values"].sum()).backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in policy.value_head.parameters())
    policy.zero_grad(set_to_none=True)


def test_evaluation_is_repeatable_and_rows_do_not_matter(policy, facts):
    state = torch.get_rng_state()
    first, _ = policy.predict_action_batch(observation(facts), mode="eval")
    assert torch.equal(state, torch.get_rng_state())
    torch.manual_seed(9)
    second, _ = policy.predict_action_batch(observation(facts), mode="eval")
    assert torch.equal(first, second)
    given = observation(facts)
    last = {key: value[2:] if value is not None else None for key, value in given.items()}
    torch.testing.assert_close(policy.predict_action_batch(last, mode="eval")[0], first[2:], atol=2e-2, rtol=0)
    explored, _ = policy.predict_action_batch(observation(facts), mode="train")
    assert (explored - first).abs().mean() > 1e-3


def test_the_observation_is_left_as_it_is(policy, facts):
    given = observation(facts)
    policy.predict_action_batch(given, mode="eval")
    assert torch.equal(given["states"], observation(facts)["states"])


def test_rlinf_finds_the_value_head(policy):
    from rlinf.models.embodiment.modules.value_head import ValueHead

    assert isinstance(policy.value_head, ValueHead)
    assert all(torch.isfinite(parameter).all() for parameter in policy.value_head.parameters())
    assert not any(key.startswith("value_head") for key in policy.state_dict())


def test_classes_that_rlinf_wraps_exist(policy):
    assert set(policy._no_split_modules) <= {type(module).__name__ for module in policy.modules()}
    assert policy.eval() is policy


def test_a_long_instruction_is_refused_rather_than_cut(policy, facts):
    with pytest.raises(ValueError, match=r"padding_value is \d+: set it to at least"):
        policy.predict_action_batch({**observation(facts), "task_descriptions": ["word " * 400] * 3}, mode="eval")


def test_sizes_that_do_not_fit_the_checkpoint_are_named(policy, facts):
    given = observation(facts)
    given["main_images"] = given["main_images"][:, :-2]
    with pytest.raises(MappingError, match=f"video.{next(iter(facts.video))} is .* pixels, trained on"):
        policy.predict_action_batch(given, mode="eval")
    with pytest.raises(MappingError, match="has no states"):
        policy.predict_action_batch({**observation(facts), "states": None}, mode="eval")


def test_actions_come_in_the_order_of_the_yaml(policy, facts):
    from isaaclab_rlinf.config.parse import parse_isaaclab_block
    from isaaclab_rlinf.models.gr00t.converters import ActionConverter

    normalised = torch.rand(2, facts.action_horizon, facts.max_action_dim) * 2 - 1
    parts = policy.unapply_transforms({"action": normalised})
    keys = list(reversed(facts.action))
    block, _ = parse_isaaclab_block(block_for(facts, action_mapping={"keys": keys}), "isaaclab")
    actions = ActionConverter(block, facts.action_dim)(parts, chunk_size=8)
    expected = np.concatenate([parts[f"action.{key}"][:, :8] for key in keys], axis=-1)
    assert isinstance(actions, np.ndarray) and actions.dtype == parts[f"action.{keys[0]}"].dtype
    np.testing.assert_array_equal(actions, expected)
