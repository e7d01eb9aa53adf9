# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import copy
import math

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.models.registry import register_models
from isaaclab_rlinf.models.tiny_vla import TinyVLAModel
from isaaclab_rlinf.models.tiny_vla.builder import build_policy


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(1)


def _logprobs(policy, record):
    return policy(forward_inputs=record, compute_logprobs=True, compute_values=True, use_cache=False)


def test_trainer_reproduces_the_rollouts_log_probs_and_values(policy_cfg, env_obs):
    policy = build_policy(policy_cfg)
    actions, result = policy.predict_action_batch(env_obs, mode="train")
    assert actions.shape == (6, 8, 3) and actions.dtype == torch.float32
    assert result["prev_logprobs"].shape == (6, 8, 3)
    assert result["prev_values"].shape == (6, 1)
    assert all(value.shape[0] == 6 for value in result["forward_inputs"].values())
    # As the actor does: shuffled, split, in train mode.
    policy.train()
    order = torch.randperm(6)
    for part in order.split(3):
        record = {key: value[part] for key, value in result["forward_inputs"].items()}
        output = _logprobs(policy, record)
        assert (output["logprobs"] - result["prev_logprobs"][part]).abs().max() < 1e-4
        assert (output["values"] - result["prev_values"][part]).abs().max() < 1e-4


def test_log_probs_survive_a_state_dict_reload(policy_cfg, env_obs, tmp_path):
    policy = build_policy(policy_cfg)
    _, result = policy.predict_action_batch(env_obs, mode="train")
    torch.save(policy.state_dict(), tmp_path / "full_weights.pt")
    torch.manual_seed(5)
    other = build_policy(policy_cfg)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(0.9)
    assert (_logprobs(other, result["forward_inputs"])["logprobs"] - result["prev_logprobs"]).abs().max() > 1e-3
    other.load_state_dict(torch.load(tmp_path / "full_weights.pt"))
    assert (_logprobs(other, result["forward_inputs"])["logprobs"] - result["prev_logprobs"]).abs().max() < 1e-4


def test_bfloat16_ratio_is_one_too(policy_cfg, env_obs):
    policy = build_policy(policy_cfg, torch.bfloat16)
    _, result = policy.predict_action_batch(env_obs, mode="train")
    record = {k: v.bfloat16() if v.is_floating_point() else v for k, v in result["forward_inputs"].items()}
    assert (_logprobs(policy, record)["logprobs"] - result["prev_logprobs"]).abs().max() < 1e-2


def test_a_better_weighted_sample_gets_more_likely(policy_cfg, env_obs):
    policy = build_policy(policy_cfg)
    _, result = policy.predict_action_batch(env_obs, mode="train")
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
    _logprobs(policy, result["forward_inputs"])["logprobs"].mean().neg().backward()
    assert policy.value_head.mlp[0].weight.grad is None
    optimizer.step()
    assert _logprobs(policy, result["forward_inputs"])["logprobs"].mean() > result["prev_logprobs"].mean()


@pytest.mark.parametrize("detach", [True, False])
def test_detach_critic_input_decides_whether_values_train_the_encoder(policy_cfg, env_obs, detach):
    policy_cfg.rl_head_config.detach_critic_input = detach
    policy = build_policy(policy_cfg)
    _, result = policy.predict_action_batch(env_obs, mode="train")
    _logprobs(policy, result["forward_inputs"])["values"].sum().backward()
    assert policy.value_head.mlp[0].weight.grad is not None
    assert (policy.context_encoder.norm.weight.grad is None) == detach


def test_eval_is_deterministic_and_train_is_not(policy_cfg, env_obs):
    policy = build_policy(policy_cfg)
    first, result = policy.predict_action_batch(env_obs, mode="eval")
    assert result["prev_logprobs"] is None and result["forward_inputs"] == {}
    assert torch.equal(first, policy.predict_action_batch(env_obs, mode="eval")[0])
    one = {k: v[2:3] if v is not None else None for k, v in env_obs.items()}
    assert torch.allclose(policy.predict_action_batch(one, mode="eval")[0], first[2:3], atol=1e-5)
    explored = [policy.predict_action_batch(env_obs, mode="train")[0] for _ in range(2)]
    assert not torch.equal(*explored)


