# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.7 in the real pipeline, on the CPU: checked, trained, saved, resumed, played. Only its size is unreal."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from commands import SMALL, metrics, processes_of, run, run_directory

pytestmark = pytest.mark.integration

TASK_YAML = "isaaclab_ppo_gr00t_n1d7_touch_color"
EXPERIMENT = "touch_color_gr00t"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("gr00t")


@pytest.fixture(scope="module")
def model(place):
    """The checkpoint as the script makes it."""
    script = Path(__file__).parents[2] / "scripts" / "make_tiny_gr00t_n1d7.py"
    subprocess.run([sys.executable, str(script), "--out", str(place / "model")], check=True, capture_output=True)
    return place / "model"


@pytest.fixture(scope="module")
def trained(place, model):
    ended = run(
        "train", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--model_path", str(model),
        "--max_iterations", "2", "--seed", "5", *SMALL,
        cwd=place,
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    return ended, run_directory(place)


def weights(run_dir, step):
    return run_dir / f"{EXPERIMENT}/checkpoints/global_step_{step}/actor/model_state_dict/full_weights.pt"


def test_training_says_which_implementation_and_starts_at_ratio_one(trained):
    ended, run_dir = trained
    assert "auto takes lerobot" in ended.out + ended.err
    assert [record["step"] for record in metrics(run_dir)] == [1, 2]
    assert all(record["train/actor/initial_ratio_error"] < 1e-4 for record in metrics(run_dir))


def test_training_changes_the_action_head_and_leaves_the_towers(trained, model):
    from safetensors.torch import load_file

    before, after = load_file(model / "model.safetensors"), torch.load(weights(trained[1], 2), weights_only=True)
    changed = {key for key, value in before.items() if not torch.equal(value, after[key])}
    assert any(key.startswith("action_head.model.") for key in changed)
    assert not any(key.startswith("backbone.") for key in changed)
    assert (
        {key for key in after if key not in before} == {key for key in after if key.startswith("value_head.")} != set()
    )


def test_play_evaluates_the_trained_weights(place, model, trained):
    ended = run(
        "play", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--model_path", str(model),
        "--checkpoint", "latest", "--num_episodes", "4", "--num_envs", "4",
        cwd=place,
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    content = json.loads((run_directory(place, "rlinf/eval") / "metrics.json").read_text())
    assert content["episodes"] == 4
    assert content["weights"]["file"] == str(weights(trained[1], 2))
    assert content["weights"]["matched_keys"] == content["weights"]["model_keys"] > 0
    assert processes_of(place) == []


@pytest.mark.slow
def test_resume_continues_counters(place, model, trained):
    ended = run(
        "train", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--model_path", str(model),
        "--max_iterations", "2", "--seed", "5", "--checkpoint", "latest", *SMALL,
        cwd=place,
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    run_dir = run_directory(place)
    assert [record["step"] for record in metrics(run_dir)] == [3, 4]
    state = json.loads((weights(run_dir, 4).parents[1] / "trainer_state.json").read_text())
    assert state["optimizer_steps"] == 8
