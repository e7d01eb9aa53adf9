# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A trained checkpoint, exported, acts as it did; nothing is lost, doubled or overwritten on the way."""

import json
import os
import shutil
import sys

import pytest
import torch
from saved_run import save_run

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.models.build import build_registered
from isaaclab_rlinf.testing import example_env_obs
from isaaclab_rlinf.workflow.merge_adapters import Merged, merge_adapters

pytestmark = pytest.mark.usefixtures("one_thread")
OBS = example_env_obs(state_dim=6, wrist=True)
MODEL = {
    "model_type": "tiny_vla",
    "precision": "fp32",
    "is_lora": False,
    "action_dim": 3,
    "num_action_chunks": 8,
    "add_value_head": True,
    "rl_head_config": {"noise_level": 0.4},
}


@pytest.fixture
def base(tmp_path):
    """The bundled checkpoint with the further files that a real one has."""
    path = shutil.copytree(bundled_checkpoint(), tmp_path / "base")
    for name in ("chat_template.jinja", "merges.txt", "tokenizer.model", "processor/statistics.json", ".cache/x.json"):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(f"contents of {name}")
    (path / "model.safetensors.index.json").write_text("{}")
    return path


@pytest.fixture
def trained(tmp_path, base, monkeypatch):
    """Make a run directory whose checkpoint holds a changed model; returns the model and the step directory."""
    monkeypatch.chdir(tmp_path)

    def make(extensions=(), name="20260101-run", task="Task-v0", **changes):
        model_cfg = {**MODEL, "model_path": str(base), **changes}
        model = build_registered(model_cfg, extensions)
        step_dir = save_run(tmp_path, model, model_cfg, name=name, task=task, extensions=extensions)
        return model.eval(), step_dir

    return make


def export(*arguments):
    return main(["export", *map(str, arguments)])


def act(model):
    actions, result = model.eval().predict_action_batch(env_obs=OBS, mode="eval")
    return torch.as_tensor(actions), result["prev_values"]


def rebuilt(out, **changes):
    return build_registered({**MODEL, "model_path": str(out), **changes})


def assert_equal(ours, theirs):
    """Weights are equal bit for bit; products may round differently where tensors lie at other addresses."""
    assert all(torch.equal(value, theirs.state_dict()[key]) for key, value in ours.state_dict().items())
    for left, right in zip(act(ours), act(theirs), strict=True):
        assert torch.allclose(left, right, atol=1e-6, rtol=0)


def test_exported_directory_is_complete_and_acts_the_same(trained, base, tmp_path, capsys):
    model, _ = trained()
    out = tmp_path / "exported"
    assert export("--checkpoint", "latest", "--out", out) == 0
    again = rebuilt(out)
    assert_equal(again, model)
    assert not torch.allclose(act(rebuilt(base))[0], act(model)[0], atol=1e-2)
    for name in ("chat_template.jinja", "merges.txt", "tokenizer.model", "processor/statistics.json", "tokenizer.json"):
        assert (out / name).read_bytes() == (base / name).read_bytes()
    assert not (out / ".cache").exists() and not (out / "model.safetensors.index.json").exists()
    config = json.loads((out / "config.json").read_text())
    assert (config["architectures"], config["dtype"]) == (["TinyVLAModel"], "float32")
    summary = json.loads((out / "export.json").read_text())
    assert (summary["step"], summary["value_head"], summary["lora_merged"]) == (7, "kept", False)
    assert [path.name for path in tmp_path.glob(".exported*")] == []
    told = capsys.readouterr().out
    assert "keys)" in told and "read back and equal" in told and f"--model_path {out}" in told
    assert "largest relative differences: actions " in told
    assert set(summary["outputs"]) == {"actions", "logprobs", "values"} and max(summary["outputs"].values()) < 1e-5


def test_exported_directory_is_a_model_path(trained, tmp_path):
    from isaaclab_rlinf.backends.cli_args import parse_play_args, parse_train_args
    from isaaclab_rlinf.backends.prepare import prepare_play, prepare_train

    _, step_dir = trained()
    assert export("--checkpoint", step_dir, "--out", tmp_path / "out", "--drop_value_head") == 0
    arguments = ["--config_name", "isaaclab_ppo_tiny_vla_touch_color", "--model_path", "out", "--device", "cpu"]
    for prepared in (prepare_train(parse_train_args(arguments)), prepare_play(parse_play_args(arguments))):
        assert prepared.cfg.rollout.model.model_path == str(tmp_path / "out")


