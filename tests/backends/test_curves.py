# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import json
import math

import pytest

from isaaclab_rlinf.backends import curves
from isaaclab_rlinf.run_lineage import MANIFEST_FILENAME, resumed_from


def write_run(root, name, records, step_dir=None, tail=""):
    run = root / name
    (run / "checkpoints").mkdir(parents=True)
    metadata = resumed_from(step_dir, run) if step_dir else {}
    (run / MANIFEST_FILENAME).write_text(json.dumps({"metadata": metadata}))
    (run / curves.METRICS_FILENAME).write_text("".join(json.dumps(record) + "\n" for record in records) + tail)
    return run


def trained(step, success=0.5, **more):
    return {"step": step, "env_steps": 100 * step, "env/success_once": success, "env/return": 1.0, **more}


def evaluated(success, episodes=50):
    return {"eval/success_once": success, "eval/num_trajectories": episodes}


@pytest.fixture
def resumed(tmp_path):
    first = write_run(
        tmp_path,
        "first",
        [{"step": 0, "env_steps": 0, **evaluated(0.64)}, trained(1), trained(2, **evaluated(0.7)), trained(3, 0.1)],
    )
    return write_run(
        tmp_path, "second", [trained(3), trained(4, **evaluated(0.94))], first / "checkpoints/global_step_2"
    )


def test_history_goes_back_to_the_beginning_and_leaves_out_what_was_abandoned(resumed):
    history = curves.read_history(resumed)
    assert [record["step"] for record in history] == [0, 1, 2, 3, 4]
    assert history[3]["env/success_once"] == 0.5  # not the 0.1 of the step that was not gone on from


def test_progress_is_told_from_the_base_to_the_last_evaluation(resumed):
    text = curves.describe_progress(curves.read_history(resumed))
    assert text.startswith(
        "Evaluated success: base 0.640 -> 0.940 (95 % interval 0.838 to 0.979, 50 episodes) at step 4"
    )
    assert "best" not in text


def test_a_better_evaluation_before_the_last_is_named():
    records = [trained(0, **evaluated(0.6)), trained(10, **evaluated(0.9)), trained(20, **evaluated(0.8))]
    assert curves.describe_progress(records).endswith("at step 20; best 0.900 at step 10")


def test_one_evaluation_is_no_progress():
    assert curves.describe_progress([trained(0, **evaluated(0.6)), trained(10)]) is None


def test_an_evaluation_without_a_finished_episode_does_not_count():
    assert curves.evaluations([trained(0, **evaluated(0.0, episodes=0)), trained(1, **evaluated(math.nan))]) == []


def test_numbers_that_were_not_finite_and_a_torn_last_line(tmp_path):
    run = write_run(tmp_path, "run", [trained(1, None)], tail='{"step": 2, "env')
    (record,) = curves.read_metrics(run / curves.METRICS_FILENAME)
    assert math.isnan(record["env/success_once"])


def test_the_picture_shows_evaluations_and_the_resume(resumed, monkeypatch):
    drawn = {}
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, *_, **__: drawn.update(figure=figure))
    assert curves.draw_learning_curve(resumed, resumed / "curve.png") == resumed / "curve.png"
    axes = drawn["figure"].axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any(label.startswith("evaluation, 50 episodes") for label in labels)
    assert "resumed at step 2" in labels
    (points,) = [c for c in axes.containers if c.get_label().startswith("evaluation")]
    assert list(points.lines[0].get_ydata()) == [0.64, 0.7, 0.94]
    assert list(points.lines[0].get_xdata()) == [0.0, 0.2, 0.4]


def test_a_run_without_a_step_has_no_picture(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    assert curves.draw_learning_curve(run, run / "curve.png") is None
