# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Where a run starts: the flag and the YAML's two keys mean the same; what does not fit is told before it starts."""

import json
import os
import shutil
from pathlib import Path

import pytest
import torch

from isaaclab_rlinf.backends.cli_args import parse_play_args, parse_train_args
from isaaclab_rlinf.backends.prepare import prepare_play, prepare_train
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.models.inspect import read_json
from isaaclab_rlinf.models.tiny_vla_shapes import expected_shapes

YAML = "isaaclab_ppo_tiny_vla_touch_color"
TASK = "Isaac-Touch-Color-Arm3-v0"


def weights_of_base(**changes) -> dict[str, torch.Tensor]:
    shapes = expected_shapes(read_json(bundled_checkpoint() / "config.json") | changes)
    return {name: torch.zeros(shape) for name, shape in shapes.items()} | {"value_head.mlp.0.weight": torch.zeros(2, 2)}


def write_step(run: Path, step: int, state: dict | None = None) -> Path:
    """Write a resumable checkpoint, and the manifest of its run."""
    from torch.distributed import checkpoint

    step_dir = run / f"touch_color/checkpoints/global_step_{step}"
    (step_dir / "actor/model_state_dict").mkdir(parents=True)
    torch.save(state or weights_of_base(), step_dir / "actor/model_state_dict/full_weights.pt")
    checkpoint.save({"a": torch.zeros(9)}, checkpoint_id=step_dir / "actor/dcp_checkpoint", no_dist=True)
    (step_dir / "actor/trainer_state.json").write_text(json.dumps({"optimizer_steps": 8, "step": step}))
    manifest = {"version": 1, "library": "rlinf", "task": TASK, "created_at": "2026-01-01T00:00:00+00:00"}
    (run / "run.json").write_text(json.dumps({**manifest, "metadata": {"config_name": YAML}}))
    return step_dir


@pytest.fixture
def step_dir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "logs"))
    return write_step(tmp_path / "logs/rlinf/20260101-run", 4)


def train(*arguments):
    return prepare_train(parse_train_args(["--config_name", YAML, "--device", "cpu", *map(str, arguments)]))


def play(*arguments):
    return prepare_play(parse_play_args(["--config_name", YAML, "--device", "cpu", *map(str, arguments)]))


def issues(prepare, *arguments):
    with pytest.raises(ConfigError) as error:
        prepare(*arguments)
    return error.value.issues


FORMS = {
    "absolute": lambda step: str(step),
    "relative": lambda step: os.path.relpath(step),
    "with slash": lambda step: f"{step}/",
    "home": lambda step: f"'~/{step.relative_to(Path.home())}'",
    "file": lambda step: str(step / "actor/model_state_dict/full_weights.pt"),
    "run": lambda step: str(step.parents[2]),
    "latest": lambda step: "latest",
}


@pytest.mark.parametrize("form", FORMS)
def test_resume_dir_is_resolved_as_checkpoint_is(step_dir, form):
    by_key = train(f"runner.resume_dir={FORMS[form](step_dir)}")
    by_flag = train("--checkpoint", step_dir)
    assert by_key.cfg == by_flag.cfg
    assert by_key.cfg.runner.resume_dir == str(step_dir)
    assert by_key.checkpoint == by_flag.checkpoint
    assert by_key.cfg.env.train.seed != train().cfg.env.train.seed


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("prepare", [train, play])
def test_ckpt_path_is_resolved_too(step_dir, form, prepare):
    run = prepare(f"runner.ckpt_path={FORMS[form](step_dir)}")
    assert run.cfg.runner.ckpt_path == str(step_dir / "actor/model_state_dict/full_weights.pt")
    assert run.cfg.runner.get("resume_dir") is None


def test_mistakes_name_the_key(step_dir):
    (issue,) = issues(train, f"runner.resume_dir={step_dir}", "runner.max_epochs=4")
    assert issue.where == "runner.resume_dir" and "ends at step 4" in issue.found
    for prepare, key in ((train, "resume_dir"), (train, "ckpt_path"), (play, "ckpt_path")):
        (issue,) = issues(prepare, f"runner.{key}=no/where")
        assert issue.where == f"runner.{key}" and "does not exist" in issue.found
    shutil.rmtree(step_dir / "actor")
    (step_dir / "actor").mkdir()
    for key in ("resume_dir", "ckpt_path"):
        (issue,) = issues(train, f"runner.{key}={step_dir}")
        assert issue.where == f"runner.{key}" and "half-written" in issue.found


