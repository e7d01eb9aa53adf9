# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Isaac Lab's launcher with an Isaac Sim that ends the process when it is closed, as ``SimulationApp.close`` does."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import gymnasium
from test_isaac_env import FakeIsaacEnv

from isaaclab_rlinf.env import isaac_factory


@contextmanager
def launch_simulation(env_cfg, arguments):
    """The end of ``isaaclab.app.sim_launcher.launch_simulation``, with the end of the process in it."""
    code = 0
    try:
        yield
    except Exception:
        code = 1
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def launcher_module(launch=launch_simulation, needs=()) -> ModuleType:
    """Return what to put in the place of ``isaaclab.app.sim_launcher``."""
    module = ModuleType("isaaclab.app.sim_launcher")
    module.validate_launch = lambda env_cfg, arguments: (None, needs)
    module.launch_simulation = launch
    return module


def _make(task, cfg):
    if task == "Broken-Scene-v0":
        raise FileNotFoundError("the USD file of the robot is missing")
    return SimpleNamespace(unwrapped=FakeIsaacEnv())


def stand_in(patch=setattr, launch=launch_simulation, needs=()) -> None:
    """Put the stand-ins in place; ``patch`` may be pytest's, which takes them away again."""
    patch(isaac_factory, "build_env_cfg", lambda spec, failures: SimpleNamespace())
    patch(isaac_factory, "import_tasks", lambda modules: [])
    patch(isaac_factory, "configure_warp", lambda: None)
    patch(gymnasium, "make", _make)
    sys.modules["isaaclab.app.sim_launcher"] = launcher_module(launch, needs)


@contextmanager
def open_with_kit(spec, report):
    """Open a task as :func:`isaac_factory.open_isaac_env` does, in a child process of its own."""
    stand_in()
    with isaac_factory.open_isaac_env(spec, report) as env:
        yield env