def test_mode_beats_do_sample_and_do_sample_beats_the_default(policy_cfg, env_obs):
    policy = build_policy(policy_cfg)
    explores = lambda **kw: policy.predict_action_batch(env_obs, **kw)[1]["prev_logprobs"] is not None  # noqa: E731
    assert explores()
    assert explores(do_sample=True, temperature=1.0)
    assert not explores(do_sample=False)
    assert explores(mode="train", do_sample=False)
    assert not explores(mode="eval", do_sample=True)
    with pytest.raises(ValueError, match="'rollout'"):
        explores(mode="rollout")
    with pytest.raises(TypeError, match="compute_value"):
        explores(compute_value=True)


def test_stochastic_steps_are_the_configured_ones_and_differ_between_samples(policy_cfg, env_obs):
    policy = build_policy(policy_cfg)
    steps = torch.cat([policy.predict_action_batch(env_obs)[1]["forward_inputs"]["denoise_inds"] for _ in range(8)])
    assert set(steps.tolist()) == {0, 1, 2, 3}
    policy_cfg.rl_head_config.stochastic_steps = [3]
    policy = build_policy(policy_cfg)
    _, result = policy.predict_action_batch(env_obs)
    assert set(result["forward_inputs"]["denoise_inds"].tolist()) == {3}
    assert (_logprobs(policy, result["forward_inputs"])["logprobs"] - result["prev_logprobs"]).abs().max() < 1e-4


def test_an_annealed_noise_level_follows_the_training_step_and_the_replay(policy_cfg, env_obs):
    policy_cfg.rl_head_config = {"noise_anneal": True, "noise_params": [0.4, 0.1, 80], "stochastic_steps": [3]}
    policy = build_policy(policy_cfg)
    records = []
    for step in (0, 40, 80, 200):
        policy.set_global_step(step)
        records.append(policy.predict_action_batch(env_obs, mode="train")[1])
    levels = [record["forward_inputs"]["noise_level"] for record in records]
    assert torch.allclose(torch.stack(levels), torch.tensor([[0.4], [0.25], [0.1], [0.1]]).expand(4, 6))
    # The flow's last of four steps has 0.29 times the level: the entropy tells the deviation that was drawn.
    entropy = policy(forward_inputs=records[1]["forward_inputs"], compute_entropy=True)["entropy"]
    expected = 0.5 * math.log(2 * math.pi * math.e) + math.log(0.25 * math.sqrt(1 / 12))
    assert torch.allclose(entropy, torch.full_like(entropy, expected), atol=1e-5)
    # A decision keeps the level that it was made with, whatever the step of the policy that replays it.
    for record in records:
        assert (_logprobs(policy, record["forward_inputs"])["logprobs"] - record["prev_logprobs"]).abs().max() < 1e-4


def test_executed_prefix_decides_the_log_prob_length(policy_cfg, env_obs):
    policy_cfg.num_action_chunks = 5
    policy = build_policy(policy_cfg)
    actions, result = policy.predict_action_batch(env_obs)
    assert actions.shape == result["prev_logprobs"].shape == (6, 5, 3)
    output = policy(forward_inputs=result["forward_inputs"], compute_entropy=True)
    assert (output["logprobs"] - result["prev_logprobs"]).abs().max() < 1e-4
    assert output["entropy"].shape == (6, 5, 3)


def test_actions_are_in_environment_units_and_range(policy_cfg, env_obs):
    policy_cfg.rl_head_config.noise_level = 5.0
    policy = build_policy(policy_cfg)
    actions, _ = policy.predict_action_batch(env_obs)
    low, high = (torch.tensor(policy.processor.statistics["action"][k]) for k in ("min", "max"))
    assert (actions >= low - 1e-6).all() and (actions <= high + 1e-6).all()