def test_what_is_not_read_is_told(step_dir):
    run = play(f"runner.resume_dir={step_dir}")
    assert run.checkpoint is None and run.cfg.runner.resume_dir is None
    assert any(notice.startswith("runner.resume_dir:") and "--checkpoint" in notice for notice in run.notices)
    run = train("--checkpoint", step_dir, f"runner.ckpt_path={step_dir}", "runner.resume_dir=elsewhere")
    assert run.cfg.runner.ckpt_path is None and run.cfg.runner.resume_dir == str(step_dir)
    told = [notice for notice in run.notices if "is not read" in notice]
    assert len(told) == 2
    assert any("runner.ckpt_path" in notice for notice in play("--checkpoint", step_dir, "runner.ckpt_path=x").notices)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda step: os.truncate(step / "actor/dcp_checkpoint/__0_0.distcp", 10), "is cut short"),
        (lambda step: (step / "actor/trainer_state.json").write_text("{"), "trainer_state.json"),
        (lambda step: (step / "actor/dcp_checkpoint/.metadata").write_bytes(b"version"), "cannot be read"),
        (lambda step: (step / "actor/dcp_checkpoint/.metadata").unlink(), "lacks actor/dcp_checkpoint"),
    ],
)
def test_a_damaged_state_to_resume_from_is_refused(step_dir, damage, found):
    damage(step_dir)
    (issue,) = issues(train, "--checkpoint", step_dir)
    assert issue.where == "--checkpoint" and found in issue.found


ADAPTERS = {"base_model.model.action_head.layers.0.q_proj.lora_A.default.weight": torch.zeros(8, 4)}


@pytest.mark.parametrize(
    ("content", "arguments", "found", "fix"),
    [
        ([torch.zeros(1)], (), "holds list", ""),
        ({"a": 3}, (), "hold no tensor", ""),
        (weights_of_base(action_dim=7), (), "does not fit the base model", "--model_path"),
        ({"other": torch.zeros(1)}, (), "101 missing", "--model_path"),
        ({**weights_of_base(), **ADAPTERS}, (), "1 weights of LoRA adapters, but is_lora is false", "lora_rank: 8"),
        (
            weights_of_base(),
            ("actor.model.is_lora=true", "+actor.model.lora_rank=8"),
            "no LoRA adapters, but is_lora is true",
            "is_lora: false",
        ),
        (
            {**weights_of_base(), **ADAPTERS},
            ("actor.model.is_lora=true", "+actor.model.lora_rank=4"),
            "adapters of rank 8, but lora_rank is 4",
            "lora_rank: 8",
        ),
    ],
)
@pytest.mark.parametrize("prepare", [train, play])
def test_weights_of_another_model_are_refused_before_anything_starts(step_dir, prepare, content, arguments, found, fix):
    torch.save(content, step_dir / "actor/model_state_dict/full_weights.pt")
    (issue,) = issues(prepare, "--checkpoint", step_dir, *arguments)
    assert issue.where == "--checkpoint" and found in issue.found and fix in issue.fix


def test_paths_of_models_are_absolute_for_workers_that_run_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    keys = ["+actor.model.backbone_model_path='~/backbone'", "+actor.model.lora_path=adapters/one/two"]
    for run in (train(*keys), play(*keys)):
        assert run.cfg.rollout.model.backbone_model_path == "/home/me/backbone"
        assert run.cfg.rollout.model.lora_path == str(tmp_path / "adapters/one/two")
    assert (
        train("+actor.model.backbone_model_path=Qwen/Qwen3-VL").cfg.actor.model.backbone_model_path == "Qwen/Qwen3-VL"
    )
    (tmp_path / "Qwen/Qwen3-VL").mkdir(parents=True)
    run = train("+actor.model.backbone_model_path=Qwen/Qwen3-VL")
    assert run.cfg.actor.model.backbone_model_path == str(tmp_path / "Qwen/Qwen3-VL")


def test_a_rollout_model_of_its_own_is_checked_and_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (issue,) = issues(train, "++rollout.model.model_path=no/where")
    assert issue.where == "rollout.model.model_path" and "does not exist" in issue.found
    assert "--model_path" in issue.fix
    other = shutil.copytree(bundled_checkpoint(), tmp_path / "other")
    other_setup = ("+actor.model.policy_setup=one", "++rollout.model.policy_setup=two")
    run = train(f"++rollout.model.model_path={other}", *other_setup)
    told = "\n".join(run.notices)
    assert f"rollout.model.model_path: {other} differs from" in told and "rollout.model.policy_setup: 'two'" in told
    assert "not read by play" in "\n".join(play(f"++rollout.model.model_path={other}").notices)
    os.truncate(other / "model.safetensors", 1000)
    (issue,) = issues(train, f"++rollout.model.model_path={other}")
    assert issue.where == "rollout.model.model_path" and "cut short" in issue.found
    (issue,) = issues(train, "++rollout.model.rl_head_config={noise_level: 0.9}")
    assert issue.where == "rollout.model.rl_head_config"


@pytest.mark.parametrize("prepare", [train, play])
def test_a_training_checkpoint_given_as_base_gets_the_hint_that_its_file_gets(step_dir, prepare):
    for place in (step_dir, step_dir / "actor", step_dir / "actor/model_state_dict"):
        (issue,) = issues(prepare, "--model_path", place)
        assert (
            "--checkpoint" in f"{issue.found} {issue.fix}" and "isaaclab-rlinf export" in f"{issue.found} {issue.fix}"
        )
