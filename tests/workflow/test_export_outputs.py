# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""An export is held against the trained model by what the two do, and what is no weight is not cast."""

import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from saved_run import save_run

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.models.build import build_registered
from isaaclab_rlinf.workflow.export_files import write_weights
from isaaclab_rlinf.workflow.export_outputs import compare_outputs, record_outputs
from isaaclab_rlinf.workflow.merge_adapters import merge_adapters

sys.path.append(str(Path(__file__).parents[1] / "models"))
import tiny_gr00t

pytestmark = pytest.mark.usefixtures("one_thread")

ACTING = '''
import json
import torch
from pathlib import Path
from rlinf.models import register_model
from rlinf.models.embodiment.base_policy import BasePolicy
from safetensors.torch import load_file

class Acting(torch.nn.Module, BasePolicy):
    """Acts by an embedding and an output layer that may be one tensor, and limits that are no weights."""
    forward = BasePolicy.forward
    def __init__(self, tied):
        super().__init__()
        self.embed, self.lm_head = torch.nn.Embedding(4, 4), torch.nn.Linear(4, 4, bias=False)
        if tied:
            self.lm_head.weight = self.embed.weight
        self.register_buffer("limits", torch.tensor([1.0001, 257.3, 0.1, 70000.0]))
        self.register_buffer("precise", torch.full((2,), 1 / 3, dtype=torch.float64))
        self.register_buffer("count", torch.tensor(70001))
    def mean(self, states):
        dtype = self.lm_head.weight.dtype if hasattr(self.lm_head, "weight") else torch.float32
        return self.lm_head(states.to(dtype) @ self.embed.weight)[:, None].float()
    def predict_action_batch(self, env_obs, mode="train", **kwargs):
        mean = self.mean(env_obs["states"])
        drawn = mean + 0.1 * torch.randn_like(mean) * (mode == "train")
        inputs = {"states": env_obs["states"], "drawn": drawn.detach()}
        actions = drawn * self.limits * self.factor
        return actions, {"prev_logprobs": drawn, "prev_values": None, "forward_inputs": inputs}
    def default_forward(self, forward_inputs, **kwargs):
        return {"logprobs": -((forward_inputs["drawn"] - self.mean(forward_inputs["states"])) ** 2), "values": None}

def build(cfg, dtype):
    torch.manual_seed(0)
    path = Path(cfg.model_path)
    model = Acting(cfg.get("tied", False))
    if (path / "model.safetensors").is_file():
        weights = load_file(path / "model.safetensors")
        model.load_state_dict(weights)
    model.factor = 3 if (path / ".scale").is_file() else 1
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype)
    return model

def register():
    register_model("acting_for_export", build, force=True)
'''


@pytest.fixture
def acting(tmp_path, monkeypatch):
    """Train a model of an extension; returns its directory, the step directory and a function that acts."""
    name = "acting_model_for_export"
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / f"{name}.py").write_text(ACTING)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    (tmp_path / "base").mkdir()
    (tmp_path / "base/config.json").write_text("{}")

    def make(**changes):
        kind = {"model_type": "acting_for_export", "precision": "fp32", "state_dim": 4, "action_dim": 4}
        cfg = {**kind, "num_action_chunks": 1, "is_lora": False, "model_path": str(tmp_path / "base"), **changes}
        model = build_registered(cfg, [name])
        return model, save_run(tmp_path, model, cfg, extensions=[name])

    yield make
    sys.modules.pop(name, None)


def export(*arguments):
    return main(["export", *map(str, arguments)])


