# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.5 on RLinf's own action model, with a stand-in for the ``gr00t`` package (tests/standin_gr00t)."""

from __future__ import annotations

import pytest
import torch
from n1d5_bodies import *  # noqa: F403 - the tests that also run on the real package

from isaaclab_rlinf.models.gr00t.checkpoint import has_weights, read_facts
from n1d5_files import embodiment, write_json
from n1d5_kit import block_for, model_cfg, observation, standin_package, write_checkpoint

VIDEO, STATE, ACTION = {"front": (64, 48), "wrist": (64, 48)}, {"arm": 3, "hand": 2}, {"arm": 3, "hand": 2}


@pytest.fixture(scope="module", autouse=True)
def package():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with standin_package():
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def checkpoint(package, tmp_path_factory):
    return write_checkpoint(
        tmp_path_factory.mktemp("n1d5"), ("gr1", "my-robot", "isaaclab_franka"), VIDEO, STATE, ACTION
    )


@pytest.fixture(scope="module")
def facts(checkpoint):
    return read_facts(checkpoint, "gr1")


@pytest.fixture(scope="module")
def projector():
    return 24  # of gr1


@pytest.fixture(scope="module")
def build(checkpoint):
    """Build a policy in a process that has not seen another one."""
    from rlinf.models import get_model

    from isaaclab_rlinf.models.registry import register_models

    register_models()

    def builder(tag="gr1", head=None, block=None, **extra):
        facts = read_facts(checkpoint, tag)
        block = {**block_for(facts, data_config_class=f"{checkpoint}/my_config.py:Config"), **(block or {})}
        cfg = model_cfg(facts, block, head, **{"precision": "fp32", "is_lora": False, "load_to_device": False, **extra})
        return get_model(cfg)

    return builder


@pytest.fixture(scope="module")
def policy(build):
    return build()


def test_another_package_with_the_tag_of_a_new_robot(build, checkpoint):
    with standin_package():
        policy = build("my-robot", block={"embodiment_tag_id": 7}, head={"disable_dropout": False})
        _, result = policy.predict_action_batch(observation(read_facts(checkpoint, "my-robot")), mode="train")
        assert result["forward_inputs"]["embodiment_id"].tolist() == [7] * 3
        assert policy.embodiment_tag.value == "my-robot"
        assert any(isinstance(module, torch.nn.Dropout) for module in policy.modules())
        # the enumeration that the package checks against is fixed when it is imported
        with pytest.raises(RuntimeError, match="comes too late"):
            from isaaclab_rlinf.compat.rlinf_gr00t import use_embodiment

            use_embodiment("yet-another", 3)


def test_dropout_is_off(policy):
    assert not any(isinstance(module, torch.nn.Dropout) for module in policy.modules())


def test_bfloat16_keeps_the_ratio(build, facts):
    from isaaclab_rlinf.models.gr00t.n1d5 import build_policy

    with standin_package():
        block = block_for(facts, data_config_class=f"{facts.path}/my_config.py:Config")
        policy = build_policy(model_cfg(facts, block))
        assert policy.value_head.mlp[0].weight.dtype == torch.bfloat16
        _, result = policy.predict_action_batch(observation(facts), mode="train")
        output = policy.default_forward(result["forward_inputs"], prev_logprobs=result["prev_logprobs"])
        assert torch.equal(output["logprobs"], output["prev_logprobs"])


def test_a_saved_value_head_is_kept(build, policy, checkpoint, tmp_path):
    from safetensors.torch import save_file

    assert not has_weights(checkpoint, "action_head.value_head.")
    copy = tmp_path / "copy"
    write_json(copy, {"gr1": embodiment("gr1", VIDEO, STATE, ACTION)})
    state = {key: value.contiguous() for key, value in policy.state_dict().items()}
    state["action_head.value_head.mlp.6.bias"] = torch.full((1,), 5.0)
    save_file(state, copy / "model.safetensors")
    assert has_weights(copy, "action_head.value_head.")
    again = build(model_path=str(copy))
    assert again.value_head.mlp[-1].bias.item() == 5.0
    # without saved weights, every rank starts from the same ones
    assert torch.equal(again.value_head.mlp[0].weight, policy.value_head.mlp[0].weight)


def test_rlinfs_own_data_configuration_serves_its_tags(checkpoint):
    from isaaclab_rlinf.compat.rlinf_gr00t import RLINF_DATA_CONFIGS, use_embodiment
    from isaaclab_rlinf.models.gr00t.data_config import load_data_config

    use_embodiment("gr1", 24)
    for reference in RLINF_DATA_CONFIGS.values():
        assert load_data_config(reference).modality_config()["video"].modality_keys


