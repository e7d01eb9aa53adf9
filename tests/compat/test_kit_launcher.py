# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What Isaac Lab's launcher makes of our arguments, as far as it goes without Isaac Sim."""

import sys
from types import SimpleNamespace

import pytest

from isaaclab_rlinf.env.isaac_factory import launcher_arguments
from isaaclab_rlinf.env.protocol import SimulatorSpec

BLOCK = SimpleNamespace(cameras=("front",))
"""The part of an ``isaaclab`` block that is read."""


@pytest.fixture
def resolve(monkeypatch, tmp_path):
    """Return the launcher's Kit arguments and SimulationApp settings for a spec."""
    from isaaclab_physx.app import kit_launcher

    def run(**changes):
        monkeypatch.setattr(sys, "argv", ["worker"])
        monkeypatch.setenv("EXP_PATH", str(tmp_path))
        for name in ("LIVESTREAM", "HEADLESS", "XR"):
            monkeypatch.delenv(name, raising=False)
        spec = SimulatorSpec("Any-v0", 2, seed=0, block=BLOCK, chunk_length=1, **changes)
        launcher = object.__new__(kit_launcher.KitLauncher)
        launcher._config_resolution(launcher_arguments(spec))
        return launcher._kit_args, launcher._sim_app_config

    return run


def test_the_renderer_follows_the_gpu_that_the_worker_sees(resolve):
    arguments, app = resolve(device="cuda", cpu_threads=6)
    assert "--/renderer/multiGpu/activeCudaGpus=0," in arguments
    assert app == {"headless": True, "hide_ui": True, "physics_gpu": 0, "multi_gpu": False, "limit_cpu_threads": 6}


def test_on_the_cpu_the_renderer_is_left_alone(resolve):
    arguments, app = resolve(device="cpu")
    assert not any("multiGpu" in argument for argument in arguments)
    assert "multi_gpu" not in app and "limit_cpu_threads" not in app


def test_its_close_ends_the_process_and_its_missing_runtime_too():
    """Why failures are told before the context closes, and why Isaac Sim is looked for first."""
    from isaaclab.app import sim_launcher
    from isaaclab_physx.app import kit_launcher

    with open(sim_launcher.__file__, encoding="utf-8") as file:
        assert "launcher.close(exit_code)" in file.read()
    with open(kit_launcher.__file__, encoding="utf-8") as file:
        source = file.read()
    assert "raise SystemExit(1)" in source and "signal.signal(signal.SIGINT, signal.default_int_handler)" in source
