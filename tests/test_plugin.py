# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The entry-point module, in fresh interpreters: what it imports, what it registers, and that it never raises."""

import importlib.metadata
import json
import subprocess
import sys
import textwrap

import pytest


def run_python(code: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300, check=False
    )


def test_the_entry_point_names_the_module():
    points = {point.name: point.value for point in importlib.metadata.entry_points(group="isaaclab.tasks")}
    assert points["isaaclab_rlinf"] == "isaaclab_rlinf.plugin"


def test_it_is_light_and_does_its_work():
    result = run_python(
        """
        import json, sys
        import isaaclab_rlinf.plugin as plugin
        import gymnasium
        from isaaclab_rl.entrypoints import dispatch
        heavy = [name for name in ("torch", "rlinf", "ray", "hydra", "omni", "warp", "isaaclab_tasks", "isaaclab.envs")
                 if name in sys.modules]
        train, play = dispatch._BACKEND_MODULES["train"], dispatch._BACKEND_MODULES["play"]
        registered = "Isaac-Touch-Color-Arm3-v0" in gymnasium.registry
        print(json.dumps([heavy, train["rlinf"], play["rlinf"], train["rsl_rl"], registered]))
        """
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    heavy, train, play, rsl_rl, registered = json.loads(result.stdout)
    assert heavy == []
    assert (train, play) == ("isaaclab_rlinf.backends.train", "isaaclab_rlinf.backends.play")
    assert rsl_rl == "isaaclab_rl.entrypoints.backends.train_rsl_rl"
    assert registered


def test_backends_it_routes_to_exist():
    from isaaclab_rlinf.plugin import BACKENDS

    for module in BACKENDS.values():
        assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize(
    ("sabotage", "said"),
    [
        ("sys.modules['isaaclab_rlinf.tasks'] = None", "cannot register the bundled tasks"),
        ("sys.modules['isaaclab_rl.entrypoints.dispatch'] = None", "cannot route --rl_library rlinf"),
        (
            "from isaaclab_rl.entrypoints import dispatch; dispatch._BACKEND_MODULES = {'train': []}",
            "made for isaaclab 3.0.0",
        ),
        ("from isaaclab_rl.entrypoints import dispatch; del dispatch._BACKEND_MODULES", "made for isaaclab 3.0.0"),
    ],
)
def test_a_failing_step_prints_one_line_and_never_raises(sabotage, said):
    result = run_python(f"import sys\n{sabotage}\nimport isaaclab_rlinf.plugin\nprint('alive')")
    assert (result.returncode, result.stdout) == (0, "alive\n")
    (line,) = result.stderr.splitlines()
    assert line.startswith("[isaaclab-rlinf] WARNING: ")
    assert said in line


@pytest.mark.integration
def test_other_libraries_and_list_envs_still_work():
    isaaclab = [sys.executable, "-m", "isaaclab"]
    run = {"capture_output": True, "text": True, "timeout": 300, "check": False}
    listed = subprocess.run([*isaaclab, "list_envs", "--keyword", "Isaac-Touch-Color"], **run)
    assert listed.returncode == 0, listed.stderr
    row = next(line for line in listed.stdout.splitlines() if "Isaac-Touch-Color-Arm3-v0" in line)
    assert "rlinf" in row.split("|")[-2]
    other = subprocess.run([*isaaclab, "train", "--rl_library", "rsl_rl", "--help"], **run)
    assert other.returncode == 0, other.stderr
    assert "--agent" in other.stdout
