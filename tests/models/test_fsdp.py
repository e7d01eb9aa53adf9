# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The policy under RLinf's own FSDP2 sharding, on one gloo rank."""

import pytest
import tiny_gr00t
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.backends.ratio_check import TOLERANCE
from isaaclab_rlinf.models.flow_rollout import RECORD_KEYS
from isaaclab_rlinf.models.gr00t_n1d7.builder import build_policy as build_gr00t
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


@pytest.fixture(scope="module")
def gr00t(tmp_path_factory):
    return tiny_gr00t.make(tmp_path_factory.mktemp("gr00t") / "tiny")


@pytest.mark.parametrize("weights", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("model", ["tiny_vla", "gr00t_n1d7"])
def test_bfloat16_compute_keeps_the_ratio_of_a_bfloat16_rollout(policy_cfg, env_obs, gr00t, mesh, model, weights):
    if model == "tiny_vla":
        build, cfg, obs = build_policy, policy_cfg, env_obs
    else:
        build, cfg, obs = build_gr00t, tiny_gr00t.settings(gr00t), tiny_gr00t.observation(6)
    torch.manual_seed(0)
    _, result = build(cfg, torch.bfloat16).predict_action_batch(obs, mode="train")
    record, before = result["forward_inputs"], result["prev_logprobs"]
    sharded = shard(build(cfg, weights), mesh, param_dtype=torch.bfloat16).train()
    received, forward = {}, sharded.default_forward

    def default_forward(forward_inputs, **kwargs):
        received.update(forward_inputs, prev_logprobs=kwargs["prev_logprobs"])
        return forward(forward_inputs, **kwargs)

    sharded.default_forward = default_forward
    output = sharded(forward_inputs=record, prev_logprobs=before, compute_values=True, use_cache=False)
    for name, value in {**{key: record[key] for key in RECORD_KEYS}, "prev_logprobs": before}.items():
        assert received[name].dtype == value.dtype and torch.equal(received[name], value), name
    ratio = torch.exp((output["logprobs"] - before).flatten(1).sum(dim=1))
    assert (ratio - 1).abs().mean() < TOLERANCE
    # the same kernels on the same numbers: whatever differs was rounded on its way into a layer
    torch.testing.assert_close(output["logprobs"], before, atol=1e-5, rtol=0)
    if model == "gr00t_n1d7":  # RLinf's actor reads them back
        assert output["prev_logprobs"] is before


def test_rlinfs_wrap_policy_finds_the_layers(policy_cfg):
    from rlinf.hybrid_engines.fsdp.utils import get_fsdp_wrap_policy

    register_models()
    assert get_fsdp_wrap_policy(build_policy(policy_cfg), OmegaConf.create({}), model_type="tiny_vla") is not None
