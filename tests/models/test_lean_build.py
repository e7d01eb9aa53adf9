# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A model is built in the memory of its weights, and is the one that an ordinary build makes, bit for bit."""

from __future__ import annotations

import contextlib
import importlib.util
from pathlib import Path

import pytest
import tiny_gr00t
import torch
from omegaconf import OmegaConf
from safetensors.torch import load_file
from torch import nn

from isaaclab_rlinf.models.gr00t_n1d7 import builder
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinySizes
from isaaclab_rlinf.models.lean_build import parameters_on_meta, set_weights

SCRIPT = Path(__file__).parents[2] / "scripts/lib/random_gr00t_n1d7.py"


class Toy(nn.Module):
    """Tied weights, a frozen one, and both kinds of buffers."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head, self.norm = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False), nn.BatchNorm1d(4)
        self.head.weight = self.embedding.weight
        self.scale = nn.Parameter(torch.randn(4), requires_grad=False)
        self.register_buffer("frequencies", torch.arange(4.0).exp(), persistent=False)

    def forward(self, ids):
        return self.head(self.norm(self.embedding(ids) * self.scale) * self.frequencies)


def same(one, other):
    """Whether two models have the same parameters, flags and buffers, kept in files or not."""
    for kind in ("named_parameters", "named_buffers"):
        ours, theirs = (dict(getattr(model, kind)()) for model in (one, other))
        assert ours.keys() == theirs.keys()
        for name, value in ours.items():
            assert value.dtype == theirs[name].dtype and value.device == theirs[name].device, name
            assert torch.equal(value, theirs[name]), name
            assert value.requires_grad == theirs[name].requires_grad, name
    return True


def test_tied_weights_and_buffers(one_thread):
    ordinary = Toy()
    with torch.no_grad():
        ordinary.norm.running_mean += 1
    with parameters_on_meta():
        lean = Toy()
    assert {parameter.device.type for parameter in lean.parameters()} == {"meta"}
    assert {buffer.device.type for buffer in lean.buffers()} == {"cpu"}
    set_weights(lean, ordinary.state_dict().items())
    assert lean.head.weight is lean.embedding.weight and len(list(lean.parameters())) == 4
    assert same(lean, ordinary)
    ids = torch.tensor([3, 1, 4])
    assert torch.equal(lean.eval()(ids), ordinary.eval()(ids))
    assert nn.Linear(2, 2).weight.device.type == "cpu"
    set_weights(lean, {"scale": torch.ones(4)}.items())  # what has memory keeps it
    assert lean.scale.eq(1).all() and not lean.scale.requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gr00t_n1d7_is_the_ordinary_one(tmp_path, monkeypatch, dtype):
    cfg = tiny_gr00t.settings(tiny_gr00t.make(tmp_path / "tiny"), tune_visual=True)
    lean = builder.build_policy(cfg, dtype)
    with monkeypatch.context() as patch:
        patch.setattr(builder, "parameters_on_meta", contextlib.nullcontext)
        ordinary = builder.build_policy(cfg, dtype)
    assert {parameter.dtype for parameter in lean.parameters()} == {dtype}
    assert any("inv_freq" in name for name, _ in lean.named_buffers())
    assert same(lean, ordinary)
    obs = tiny_gr00t.observation()
    assert torch.equal(*(model.predict_action_batch(obs, mode="eval")[0] for model in (lean, ordinary)))
    torch.manual_seed(0)
    _, record = lean.predict_action_batch(obs, mode="train")
    values = [model(forward_inputs=record["forward_inputs"]) for model in (lean, ordinary)]
    assert torch.equal(values[0]["logprobs"], values[1]["logprobs"])
    assert torch.equal(values[0]["values"], values[1]["values"])
    assert same(
        builder.load_network(lean.processor).to(dtype),
        _network_built_as_usual(lean.processor, monkeypatch).to(dtype),
    )


def _network_built_as_usual(processor, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(builder, "parameters_on_meta", contextlib.nullcontext)
        return builder.load_network(processor)


def test_tiny_vla_is_the_ordinary_one(policy_cfg, env_obs):
    from isaaclab_rlinf.models.tiny_vla.builder import build_policy
    from isaaclab_rlinf.models.tiny_vla.rl_policy import TinyVLAForRL

    lean = build_policy(OmegaConf.merge(policy_cfg, {"rl_head_config": {"add_value_head": False}}))
    ordinary = TinyVLAForRL(lean.config, lean.rl_head, lean.num_action_chunks, lean.denoising_steps).eval()
    ordinary.load_state_dict(load_file(Path(policy_cfg.model_path) / "model.safetensors"))
    ordinary.processor = lean.processor
    assert same(lean, ordinary)
    assert torch.equal(*(model.predict_action_batch(env_obs, mode="eval")[0] for model in (lean, ordinary)))


@pytest.fixture(scope="module")
def fifty_million(tmp_path_factory):
    """A checkpoint of 50 M parameters."""
    spec = importlib.util.spec_from_file_location("random_gr00t_n1d7", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = tmp_path_factory.mktemp("large") / "base"
    sizes = TinySizes(width=512, vision_width=64, language_layers=6, action_width=512, action_layers=6, heads=8)
    count = module.write_random_checkpoint(out, sizes)
    assert 45e6 < count < 60e6
    return out


def growth(work):
    """Return what ``work`` returns, and the growth of resident memory at its peak, in bytes."""

    def resident(field):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))

    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError as error:
        pytest.skip(f"this system does not reset the peak of memory: {error}")
    before = resident("VmRSS")
    result = work()
    return result, resident("VmHWM") - before


def test_building_and_loading_take_the_weights_alone(fifty_million, tmp_path):
    from isaaclab_rlinf.workers.weights import load_full_weights

    cfg = tiny_gr00t.settings(fifty_million, num_action_chunks=8)
    builder.build_policy(tiny_gr00t.settings(tiny_gr00t.make(tmp_path / "tiny")))  # what is imported is not counted
    policy, grown = growth(lambda: builder.build_policy(cfg, torch.bfloat16))
    size = sum(parameter.nbytes for parameter in policy.parameters())
    assert size > 90e6 and grown < 1.2 * size, f"{grown / size:.2f} times the weights"
    torch.save(policy.state_dict(), tmp_path / "full_weights.pt")
    report, grown = growth(lambda: load_full_weights(policy, str(tmp_path / "full_weights.pt")))
    assert report.matched == report.total and grown < 0.8 * size, f"{grown / size:.2f} times the weights"
