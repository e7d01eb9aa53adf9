# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A training that does not learn is stopped, and says by which number, in which step, and where to go back."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest

from isaaclab_rlinf.backends.health import (
    SKIPPED_IN_A_ROW,
    SKIPPED_UPDATES,
    UPDATES,
    LearningFailedError,
    LearningHealth,
    describe_fault,
    last_checkpoint,
)

SOUND = {"actor/policy_loss": 0.1, "critic/value_loss": 0.2, "actor/grad_norm": 1.0, UPDATES: 4, SKIPPED_UPDATES: 0}
NAN = math.nan


@pytest.mark.parametrize("legitimate", [{}, {"critic/explained_variance": NAN}, {"actor/ratio": math.inf}])
def test_a_step_that_learned(legitimate):
    health = LearningHealth()
    assert health.fault({**SOUND, **legitimate}) is None
    assert health.conclusion() is None


@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["actor/policy_loss", "critic/value_loss", "actor/total_loss", "sac/critic_loss"])
def test_a_loss_that_is_not_finite(name, value):
    fault = LearningHealth().fault({**SOUND, name: value, "actor/grad_norm": NAN, SKIPPED_UPDATES: 1})
    assert fault == f"train/{name} is {value}; 1 of 4 updates were skipped"


def test_a_gradient_that_is_not_finite():
    assert LearningHealth().fault({**SOUND, "actor/grad_norm": NAN}) == "train/actor/grad_norm is nan"
    assert "critic/grad_norm" in LearningHealth().fault({**SOUND, "critic/grad_norm": math.inf})


def test_a_gradient_scaler_finds_its_scale_but_not_for_ever():
    health, searching = LearningHealth(gradients_are_scaled=True), {**SOUND, "actor/grad_norm": math.inf}
    searching[SKIPPED_UPDATES] = 4
    assert [health.fault(searching) for _ in range(3)] == [None] * 3
    assert "all 12 updates were skipped" in health.conclusion()
    assert health.fault({**searching, SKIPPED_UPDATES: 3}) is None
    assert health.conclusion() is None
    faults = [health.fault(searching) for _ in range(SKIPPED_IN_A_ROW // 4 + 1)]
    assert faults[:-1] == [None] * (SKIPPED_IN_A_ROW // 4)
    assert f"none of the last {SKIPPED_IN_A_ROW + 2} updates was applied" in faults[-1]
    assert health.fault({**searching, "actor/policy_loss": NAN}).startswith("train/actor/policy_loss")


@pytest.mark.parametrize(
    ("metrics", "cause"),
    [
        ({"rollout/rewards": NAN, "rollout/advantages_mean": NAN}, "the task's reward terms"),
        ({"rollout/rewards": 0.0, "rollout/returns_mean": NAN, "rollout/advantages_mean": NAN}, "the value head"),
        ({"rollout/rewards": 0.0, "rollout/advantages_mean": NAN}, "fewer than two valid samples"),
        ({"rollout/rewards": 0.0, "rollout/advantages_mean": 0.0}, "a learning rate that is too high"),
    ],
)
def test_the_cause_is_where_the_first_number_went_wrong(metrics, cause, tmp_path):
    text = describe_fault(7, "train/actor/grad_norm is nan", metrics, tmp_path / "global_step_5")
    assert text.startswith("step 7: train/actor/grad_norm is nan")
    assert cause in text
    assert f"--checkpoint {tmp_path / 'global_step_5'}" in text
    assert "none was written yet" in describe_fault(7, "it", metrics, None)


def test_the_checkpoint_to_go_back_to(tmp_path):
    assert last_checkpoint(tmp_path, None) is None
    assert str(last_checkpoint(tmp_path, "other/global_step_3")) == "other/global_step_3"
    for name in ("global_step_9", "global_step_10", ".global_step_11.partial"):
        (tmp_path / name).mkdir()
    assert last_checkpoint(tmp_path, "other/global_step_3") == tmp_path / "global_step_10"


# --- in the runner


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """The training runner without RLinf's cluster; ``runner.training`` is what its actor measures."""
    from isaaclab_rlinf.backends.train_runner import AtomicCheckpointRunner, TrainRunner

    saved = []
    monkeypatch.setattr(
        AtomicCheckpointRunner, "_maybe_eval_and_checkpoint", lambda self, step: saved.append(step) or {}
    )
    runner = object.__new__(TrainRunner)
    runner.saved, runner.lines, runner.training = saved, [], dict(SOUND)
    answer = SimpleNamespace(wait=lambda: [runner.training, runner.training])
    runner.actor = SimpleNamespace(last_training_metrics=lambda: answer)
    runner.cfg = SimpleNamespace(
        runner=SimpleNamespace(
            get=lambda key, default: str(tmp_path / "before/global_step_4"),
            logger=SimpleNamespace(log_path=str(tmp_path), experiment_name="it"),
        )
    )
    runner._health, runner._fault, runner._run_dir = LearningHealth(), None, tmp_path
    runner._console = SimpleNamespace(line=runner.lines.append)
    runner.scores = SimpleNamespace(played=lambda step, success: None)
    runner.env_steps_per_step, runner._env_steps_before, runner._first_step, runner._ratio_warned = 10, 0, 0, False
    return runner


def step(runner, index, **metrics):
    runner._maybe_eval_and_checkpoint(index)
    training = {f"train/{name}": value for name, value in runner.training.items()}
    runner.print_metrics_table_async(index, 9, 0.0, {**training, "time/step": 1.0, **metrics})


def records(runner):
    lines = (runner._run_dir / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


def test_numbers_that_are_not_finite_stay_in_the_record(runner):
    step(runner, 0, **{"env/success_once": NAN, "env/num_trajectories": 0.0, "rollout/x": math.inf, "note": "text"})
    (record,) = records(runner)
    assert (record["env/success_once"], record["rollout/x"], record["train/actor/policy_loss"]) == (None, None, 0.1)
    assert "note" not in record
    assert "| success - (no episode ended) | return - |" in runner.lines[0]
    assert "nan" not in runner.lines[0]


def test_a_run_is_stopped_before_it_saves_and_after_it_records(runner):
    step(runner, 0)
    runner.training = {**SOUND, "actor/policy_loss": NAN, SKIPPED_UPDATES: 4}
    with pytest.raises(LearningFailedError) as error:
        step(runner, 1, **{"rollout/advantages_mean": NAN})
    assert runner.saved == [0]
    assert records(runner)[1]["train/actor/policy_loss"] is None
    text = str(error.value)
    assert text.startswith("step 2: train/actor/policy_loss is nan; 4 of 4 updates were skipped")
    assert "before/global_step_4" in text
    (runner._run_dir / "it/checkpoints/global_step_1").mkdir(parents=True)
    with pytest.raises(LearningFailedError, match="it/checkpoints/global_step_1"):
        step(runner, 2)


def test_a_learning_failure_ends_with_code_1_and_without_a_traceback(tmp_path):
    from isaaclab_rlinf.backends.session import run_guarded

    lines = []
    console = SimpleNamespace(line=lines.append, end_told=False, log_file=tmp_path / "rlinf.log")

    def body():
        raise LearningFailedError("step 2: it")

    assert run_guarded(console, body) == 1
    assert "[ERROR] step 2: it" in lines[0]
    assert "Traceback" not in "".join(lines)