@pytest.mark.parametrize(
    ("tag", "changes", "message"),
    [
        ("gr1", {"block": {"embodiment_tag_id": 5}}, "24 in RLinf, 24 in Isaac-GR00T"),
        ("my-robot", {}, "embodiment_tag_id: missing"),
        ("gr1", {"block": {"data_config_class": None}}, "data_config_class is missing"),
        ("gr1", {"action_dim": 7}, "acts in 5 dims"),
        ("gr1", {"num_action_chunks": 17}, "predicts 16 actions"),
        ("gr1", {"obs_converter_type": "libero"}, "remove those, or use another name"),
        ("gr1", {"isaaclab": None}, "no isaaclab block"),
    ],
)
def test_what_does_not_fit_is_refused_before_loading(build, tag, changes, message):
    with pytest.raises(ValueError, match=message):
        build(tag, **changes)


def test_without_the_package_the_error_says_what_to_install(build, monkeypatch):
    import isaaclab_rlinf.models.gr00t.packages as packages

    for generation, text in ((None, "not installed"), ("gr00t_n1d7", "another generation")):
        monkeypatch.setattr(packages, "gr00t_generation", lambda generation=generation: generation)
        with pytest.raises(ImportError, match=f"{text}.*install_gr00t_n1d5.sh"):
            build()


def test_one_fsdp2_rank_equals_the_plain_model(build, facts, tmp_path):
    """RLinf shards every embedding; the future tokens are read from outside one."""
    from isaaclab_rlinf.testing.sharding import gloo_mesh, shard, sharded_modules

    plain = build()
    _, result = plain.predict_action_batch(observation(facts), mode="train")
    given = {"forward_inputs": result["forward_inputs"], "prev_logprobs": result["prev_logprobs"]}
    expected = plain(**given)
    with gloo_mesh(tmp_path / "store") as mesh:
        sharded = shard(plain, mesh)
        assert {"action_head", "action_head.value_head"} <= set(sharded_modules(sharded))
        output = sharded(**given)
        assert hasattr(sharded, "value_head")
    for key in ("logprobs", "values"):
        torch.testing.assert_close(output[key], expected[key], atol=1e-5, rtol=0)


def test_float32_weights_compute_in_bfloat16_as_the_rollout_does(build, facts, tmp_path):
    from isaaclab_rlinf.testing.sharding import gloo_mesh, shard

    rollout = build(precision="bf16")
    torch.manual_seed(3)
    _, result = rollout.predict_action_batch(observation(facts), mode="train")
    with gloo_mesh(tmp_path / "store") as mesh:
        sharded = shard(build(), mesh, param_dtype=torch.bfloat16)
        output = sharded(forward_inputs=result["forward_inputs"], prev_logprobs=result["prev_logprobs"])
        (output["logprobs"].sum() + output["values"].sum()).backward()
    ratio = torch.exp((output["logprobs"] - output["prev_logprobs"]).flatten(1).sum(dim=1))
    assert (ratio - 1).abs().mean() < 1e-2


@pytest.mark.slow
def test_the_conformance_kit_with_two_fsdp2_ranks(build, facts, checkpoint):
    from omegaconf import OmegaConf

    from isaaclab_rlinf.testing import check_policy, registered_builder

    block = block_for(facts, data_config_class=f"{checkpoint}/my_config.py:Config")
    cfg = OmegaConf.to_container(model_cfg(facts, block, precision="fp32", is_lora=False))
    factory = registered_builder(cfg)
    report = check_policy(factory(), build=factory, env_obs=observation(facts, 4), model_cfg=cfg)
    assert "sharding" in report.passed and not report.exempted


def test_the_bootstrap_uses_the_value_of_the_last_observation(policy, facts):
    """RLinf's rollout worker asks the model for a value only if it finds a value head."""
    import inspect

    from isaaclab_rlinf.compat import prepare_worker_imports

    prepare_worker_imports()
    from rlinf.workers.rollout.hf.huggingface_worker import MultiStepRolloutWorker

    class Worker:
        hf_model = policy
        predict = staticmethod(lambda obs: policy.predict_action_batch(obs, mode="train"))

    bootstrap = inspect.unwrap(MultiStepRolloutWorker.get_bootstrap_values)
    values = bootstrap(Worker(), observation(facts))
    _, result = policy.predict_action_batch(observation(facts), mode="train")
    torch.testing.assert_close(values, result["prev_values"])
