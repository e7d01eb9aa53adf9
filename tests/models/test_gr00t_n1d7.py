# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The N1.7 policy on a genuine, tiny network."""

import copy
import json
import shutil

import pytest
import tiny_gr00t
import torch
from omegaconf import OmegaConf
from safetensors.torch import load_file, save_file

from isaaclab_rlinf.models.gr00t_n1d7.builder import build_policy
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment
from isaaclab_rlinf.models.registry import register_models


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tiny_gr00t.make(tmp_path_factory.mktemp("gr00t") / "tiny")


@pytest.fixture(scope="module")
def shared(path):
    """A policy that tests do not change."""
    return build_policy(tiny_gr00t.settings(path))


@pytest.fixture
def policy(shared):
    torch.manual_seed(1)
    return copy.deepcopy(shared)


def test_building_leaves_the_seeds_of_the_gpus_alone(path, monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("every GPU got the same seed"))
    before = torch.get_rng_state()
    build_policy(tiny_gr00t.settings(path))
    tiny_gr00t.make(tmp_path / "tiny")
    assert torch.equal(torch.get_rng_state(), before)


def test_float32_weights_are_not_rounded_and_attend_without_flash_attn(path, tmp_path):
    asking = tmp_path / "asking"
    shutil.copytree(path, asking)
    for name, keys in (
        ("config.json", {"load_bf16": True, "use_flash_attention": True, "backbone_trainable_params_fp32": False}),
        ("backbone/config.json", {"dtype": "bfloat16"}),
    ):
        file = asking / name
        file.write_text(json.dumps({**json.loads(file.read_text()), **keys}))
    policy = build_policy(tiny_gr00t.settings(asking))
    saved, own = load_file(asking / "model.safetensors"), policy.state_dict()
    assert all(torch.equal(own[key], saved[key]) for key in own if key in saved)
    qwen = policy.backbone.model.config
    assert {qwen._attn_implementation, qwen.text_config._attn_implementation} == {"sdpa"}
    assert policy.config.load_bf16 and policy.config.use_flash_attention, "what is saved again is what was read"
    half = build_policy(tiny_gr00t.settings(asking), torch.bfloat16)
    assert {parameter.dtype for parameter in half.parameters()} == {torch.bfloat16}
    assert half.backbone.model.config._attn_implementation == "sdpa"


def forward(policy, record):
    return policy(forward_inputs=record, compute_logprobs=True, compute_values=True, use_cache=False)


def test_trainer_reproduces_the_rollouts_log_probs_and_values(policy):
    actions, result = policy.predict_action_batch(tiny_gr00t.observation(6), mode="train")
    assert actions.shape == (6, 6, 3) and actions.dtype == torch.float32
    assert result["prev_logprobs"].shape == (6, 6, 3) and result["prev_values"].shape == (6, 1)
    assert all(value.shape[0] == 6 for value in result["forward_inputs"].values())
    policy.train()  # dropout stays off
    for part in torch.randperm(6).split(3):
        output = forward(policy, {key: value[part] for key, value in result["forward_inputs"].items()})
        assert (output["logprobs"] - result["prev_logprobs"][part]).abs().max() < 1e-4
        assert (output["values"] - result["prev_values"][part]).abs().max() < 1e-4


def test_previous_log_probs_come_back_as_rlinfs_actor_expects(policy):
    _, result = policy.predict_action_batch(tiny_gr00t.observation(2), mode="train")
    output = policy(forward_inputs=result["forward_inputs"], prev_logprobs=result["prev_logprobs"], use_cache=False)
    assert output["prev_logprobs"] is result["prev_logprobs"]


def test_eval_is_deterministic_and_train_is_not(policy):
    obs = tiny_gr00t.observation()
    before = torch.get_rng_state()
    first, result = policy.predict_action_batch(obs, mode="eval")
    assert torch.equal(torch.get_rng_state(), before)
    assert result["prev_logprobs"] is None and result["forward_inputs"] == {}
    assert torch.equal(first, policy.predict_action_batch(obs, mode="eval")[0])
    assert not torch.equal(first, policy.predict_action_batch(obs, mode="train")[0])


def test_actions_do_not_depend_on_padding_or_on_the_rest_of_the_batch(policy):
    obs = tiny_gr00t.observation()
    together, _ = policy.predict_action_batch(obs, mode="eval")
    policy.processor.prompts.length = 70
    one = {key: value[1:2] if value is not None else None for key, value in obs.items()}
    assert torch.allclose(policy.predict_action_batch(one, mode="eval")[0], together[1:2], atol=1e-5)


