# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""`isaaclab-rlinf check --sim` on the bundled task: the command as a user gives it, one simulator start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import TASK_YAML
from PIL import Image

pytestmark = pytest.mark.integration

COMMAND = str(Path(sys.executable).with_name("isaaclab-rlinf"))


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    directory = tmp_path_factory.mktemp("check")
    command = [COMMAND, "check", "--config_name", TASK_YAML, "--sim"]
    result = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=400, env=os.environ)
    return result, directory


def rows(text: str) -> list[list[str]]:
    """Return the cells of every table row; cells are two or more blanks apart."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def test_the_tables_say_what_the_task_shows(ended):
    result, _ = ended
    assert result.returncode == 0, result.stdout + result.stderr
    table = rows(result.stdout)
    assert ["camera_images", "front_camera", "64 x 64 x 3", "uint8"] in [row[:4] for row in table]
    joint_pos = next(row for row in table if row[:2] == ["policy", "joint_pos"])
    assert joint_pos[2:4] == ["3", "float32"] and float(joint_pos[4]) < float(joint_pos[5])
    assert [row[:3] for row in table if row and row[0] == "arm"] == [
        ["arm", str(i), f"joint_{i + 1}"] for i in range(3)
    ]
    assert ["[0:3]", "joints", "LimitedJointPositionAction: joint_1, joint_2, joint_3"] in table
    assert ["states[1]: joint_vel", "policy/joint_vel[0:3]", "states[3:6]"] in table
    assert ["wrist_images: wrist_camera", "camera_images/wrist_camera (64 x 64 x 3 uint8)", "wrist_images"] in table
    assert ["[0:3]", "[0:3]", "joints"] in table
    assert ["2: touch the blue ball"] in table


def test_holding_the_pose_moves_nothing(ended):
    result, _ = ended
    assert "One step of holding the present joint positions: the robot held still" in result.stdout


def test_each_camera_has_a_picture_and_the_outputs_are_named(ended):
    result, directory = ended
    (place,) = (directory / "logs/rlinf/check").iterdir()
    assert f"Outputs in {place}" in result.stdout
    for name in ("main_images-front_camera.png", "wrist_images-wrist_camera.png"):
        pixels = np.asarray(Image.open(place / name))
        assert pixels.shape == (64, 64, 3) and pixels.std() > 5 and pixels.max() > 100
        assert name in result.stdout
    record = json.loads((place / "simulator.json").read_text())
    assert len(record["hold"]) == 2, "two environments"
    assert json.loads((place / "step.json").read_text())["joint"].startswith("arm/joint_")
