# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The task is registered by an import that loads nothing heavy."""

import subprocess
import sys

import gymnasium as gym

import isaaclab_rlinf.tasks as tasks


def test_import_loads_neither_torch_nor_isaaclab():
    code = (
        "import sys, isaaclab_rlinf.tasks\n"
        "heavy = {'torch', 'isaaclab', 'isaaclab_tasks', 'warp', 'rlinf', 'pxr'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_registration_carries_what_isaaclab_looks_for():
    spec = gym.spec(tasks.TOUCH_COLOR_ID)
    assert spec.entry_point == "isaaclab.envs:ManagerBasedRLEnv"
    assert spec.kwargs["default_agent"] == "rlinf"
    module, _, path = spec.kwargs["rlinf_cfg_entry_point"].partition(":")
    assert module == "isaaclab_rlinf.tasks.touch_color"
    assert path.endswith(".yaml")