@pytest.mark.parametrize("change", ["main_images", "wrist_images", "states", "task_descriptions"])
def test_every_input_matters(policy, change):
    obs = tiny_gr00t.observation()
    before = policy.predict_action_batch(obs, mode="eval")[0] - obs["states"][:, None, :3]
    obs[change] = tiny_gr00t.observation(seed=1)[change] if change != "task_descriptions" else ["touch it"] * 4
    after = policy.predict_action_batch(obs, mode="eval")[0] - obs["states"][:, None, :3]
    assert (after - before).abs().amax(dim=(1, 2)).min() > 1e-6


def test_relative_actions_are_decoded_against_the_given_state(policy):
    obs = tiny_gr00t.observation()
    actions, _ = policy.predict_action_batch(obs, mode="eval")
    # Statistics span [-pi, pi] and the model's normalised outputs do not depend on where the state is added.
    limit = torch.pi + 1e-5
    assert ((actions - obs["states"][:, None, :3]).abs() <= limit).all()
    assert not (actions.abs() <= 1e-6).any()
    policy.processor.state_normalizers = {
        key: type(normalizer)("min_max", torch.zeros(3), torch.zeros(3), True)  # the network sees no state
        for key, normalizer in policy.processor.state_normalizers.items()
    }
    still, _ = policy.predict_action_batch(obs, mode="eval")
    shifted, _ = policy.predict_action_batch({**obs, "states": obs["states"] + 1.0}, mode="eval")
    assert torch.allclose(shifted - still, torch.ones_like(still), atol=1e-5)


def test_gradients_reach_the_action_head_and_not_the_frozen_towers(policy):
    _, result = policy.train().predict_action_batch(tiny_gr00t.observation(), mode="train")
    output = forward(policy, result["forward_inputs"])
    (output["logprobs"].mean() + output["values"].mean()).backward()
    assert all(parameter.grad is None for parameter in policy.backbone.parameters())
    for name in ("model.transformer_blocks.0.attn1.to_k.weight", "action_decoder.layer2.W", "vlln.weight"):
        assert policy.action_head.get_parameter(name).grad.abs().max() > 0
    assert policy.value_head.mlp[0].weight.grad.abs().max() > 0


def test_towers_can_be_freed(path):
    policy = build_policy(tiny_gr00t.settings(path, tune_llm=True, tune_visual=True, tune_diffusion_model=False))
    _, result = policy.predict_action_batch(tiny_gr00t.observation(), mode="train")
    forward(policy, result["forward_inputs"])["logprobs"].sum().backward()
    qwen = policy.backbone.model.model
    assert qwen.language_model.layers[0].mlp.up_proj.weight.grad.abs().max() > 0
    assert qwen.visual.blocks[0].attn.qkv.weight.grad.abs().max() > 0
    assert all(parameter.grad is None for parameter in policy.action_head.model.parameters())


def test_gradient_checkpointing_changes_nothing_and_can_be_undone(path):
    policy = build_policy(tiny_gr00t.settings(path, tune_llm=True)).train()
    _, result = policy.predict_action_batch(tiny_gr00t.observation(), mode="train")
    gradients = []
    for switch in (lambda: None, policy.gradient_checkpointing_enable, policy.gradient_checkpointing_disable):
        switch()
        policy.zero_grad()
        forward(policy, result["forward_inputs"])["logprobs"].sum().backward()
        gradients.append([p.grad.clone() for p in policy.parameters() if p.grad is not None])
    for other in gradients[1:]:
        assert len(other) == len(gradients[0])
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(gradients[0], other, strict=True))


def test_lora_as_rlinf_applies_it_trains_only_adapters_and_value_head(path):
    from rlinf.models import get_model

    register_models()
    policy = get_model(OmegaConf.create(tiny_gr00t.settings(path, is_lora=True, lora_rank=2, load_to_device=False)))
    trained = [name for name, parameter in policy.named_parameters() if parameter.requires_grad]
    assert trained and all("lora_" in name or "value_head" in name for name in trained)
    assert any("language_model" in name for name in trained) and any("value_head" in name for name in trained)
    obs = tiny_gr00t.observation()
    _, result = policy.predict_action_batch(obs, mode="train")
    output = forward(policy, result["forward_inputs"])
    assert (output["logprobs"] - result["prev_logprobs"]).abs().max() < 1e-4
    (output["logprobs"].sum() + output["values"].sum()).backward()
    adapters = [p.grad for n, p in policy.named_parameters() if "lora_B" in n and "language_model" in n]
    assert any(gradient is not None and gradient.abs().max() > 0 for gradient in adapters)


def test_saving_and_loading_keeps_weights_and_actions(policy, tmp_path):
    with torch.no_grad():
        policy.value_head.mlp[0].weight.add_(1.0)
    policy.save_pretrained(tmp_path / "saved")
    again = build_policy(tiny_gr00t.settings(tmp_path / "saved"))
    ours, theirs = policy.state_dict(), again.state_dict()
    assert ours.keys() == theirs.keys() and all(torch.equal(ours[key], theirs[key]) for key in ours)
    obs = tiny_gr00t.observation()
    assert torch.equal(*(p.predict_action_batch(obs, mode="eval")[0] for p in (policy, again)))


