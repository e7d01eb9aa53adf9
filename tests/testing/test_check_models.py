# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The conformance kit on real models, two FSDP2 ranks included: tiny_vla, and RLinf's own small policies."""

import policies
import pytest
import torch

from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.testing import PolicyContractError, check_policy, example_env_obs, registered_builder


def run(cfg, env_obs, **kwargs):
    build = registered_builder(cfg)
    return check_policy(build(), build=build, env_obs=env_obs, model_cfg=cfg, **kwargs)


def test_tiny_vla():
    cfg = {
        "model_type": "tiny_vla",
        "model_path": str(bundled_checkpoint()),
        "action_dim": 3,
        "num_action_chunks": 8,
        "add_value_head": True,
        "rl_head_config": {"noise_level": 0.4, "stochastic_steps": [3]},
    }
    report = run(cfg, example_env_obs(state_dim=6, wrist=True))
    assert len(report.passed) == 11 and not report.exempted and not report.notes, str(report)
    assert report.measured["sharded_gradient_error"] < 1e-3


def test_mlp_policy_of_rlinf():
    cfg = {
        "model_type": "mlp_policy",
        "obs_dim": 6,
        "action_dim": 3,
        "num_action_chunks": 1,
        "add_value_head": True,
    }
    wrap = {"wrap_policy": {"module_classes_to_wrap": ["ValueHead"]}}
    obs = example_env_obs(state_dim=6, image_size=8)
    report = run(cfg, obs, fsdp_config=wrap, exempt=["flat_logprobs", "random_init"])
    assert {finding.check for finding in report.exempted} == {"rollout", "build"}, str(report)
    with pytest.raises(PolicyContractError) as error:
        run(cfg, obs, ranks=0)
    assert {finding.check for finding in error.value.findings} == {"rollout", "build", "wrap_classes"}


def test_cnn_policy_of_rlinf(tmp_path):
    from rlinf.models.embodiment.modules.resnet_utils import ResNet10

    torch.manual_seed(0)
    torch.save(ResNet10().state_dict(), tmp_path / "resnet10.pt")
    cfg = {
        "model_type": "cnn_policy",
        "model_path": str(tmp_path),
        "encoder_config": {"ckpt_name": "resnet10.pt"},
        "image_size": [3, 64, 64],
        "state_dim": 6,
        "action_dim": 3,
        "num_action_chunks": 1,
        "add_value_head": True,
    }
    wrap = {"wrap_policy": {"module_classes_to_wrap": ["ResNetEncoder", "ValueHead"]}}
    obs = example_env_obs(state_dim=6)
    report = run(cfg, obs, fsdp_config=wrap, exempt=["flat_logprobs", "random_init", "train_mode_noise"])
    assert {finding.check for finding in report.exempted} == {"rollout", "build", "train_mode"}, str(report)
    assert "Dropout(p=0.1)" in next(f.found for f in report.exempted if f.check == "train_mode")


@pytest.mark.parametrize(
    ("build", "text"),
    [(policies.ReadsSharded, "a rank failed"), (policies.FailsInAnotherProcess, "no checkpoint here")],
    ids=["weight read outside its unit", "build fails there"],
)
def test_sharding_faults(build, text):
    with pytest.raises(PolicyContractError) as error:
        check_policy(
            build(),
            build=build,
            env_obs=example_env_obs(state_dim=policies.STATE, image_size=8),
            model_cfg=policies.CFG,
            timeout_s=120,
        )
    (finding,) = error.value.findings
    assert finding.check == "sharding" and text in finding.found
