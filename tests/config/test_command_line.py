# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Mistakes as a user makes them, through the real `isaaclab` command: exit code 2, one report, nothing started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from bases import BUNDLED

pytestmark = pytest.mark.integration

NO_OP = """
import sys, types
backend = types.ModuleType("no_op_backend")
backend.run = lambda argv: 0
sys.modules["no_op_backend"] = backend
import isaaclab_rlinf.plugin
from isaaclab_rl.entrypoints import dispatch
dispatch._BACKEND_MODULES["train"]["rlinf"] = "no_op_backend"
from isaaclab.cli import cli
cli()
"""


def isaaclab(directory, *arguments: str, code: str = "from isaaclab.cli import cli; cli()"):
    """Run `isaaclab train --rl_library rlinf`; returns exit code, stderr and CPU seconds (a busy machine adds none)."""
    command = [sys.executable, "-c", f"import sys; sys.argv[0] = 'isaaclab'\n{code}", "train", "--rl_library", "rlinf"]
    with subprocess.Popen(
        [*command, *arguments], cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, errors, usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--config_name", "nonexistent"], ["--config_name", "nonexistent.yaml", BUNDLED]),
        (["--config_name", BUNDLED, "+env.train.isaaclab.main_image=front_camera"], ["did you mean 'main_images'?"]),
        (["--config_name", BUNDLED, "env.train.isaaclab.main_images=front_camra"], ["did you mean 'front_camera'?"]),
        (["--config_name", BUNDLED, "--model_path", "no/where"], ["no/where' does not exist", "--model_path"]),
        (["--task", "Isaac-Touch-Colour-Arm3-v0"], ["did you mean 'Isaac-Touch-Color-Arm3-v0'?"]),
    ],
    ids=["name", "key", "camera", "model_path", "task"],
)
def test_a_mistake_ends_with_code_2_and_one_report(tmp_path, arguments, expected):
    code, errors, _ = isaaclab(tmp_path, *arguments)
    assert code == 2, errors
    assert "nothing was started" in errors
    assert "Traceback" not in errors
    for text in expected:
        assert text in errors
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_name_costs_little_more_than_the_host_command(tmp_path):
    _, _, host = isaaclab(tmp_path, "--config_name", "x", code=NO_OP)
    code, _, ours = isaaclab(tmp_path, "--config_name", "nonexistent")
    assert code == 2
    assert ours - host < 1.0