def test_released_layout_processor_directory_and_shards(path, shared, tmp_path):
    for name in ("config.json", "backbone"):
        (shutil.copytree if (path / name).is_dir() else shutil.copyfile)(path / name, tmp_path / name)
    (tmp_path / "processor").mkdir()
    for name in ("processor_config.json", "statistics.json", "embodiment_id.json"):
        shutil.copyfile(path / name, tmp_path / "processor" / name)
    weights = load_file(path / "model.safetensors")
    names = sorted(weights)
    shards = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for shard, keys in shards.items():
        save_file({key: weights[key] for key in keys}, tmp_path / shard)
    index = {"weight_map": {key: shard for shard, keys in shards.items() for key in keys}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    policy = build_policy(tiny_gr00t.settings(tmp_path))
    state = policy.state_dict()
    assert all(torch.equal(state[key], value) for key, value in shared.state_dict().items())


def test_weights_that_do_not_fit_are_counted(path, tmp_path):
    shutil.copytree(path, tmp_path / "broken")
    weights = load_file(path / "model.safetensors")
    weights["surplus"] = weights.pop("action_head.vlln.weight")
    save_file(weights, tmp_path / "broken" / "model.safetensors")
    with pytest.raises(
        ValueError, match=r"1 missing \(first: action_head.vlln.weight\); 1 unexpected \(first: surplus"
    ):
        build_policy(tiny_gr00t.settings(tmp_path / "broken"))


def test_bfloat16_weights_keep_float32_buffers_and_ratio_one(path):
    policy = build_policy(tiny_gr00t.settings(path), torch.bfloat16)
    assert {parameter.dtype for parameter in policy.parameters()} == {torch.bfloat16}
    assert policy.backbone.language_model.rotary_emb.inv_freq.dtype == torch.float32
    actions, result = policy.predict_action_batch(tiny_gr00t.observation(), mode="train")
    assert actions.dtype == torch.float32
    output = forward(policy, result["forward_inputs"])
    assert (output["logprobs"] - result["prev_logprobs"]).abs().max() < 1e-4


def test_sizes_that_contradict_the_checkpoint_are_refused(path):
    with pytest.raises(ValueError, match=r"set actor\.model\.action_dim to 3"):
        build_policy(tiny_gr00t.settings(path, action_dim=4))
    with pytest.raises(ValueError, match=r"num_action_chunks to 1\.\.8"):
        build_policy(tiny_gr00t.settings(path, num_action_chunks=9))
    with pytest.raises(ValueError, match=r"action_noise_scale is 0\.1"):
        build_policy(tiny_gr00t.settings(path, rl_head_config={"action_noise_scale": 0.1}))
    with pytest.raises(ValueError, match=r"padding_value to at least \d+"):
        build_policy(tiny_gr00t.settings(path, rl_head_config={"padding_value": 9})).predict_action_batch(
            tiny_gr00t.observation()
        )


def test_keys_choose_the_actions_and_leave_the_log_probabilities_whole(tmp_path):
    embodiment = TinyEmbodiment(embodiment_id=2, action={"arm": 2, "gripper": 1})
    path = tiny_gr00t.make(tmp_path / "two", embodiment)
    block = {
        "task_description": {"obs": "instruction"},
        "main_images": "front",
        "wrist_images": "wrist",
        "states": ["pos", "vel"],
        "gr00t_mapping": {
            "video": {"main_images": "video.front_view", "wrist_images": "video.wrist_view"},
            "state": [
                {"gr00t_key": "state.joint_pos", "slice": [0, 3]},
                {"gr00t_key": "state.joint_vel", "slice": [3, 6]},
            ],
        },
    }
    everything = build_policy(tiny_gr00t.settings(path, isaaclab=block))
    block["action_mapping"] = {"keys": ["gripper"], "suffix_pad": 4}
    policy = build_policy(tiny_gr00t.settings(path, isaaclab=block))
    policy.load_state_dict(everything.state_dict())
    whole, _ = everything.predict_action_batch(tiny_gr00t.observation(), mode="eval")
    actions, _ = policy.predict_action_batch(tiny_gr00t.observation(), mode="eval")
    assert torch.equal(actions, whole[..., 2:])
    _, result = policy.predict_action_batch(tiny_gr00t.observation(), mode="train")
    assert result["prev_logprobs"].shape == (4, 6, 3)
    assert forward(policy, result["forward_inputs"])["logprobs"].shape == (4, 6, 3)
    for keys, message in ((["gripper", "action.gripper"], "named twice"), (["griper"], "did you mean 'gripper'")):
        block["action_mapping"] = {"keys": keys}
        with pytest.raises(ValueError, match=message):
            build_policy(tiny_gr00t.settings(path, isaaclab=block))
