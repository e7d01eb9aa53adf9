# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import json
import math

from isaaclab_rlinf.backends.best import EVALUATED, TRAINED, CheckpointScores
from isaaclab_rlinf.checkpoints import BEST_FILENAME


def written(run_dir):
    return json.loads((run_dir / BEST_FILENAME).read_text())


def test_evaluated_checkpoints_are_scored_by_their_evaluation_only(tmp_path):
    scores = CheckpointScores(tmp_path, weight_sync_interval=1)
    scores.saved(tmp_path / "checkpoints/global_step_10", 10, 0.9)
    scores.saved(tmp_path / "checkpoints/global_step_20", 20, 0.8)
    scores.played(20, 0.99)  # Sampled success of training is another quantity.
    assert written(tmp_path) == {"step_dir": "checkpoints/global_step_10", "metric": EVALUATED, "value": 0.9}


def test_of_equal_scores_the_later_is_kept(tmp_path):
    scores = CheckpointScores(tmp_path, weight_sync_interval=1)
    scores.saved(tmp_path / "global_step_10", 10, 0.96)
    scores.saved(tmp_path / "global_step_20", 20, 0.96)
    assert scores.best.step_dir == "global_step_20"


def test_without_evaluations_the_step_that_plays_the_weights_scores(tmp_path):
    scores = CheckpointScores(tmp_path, weight_sync_interval=1)
    scores.saved(tmp_path / "global_step_2", 2, None)
    scores.played(1, 0.9)  # the step that made these weights played the ones before
    assert scores.best is None
    scores.played(2, 0.7)
    assert written(tmp_path) == {"step_dir": "global_step_2", "metric": TRAINED, "value": 0.7}


def test_weights_that_are_never_played_get_no_score(tmp_path):
    scores = CheckpointScores(tmp_path, weight_sync_interval=4)
    scores.saved(tmp_path / "global_step_6", 6, None)
    scores.played(6, 1.0)  # still plays the weights of step 4
    assert scores.best is None
    scores.saved(tmp_path / "global_step_8", 8, None)
    scores.played(8, 0.5)
    assert scores.best.step_dir == "global_step_8"


def test_no_finished_episode_is_no_score(tmp_path):
    scores = CheckpointScores(tmp_path, weight_sync_interval=1)
    scores.saved(tmp_path / "global_step_10", 10, math.nan)
    assert scores.best is None
    assert not (tmp_path / BEST_FILENAME).exists()
