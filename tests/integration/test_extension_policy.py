# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A policy registered by a user's own module trains, and its wrong log-probabilities are noticed in the first step."""

import math
from pathlib import Path

import pytest
from commands import SMALL, TASK_YAML, metrics, run, run_directory

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def test_faulty_policy_of_an_extension_trains_with_a_warning(tmp_path):
    model = tmp_path / "toy_model"
    model.mkdir()
    ended = run(
        "train", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--max_iterations", "1", *SMALL,
        "--model_path", str(model), "actor.model.model_type=toy_gaussian", "++extensions=[toy_policy]",
        cwd=tmp_path, PYTHONPATH=str(Path(__file__).parent), TOY_LOGPROB_ERROR="0.01",
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    error = metrics(run_directory(tmp_path))[0]["train/actor/initial_ratio_error"]
    # The YAML's log-probabilities are those of whole chunks: eight actions of three joints.
    assert error == pytest.approx(math.exp(0.01 * 8 * 3) - 1, rel=0.01)
    assert f"mean |ratio - 1| = {error:.3g}" in ended.out
