# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Train, resume and evaluate as a user does: real simulator, real RLinf, real Ray, the shipped model and task."""

import json

import pytest
import torch
from commands import EVALUATED, SMALL, TASK_YAML, assert_clean, evaluated_steps, metrics, run, run_directory

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("train")


@pytest.fixture(scope="module")
def trained(place):
    """Two steps from the base."""
    ended = run(
        "train", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--max_iterations", "2", "--seed", "5", *SMALL,
        *EVALUATED, cwd=place,
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    return ended, run_directory(place)


@pytest.fixture(scope="module")
def resumed(place, trained):
    """Two more steps from there."""
    ended = run(
        "train", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--max_iterations", "2", "--seed", "5",
        "--checkpoint", "latest", *SMALL, *EVALUATED, cwd=place,
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    return ended, run_directory(place)


def weights(run_dir, step):
    return run_dir / f"touch_color/checkpoints/global_step_{step}/actor/model_state_dict/full_weights.pt"


def trainer_state(run_dir, step):
    return json.loads((weights(run_dir, step).parents[1] / "trainer_state.json").read_text())


def optimizer_state(run_dir, step):
    """Adam's step counter and second moment of one parameter, as saved."""
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

    source = weights(run_dir, step).parents[1] / "dcp_checkpoint"
    target = run_dir / f"state_{step}.pt"
    dcp_to_torch_save(source, target)
    state = torch.load(target, weights_only=False)["fsdp_checkpoint"]
    name, values = next((n, v) for n, v in state["optimizers"]["state"].items() if "action_out.weight" in n)
    return name, values, state["lr_schedulers"][0]


def test_export_of_a_trained_checkpoint_reads_back(place, trained, monkeypatch, capsys):
    from safetensors.torch import load_file

    from isaaclab_rlinf.cli import main

    monkeypatch.chdir(place)
    step_dir = weights(trained[1], 2).parents[2]
    assert main(["export", "--checkpoint", str(step_dir), "--out", "exported"]) == 0
    assert "read back and equal" in capsys.readouterr().out
    written, saved = load_file(place / "exported/model.safetensors"), torch.load(weights(trained[1], 2))
    assert written.keys() == saved.keys()
    assert all(torch.equal(value, saved[key]) for key, value in written.items())


def test_one_line_per_step_and_the_places_of_all_outputs(trained):
    ended, run_dir = trained
    lines = [line for line in ended.out.splitlines() if line.startswith("step ")]
    assert [line.split(" | ")[0] for line in lines] == ["step 1/2", "step 2/2"]
    for word in ("success", "return", "env steps/s", "ETA"):
        assert word in lines[0]
    for place in ("touch_color/checkpoints", "learning_curve.png", "tensorboard", "metrics.jsonl", "rlinf.log"):
        assert str(run_dir / place) in ended.out
        assert (run_dir / place).exists()


def test_run_directory_is_complete(trained):
    _, run_dir = trained
    manifest = json.loads((run_dir / "run.json").read_text())
    assert (manifest["library"], manifest["task"]) == ("rlinf", "Isaac-Touch-Color-Arm3-v0")
    assert (run_dir / "params" / "resolved.yaml").is_file()
    assert list((run_dir / "tensorboard").glob("**/events.*"))


def test_evaluated_before_training_and_at_its_end(trained, resumed):
    ended, run_dir = trained
    assert evaluated_steps(run_dir) == [0, 2]
    assert "Before step 1: evaluated success" in ended.out
    assert "Evaluated success: base" in ended.out
    best = json.loads((run_dir / "best_checkpoint.json").read_text())
    assert (best["metric"], best["step_dir"]) == ("eval/success_once", "touch_color/checkpoints/global_step_2")
    # What is resumed from was evaluated when it was made; its numbers belong to the resumed run's progress.
    assert evaluated_steps(resumed[1]) == [4]
    assert "Evaluated success: base" in resumed[0].out


def test_ratio_is_one_before_the_first_update(trained):
    ended, run_dir = trained
    for record in metrics(run_dir):
        assert record["train/actor/initial_ratio_error"] < 1e-4
    assert "PPO's ratio" not in ended.out


def test_training_changed_the_weights(trained, resumed):
    before = torch.load(weights(trained[1], 2), weights_only=True)
    after = torch.load(weights(resumed[1], 4), weights_only=True)
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[key], after[key]) for key in before)


def test_resume_continues_counters_and_optimizer(trained, resumed):
    ended, run_dir = resumed
    assert [record["step"] for record in metrics(run_dir)] == [3, 4]
    assert "step 2, 4 optimizer steps" in ended.out
    assert trainer_state(trained[1], 2)["optimizer_steps"] == 4
    assert trainer_state(run_dir, 4)["optimizer_steps"] == 8
    name, early, early_scheduler = optimizer_state(trained[1], 2)
    same_name, late, late_scheduler = optimizer_state(run_dir, 4)
    assert name == same_name
    # RLinf's empty first optimizer step counts once, in the first run only.
    assert (float(early["step"]), float(late["step"])) == (5.0, 9.0)
    assert late_scheduler["last_epoch"] == early_scheduler["last_epoch"] + 2
    assert not torch.equal(early["exp_avg_sq"], late["exp_avg_sq"])


def test_play_counts_episodes_exactly_and_says_which_weights(place, resumed):
    _, run_dir = resumed
    ended = run(
        "play", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--checkpoint", "latest", "--num_episodes", "7",
        "--num_envs", "4", "--video",
        cwd=place,
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    eval_dir = run_directory(place, "rlinf/eval")
    content = json.loads((eval_dir / "metrics.json").read_text())
    assert content["episodes"] == content["requested_episodes"] == 7
    assert content["weights"]["file"] == str(weights(run_dir, 4))
    assert content["weights"]["matched_keys"] == content["weights"]["model_keys"] > 0
    assert content["success_rate_95"][0] <= content["success_rate"] <= content["success_rate_95"][1]
    assert f"Weights: {weights(run_dir, 4)}" in ended.out
    videos = list((eval_dir / "videos").glob("**/*.mp4"))
    assert len(videos) == 1, "one for both rounds of the evaluation"
    assert str(videos[0]) in ended.out
    assert shown_frames(videos[0]) > 20


def shown_frames(video):
    import av

    with av.open(str(video)) as container:
        return sum(1 for _ in container.decode(video=0))


def test_nothing_is_left_running(place, trained, resumed):
    assert_clean(place)