def test_from_pretrained_of_the_plain_model_gives_the_same_actions(trained, tmp_path):
    from isaaclab_rlinf.models.tiny_vla import TinyVLAModel

    model, step_dir = trained()
    assert export("--checkpoint", step_dir, "--out", tmp_path / "out", "--drop_value_head") == 0
    plain = TinyVLAModel.from_pretrained(tmp_path / "out")
    images = {"main_images": OBS["main_images"], "wrist_images": OBS["wrist_images"]}
    inputs = dict(model.processor(images, OBS["task_descriptions"], OBS["states"]))
    actions = model.processor.unnormalize("action", plain.generate_actions(**inputs))
    assert torch.allclose(actions, act(model)[0], atol=1e-6, rtol=0)


def test_dtype_shards_and_dropped_value_head(trained, tmp_path):
    from safetensors import safe_open

    model, step_dir = trained()
    out = tmp_path / "out"
    arguments = ("--dtype", "bf16", "--drop_value_head", "--max_shard_size", "1MB")
    assert export("--checkpoint", step_dir / "actor", "--out", out, *arguments) == 0
    assert json.loads((out / "config.json").read_text())["dtype"] == "bfloat16"
    index = json.loads((out / "model.safetensors.index.json").read_text())
    files = sorted(out.glob("*.safetensors"))
    assert len(files) > 1 and set(index["weight_map"].values()) == {file.name for file in files}
    assert not any("value_head" in key for key in index["weight_map"])
    with safe_open(files[0], "pt") as file:
        assert all(file.get_tensor(key).dtype == torch.bfloat16 for key in file.keys())  # noqa: SIM118
    again = rebuilt(out, precision="bf16").state_dict()
    assert all(
        torch.equal(value, again[key])
        for key, value in model.bfloat16().state_dict().items()
        if "value_head" not in key
    )


def test_lora_is_merged(trained, tmp_path):
    model, step_dir = trained(is_lora=True, lora_rank=4)
    out = tmp_path / "out"
    assert export("--checkpoint", step_dir, "--out", out) == 0
    assert json.loads((out / "export.json").read_text())["lora_merged"] is True
    merged = rebuilt(out)
    assert not any("lora" in key or "base_layer" in key for key in merged.state_dict())
    assert torch.allclose(act(merged)[0], act(model)[0], atol=1e-5)
    assert not torch.allclose(act(rebuilt(bundled_checkpoint()))[0], act(model)[0], atol=1e-3)


class Nested(torch.nn.Module):
    """RLinf wraps a part of openpi's model, not the whole."""

    def __init__(self):
        from peft import LoraConfig, get_peft_model

        super().__init__()
        inner = torch.nn.ModuleDict({"q_proj": torch.nn.Linear(4, 4), "head": torch.nn.Linear(4, 4)})
        inner.forward = lambda x: inner["head"](inner["q_proj"](x))
        config = LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)
        self.parts = torch.nn.ModuleList([torch.nn.Linear(4, 4), get_peft_model(inner, config)])


def test_adapters_of_a_part_are_merged():
    model = Nested()
    x = torch.randn(3, 4)
    expected = model.parts[1](x)
    outcome = merge_adapters(model)
    merged = outcome.model
    assert (outcome.layers, outcome.untied) == (1, ()) and set(merged.state_dict()) == {
        f"parts.{name}.{kind}" for name in ("0", "1.q_proj", "1.head") for kind in ("weight", "bias")
    }
    inner = merged.parts[1]
    assert torch.allclose(inner["head"](inner["q_proj"](x)), expected, atol=1e-5)
    assert merge_adapters(merged) == Merged(merged)


def test_adapters_that_peft_does_not_know_are_refused():
    model = torch.nn.Linear(2, 2)
    model.lora_A = torch.nn.Parameter(torch.zeros(1, 2))
    with pytest.raises(ConfigError, match=r"1 weights of LoRA adapters cannot be merged, first: lora_A"):
        merge_adapters(model)


PLAIN = """
import torch
from pathlib import Path
from rlinf.models import register_model
from rlinf.models.embodiment.base_policy import BasePolicy
from safetensors.torch import load_file

class Plain(torch.nn.Module, BasePolicy):
    forward = BasePolicy.forward
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight
    def default_forward(self, **kwargs): ...
    def predict_action_batch(self, **kwargs): ...

def build(cfg, dtype):
    torch.manual_seed(0)
    model = Plain()
    file = Path(cfg.model_path, "model.safetensors")
    if cfg.get("reads", True) and "first.weight" in (weights := load_file(file)):
        model.load_state_dict(weights)
    return model.to(dtype)

def register():
    register_model("plain_for_export", build, force=True)
"""