def test_state_dict_is_the_models_plus_the_value_head(policy_cfg, checkpoint, tmp_path):
    policy = build_policy(policy_cfg)
    base = TinyVLAModel.from_pretrained(checkpoint).state_dict()
    own = policy.state_dict()
    assert {key for key in own if not key.startswith("value_head.")} == set(base)
    assert all(torch.equal(own[key], base[key]) for key in base)
    # A checkpoint saved by the policy is also a plain model, and gives the policy its value head back.
    with torch.no_grad():
        policy.value_head.mlp[0].weight.fill_(0.25)
    policy.save_pretrained(tmp_path)
    policy.processor.save_pretrained(tmp_path)
    assert torch.equal(TinyVLAModel.from_pretrained(tmp_path).action_head.position, base["action_head.position"])
    policy_cfg.model_path = str(tmp_path)
    assert (build_policy(policy_cfg).value_head.mlp[0].weight == 0.25).all()


def test_value_head_starts_equal_everywhere_and_leaves_the_callers_randomness_alone(policy_cfg):
    before = torch.get_rng_state()
    first = build_policy(policy_cfg).value_head.state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(99)
    second = build_policy(policy_cfg).value_head.state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert first["mlp.4.weight"].std().item() == pytest.approx(0.02, rel=0.4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action_dim": 7}, "action_dim is 7 in the config.*predicts 3"),
        ({"num_action_chunks": 16}, "num_action_chunks is 16 in the config.*predicts 8"),
        ({"rl_head_config": {"noise_levle": 1}}, "noise_levle.*did you mean 'noise_level'"),
        ({"rl_head_config": {"noise_level": 0.0}}, "must be positive"),
        ({"rl_head_config": {"stochastic_steps": [4]}}, r"stochastic_steps is \[4\].*0 to 3"),
        ({"rl_head_config": {"noise_anneal": True, "noise_params": [0.4, 0.1, 80]}}, "noise_level is 0.4, but"),
        ({"model_path": "nowhere"}, "'nowhere' is not a directory"),
    ],
)
def test_builder_names_what_does_not_fit(policy_cfg, change, message):
    with pytest.raises(ValueError, match=message):
        build_policy(OmegaConf.merge(policy_cfg, change))


@pytest.mark.parametrize("params", [None, [0.4, 0.1], [0.4, 0.0, 80], [0.4, 0.1, 2.5]])
def test_annealing_needs_a_start_an_end_and_a_number_of_steps(policy_cfg, params):
    policy_cfg.rl_head_config = {"noise_anneal": True, "noise_params": params}
    with pytest.raises(ValueError, match=r"noise_params is .*three positive numbers"):
        build_policy(policy_cfg)


def test_builder_refuses_weights_that_do_not_match_the_config(policy_cfg, checkpoint, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    copied = shutil.copytree(checkpoint, tmp_path / "copy")
    weights = load_file(copied / "model.safetensors")
    weights.pop("action_head.action_out.weight")
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    policy_cfg.model_path = str(copied)
    with pytest.raises(ValueError, match=r"1 missing \(first: action_head.action_out.weight\)"):
        build_policy(policy_cfg)


def test_rlinf_builds_it_after_idempotent_registration(policy_cfg):
    from rlinf.models import get_model

    register_models()
    register_models()
    model = get_model(OmegaConf.merge(policy_cfg, {"load_to_device": False}))
    assert type(model).__name__ == "TinyVLAForRL"
    assert not any(module.training for module in model.modules())


def test_no_parameter_is_shared(policy_cfg):
    policy = build_policy(policy_cfg)
    names = [name for name, _ in policy.named_parameters(remove_duplicate=False)]
    assert len(names) == len(list(policy.parameters())) == len(set(names))
    assert copy.deepcopy(policy.state_dict()).keys() == policy.state_dict().keys()
