# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""`isaaclab-rlinf init` on a direct-workflow task of an external module, then `check` until it passes, `--sim` too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.slow]

COMMAND = str(Path(sys.executable).with_name("isaaclab-rlinf"))
BLOCKS = ("env.train.isaaclab", "env.eval.isaaclab")
# words that the bundled checkpoint knows: others are refused
DECISIONS = [
    f"{block}.{decision}"
    for block in BLOCKS
    for decision in ("task_description='touch the red ball'", "success={reward_above: 0.5}")
]


def command(directory: Path, *arguments: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [COMMAND, *arguments], cwd=directory, capture_output=True, text=True, timeout=400, env=env, check=False
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("init")
    task = ["--task", "Test-Direct-Arm-v0", "--extension", "direct_task"]
    ended = command(directory, "init", *task, "--model_path", "bundled", "--out", "config/arm.yaml")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "3 left for you to decide" in ended.stdout
    return directory


def test_check_names_exactly_what_is_left(directory):
    ended = command(directory, "check", "--config_name", "arm", "--device", "cpu")
    assert ended.returncode == 2 and "3 problems" in ended.stderr, ended.stderr
    for key in ("task_description", "wrist_images", "success"):
        assert f"env.train.isaaclab.{key} (line" in ended.stderr
    ended = command(directory, "check", "--config_name", "arm", "--device", "cpu", *DECISIONS)
    assert ended.returncode == 2 and "1 problem;" in ended.stderr, "the task has no second camera for the checkpoint"


def test_with_decisions_made_the_simulator_shows_the_rest(directory):
    # One camera and a checkpoint with two views do not go together; a policy of RLinf's that reads states does.
    fits = [f"{block}.wrist_images=null" for block in BLOCKS] + ["actor.model.model_type=mlp_policy"]
    sim = ["check", "--config_name", "arm", "--sim", "--out", "look", "--num_envs", "1"]
    ended = command(directory, *sim, *DECISIONS, *fits)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "camera (64 x 64 x 3 uint8)" in ended.stdout and "policy[0:6]" in ended.stdout
    assert "a direct-workflow task does not say what its actions mean" in ended.stdout
    assert "the robot moved" in ended.stdout, "zeros are a target of absolute control, far from the initial pose"
    assert (directory / "look/main_images-camera.png").is_file()
    assert command(directory, *sim, *DECISIONS, *fits).returncode == 2, "--out is never overwritten"
