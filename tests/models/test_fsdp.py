# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The policy under RLinf's own FSDP2 sharding, on one gloo rank."""

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.models.registry import register_models
from isaaclab_rlinf.models.tiny_vla.builder import build_policy
from isaaclab_rlinf.testing.sharding import full_gradients, gloo_mesh, shard, sharded_modules


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    with gloo_mesh(tmp_path_factory.mktemp("gloo") / "store") as mesh:
        yield mesh


def _loss(policy, record):
    output = policy(forward_inputs=record, compute_logprobs=True, compute_values=True, use_cache=False)
    return output, output["logprobs"].sum() + output["values"].sum()


def test_default_layers_are_sharded_one_by_one(policy_cfg, mesh):
    sharded = sharded_modules(shard(build_policy(policy_cfg), mesh))
    assert {"", "context_encoder.layers.0", "action_head.layers.2", "context_encoder.text_encoder.embedding"} <= set(
        sharded
    )
    assert len(sharded) == 1 + 2 + 3 + 1


@pytest.mark.parametrize("checkpointing", [False, True])
def test_sharded_forward_and_gradients_equal_the_plain_ones(policy_cfg, env_obs, mesh, checkpointing):
    plain = build_policy(policy_cfg).train()
    _, result = plain.predict_action_batch(env_obs, mode="train")
    expected, loss = _loss(plain, result["forward_inputs"])
    loss.backward()
    sharded = build_policy(policy_cfg).train()
    if checkpointing:
        sharded.gradient_checkpointing_enable()
    shard(sharded, mesh)
    output, loss = _loss(sharded, result["forward_inputs"])
    loss.backward()
    assert torch.allclose(output["logprobs"], expected["logprobs"], atol=1e-5)
    assert torch.allclose(output["logprobs"], result["prev_logprobs"], atol=1e-4)
    assert torch.allclose(output["values"], expected["values"], atol=1e-5)
    gradients = full_gradients(sharded)
    for name, parameter in plain.named_parameters():
        assert torch.allclose(gradients[name], parameter.grad, atol=1e-4, rtol=1e-4), name


def test_mixed_precision_trainer_matches_a_bfloat16_rollout(policy_cfg, env_obs, mesh):
    rollout = build_policy(policy_cfg, torch.bfloat16)
    _, result = rollout.predict_action_batch(env_obs, mode="train")
    sharded = shard(build_policy(policy_cfg), mesh, param_dtype=torch.bfloat16)
    output, _ = _loss(sharded, result["forward_inputs"])
    assert (output["logprobs"] - result["prev_logprobs"]).abs().max() < 1e-2


def test_rlinfs_wrap_policy_finds_the_layers(policy_cfg):
    from rlinf.hybrid_engines.fsdp.utils import get_fsdp_wrap_policy

    register_models()
    assert get_fsdp_wrap_policy(build_policy(policy_cfg), OmegaConf.create({}), model_type="tiny_vla") is not None
