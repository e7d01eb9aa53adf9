# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import json

import pytest
import torch

from isaaclab_rlinf.backends.episodes import summarize_episodes, write_metrics
from isaaclab_rlinf.backends.statistics import wilson_interval


def results(env_index, success, **more):
    count = len(env_index)
    return {
        "env_index": torch.tensor(env_index).float(),
        "success_once": torch.tensor(success).float(),
        "return": torch.ones(count),
        "episode_len": torch.arange(count).float(),
        **{name: torch.tensor(value).float() for name, value in more.items()},
    }


def test_exactly_the_requested_episodes_count_whatever_their_order():
    # Three environments, two epochs, five episodes asked for: environment 2's second episode is surplus, although
    # it finished before others did.
    order = [2, 0, 1, 2, 1, 0]
    summary = summarize_episodes(results(order, [0, 0, 0, 1, 0, 0]), requested=5, environments=3)
    assert (summary.episodes, summary.successes, summary.unfinished) == (5, 0, 0)


def test_unfinished_episodes_are_counted_as_such():
    summary = summarize_episodes(results([0, 1, 0], [1, 1, 0]), requested=6, environments=3)
    assert (summary.episodes, summary.unfinished) == (3, 3)


def test_nothing_finished_gives_no_rate():
    summary = summarize_episodes({}, requested=4, environments=4)
    assert summary.episodes == 0
    assert summary.unfinished == 4


def test_success_per_instruction():
    summary = summarize_episodes(results([0, 1, 2, 3], [1, 0, 1, 1], instruction=[0, 0, 2, 2]), 4, 4, ("red", "green"))
    assert summary.per_instruction == {"red": (0.5, 2), "instruction 2": (1.0, 2)}


def test_metrics_file_has_what_a_reader_needs(tmp_path):
    file = tmp_path / "metrics.json"
    summary = summarize_episodes(results([0, 1], [1, 0]), requested=2, environments=2)
    write_metrics(file, summary, task="T", weights={"file": "w.pt", "checkpoint": True})
    content = json.loads(file.read_text())
    assert content["episodes"] == 2
    assert content["success_rate"] == 0.5
    assert content["success_rate_95"][0] < 0.5 < content["success_rate_95"][1]
    assert content["weights"]["file"] == "w.pt"


@pytest.mark.parametrize(
    ("successes", "episodes", "expected"),
    # Values from R: prop.test(x, n, correct = FALSE)$conf.int
    [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (181, 200, (0.8565, 0.9383))],
)
def test_wilson_interval(successes, episodes, expected):
    assert wilson_interval(successes, episodes) == pytest.approx(expected, abs=5e-4)