@pytest.fixture
def plain_module(tmp_path, monkeypatch):
    name = "plain_model_for_export"
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / f"{name}.py").write_text(PLAIN)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    yield name
    sys.modules.pop(name, None)


def test_plain_module_with_tied_weights_of_an_extension(trained, plain_module, tmp_path):
    model, step_dir = trained(model_type="plain_for_export", extensions=[plain_module])
    out = tmp_path / "out"
    assert export("--checkpoint", step_dir, "--out", out, "--dtype", "fp16") == 0
    again = build_registered({"model_type": "plain_for_export", "model_path": str(out)}, [plain_module])
    assert torch.equal(again.first.weight, model.first.weight.half().float())
    assert again.first.weight is again.second.weight
    assert json.loads((out / "config.json").read_text())["dtype"] == "float16"


def test_a_builder_that_does_not_read_its_weights_is_found_out(trained, plain_module, tmp_path, capsys):
    _, step_dir = trained(model_type="plain_for_export", extensions=[plain_module], reads=False)
    out = tmp_path / "out"
    assert export("--checkpoint", step_dir, "--out", out) == 2
    assert "do not come back" in " ".join(capsys.readouterr().err.split())
    assert not out.exists() and not list(tmp_path.glob(".out*"))
    assert export("--checkpoint", step_dir, "--out", out, "--no_verify") == 0


def test_tied_weights_of_a_transformers_model(tmp_path):
    from transformers import GPT2Config, GPT2LMHeadModel

    from isaaclab_rlinf.workflow.export_files import write_weights

    model = GPT2LMHeadModel(GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=2))
    write_weights(model, tmp_path, drop_value_head=False, max_shard_size="5GB")
    again = GPT2LMHeadModel.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(value, again[key]) for key, value in model.state_dict().items())


def test_mistakes_end_with_code_2_and_leave_nothing(trained, base, tmp_path, capsys):
    _, step_dir = trained()
    out = tmp_path / "out"

    def refused(*arguments):
        assert export(*arguments) == 2
        assert not list(tmp_path.glob(".out*"))
        return " ".join(capsys.readouterr().err.split())

    out.mkdir()
    (out / "mine.txt").write_text("mine")
    assert "never overwritten" in refused("--checkpoint", step_dir, "--out", out)
    assert (out / "mine.txt").read_text() == "mine"
    out = tmp_path / "out2"
    alone = shutil.copy(step_dir / "actor/model_state_dict/full_weights.pt", tmp_path / "full_weights.pt")
    assert "--config" in refused("--checkpoint", alone, "--out", out)
    trained(name="20260102-other", task="Other-v0")
    assert "--task Other-v0 --config_name my_yaml" in refused("--checkpoint", "latest", "--out", out)
    assert "latest" in refused("--checkpoint", step_dir, "--out", out, "--task", "Task-v0")
    weights = step_dir / "actor/model_state_dict/full_weights.pt"
    torch.save({"other": torch.zeros(1)}, weights)
    assert "101 missing" in refused("--checkpoint", step_dir, "--out", out)
    torch.save([torch.zeros(1)], weights)
    assert "holds list" in refused("--checkpoint", step_dir, "--out", out)
    os.truncate(base / "model.safetensors", 500)
    assert "cut short" in refused("--checkpoint", step_dir, "--out", out)
    shutil.rmtree(base)
    assert "--model_path" in refused("--checkpoint", step_dir, "--out", out)
    assert not out.exists()


@pytest.mark.parametrize("size", ["foo", "0GB", "5", "1.GB", "-1MB"])
def test_a_size_that_is_none_is_a_usage_error(size, capsys):
    with pytest.raises(SystemExit, match="2"):
        export("--checkpoint", "latest", "--out", "out", f"--max_shard_size={size}")
    assert f"{size!r} is not a size" in capsys.readouterr().err


def test_importing_the_command_is_light():
    import subprocess

    code = (
        "import sys, isaaclab_rlinf.workflow.export_cli;"
        "print([m for m in ('torch', 'transformers', 'rlinf', 'omegaconf') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