@pytest.mark.parametrize("lora", [False, True])
@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_what_is_no_weight_is_not_cast(acting, tmp_path, capsys, dtype, lora):
    model, step_dir = acting(is_lora=lora, lora_rank=2)
    out = tmp_path / "out"
    assert export("--checkpoint", step_dir, "--out", out, "--dtype", dtype) == 0
    kept = {key.rpartition(".")[2]: value for key, value in model.named_buffers()}
    with safe_open(out / "model.safetensors", "pt") as file:
        for name in ("limits", "precise", "count"):
            assert file.get_tensor(name).dtype == kept[name].dtype and torch.equal(file.get_tensor(name), kept[name])
        wanted = {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
        assert file.get_tensor("lm_head.weight").dtype == wanted
    assert "largest relative differences: actions" in capsys.readouterr().out


def test_an_export_that_acts_differently_is_refused(acting, tmp_path, capsys):
    (tmp_path / "base/.scale").write_text("")  # hidden files are not copied: every weight comes back all the same
    _, step_dir = acting()
    assert export("--checkpoint", step_dir, "--out", tmp_path / "out") == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "does not act as the trained one: actions differ by 0.67 of their size" in told
    assert not (tmp_path / "out").exists()
    assert export("--checkpoint", step_dir, "--out", tmp_path / "out", "--no_verify") == 0


def test_adapters_of_a_tied_weight_change_it_alone_or_the_export_is_refused(acting, tmp_path, capsys):
    """This builder ties the two layers whatever it reads, so that an untied export cannot act as the trained model."""
    model, step_dir = acting(tied=True, is_lora=True, lora_rank=2)
    assert export("--checkpoint", step_dir, "--out", tmp_path / "out") == 2
    assert "do not come back" in " ".join(capsys.readouterr().err.split())
    states = torch.randn(5, 4)
    with torch.no_grad():
        expected = model.get_base_model().mean(states)
        outcome = merge_adapters(model)
        assert outcome.untied == ("base_model.model.lm_head.weight",)
        assert torch.allclose(outcome.model.mean(states), expected, atol=1e-5)


def test_an_untied_transformers_model_is_read_back_untied(tmp_path):
    from peft import LoraConfig, get_peft_model
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    plain = GPT2LMHeadModel(GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=2)).eval()
    assert plain.lm_head.weight is plain.transformer.wte.weight
    model = get_peft_model(plain, LoraConfig(r=2, target_modules=["lm_head"], init_lora_weights=False)).eval()
    tokens = torch.arange(8)[None]
    with torch.no_grad():
        expected = model(tokens).logits
        outcome = merge_adapters(model)
        write_weights(outcome.model, tmp_path, drop_value_head=False, max_shard_size="5GB")
        again = GPT2LMHeadModel.from_pretrained(tmp_path).eval()
        assert torch.allclose(again(tokens).logits, expected, atol=1e-5)
    assert outcome.untied and json.loads((tmp_path / "config.json").read_text())["tie_word_embeddings"] is False


FAMILIES = {
    "tiny_vla": lambda path: {
        "model_type": "tiny_vla",
        "model_path": str(bundled_checkpoint()),
        "precision": "fp32",
        "action_dim": 3,
        "num_action_chunks": 8,
        "rl_head_config": {"noise_level": 0.4},
    },
    "gr00t_n1d7": lambda path: tiny_gr00t.settings(tiny_gr00t.make(path / "base"), add_value_head=True),
}


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("lora", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_compared_by_actions_logprobs_and_values(family, lora, dtype, tmp_path, capsys):
    cfg = {**FAMILIES[family](tmp_path), "is_lora": lora, "lora_rank": 4}
    model = build_registered(cfg).eval()
    step_dir = save_run(tmp_path, model, cfg)
    out = tmp_path / "out"
    assert export("--checkpoint", step_dir, "--out", out, "--dtype", dtype) == 0
    summary = json.loads((out / "export.json").read_text())
    assert summary["lora_merged"] is lora and set(summary["outputs"]) == {"actions", "logprobs", "values"}
    assert "Outputs were not compared" not in capsys.readouterr().out
    # seen from outside, with the trained model that is still here
    trained = record_outputs(model, cfg, {})
    again = build_registered({**cfg, "model_path": str(out), "is_lora": False, "precision": dtype})
    dtypes = {"float32", "bfloat16" if dtype == "bf16" else "float32"}
    assert compare_outputs(again, trained, dtypes=dtypes, changed=True, values=True)[1] == []
    base = build_registered({**cfg, "is_lora": False})
    assert compare_outputs(base, trained, dtypes={"float32"}, changed=True, values=True)[1] != []
