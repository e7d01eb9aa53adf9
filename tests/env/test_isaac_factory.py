# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Opening a task: what reaches the driver when it fails, and which GPU and threads Kit is given."""

import dataclasses
import importlib.util
import os
import signal
import sys
from contextlib import contextmanager

import pytest
from fake_simulator import BLOCK, make_spec
from kit_stand_in import stand_in

from isaaclab_rlinf.config.schema import SuccessSpec
from isaaclab_rlinf.env import isaac_factory, settings
from isaaclab_rlinf.env.protocol import SimulatorError
from isaaclab_rlinf.env.simulator import Simulator

NO_CAMERA = dataclasses.replace(BLOCK, main_images=None)


@pytest.mark.parametrize(
    ("task", "success", "told"),
    [
        ("Broken-Scene-v0", "success", "FileNotFoundError: the USD file of the robot is missing"),
        ("Fine-v0", "sucess", "MappingError: success.termination: the task has no termination term 'sucess'"),
    ],
)
def test_a_failure_before_the_first_reset_outlives_kit(tmp_path, task, success, told):
    """Kit's closing ends the process on the way out of the failure, before the process itself could tell of it."""
    block = dataclasses.replace(NO_CAMERA, success=SuccessSpec(termination=success))
    log = tmp_path / "simulator.log"
    spec = make_spec(2, 4, block, task_id=task, factory="kit_stand_in:open_with_kit", log_file=str(log))
    with pytest.raises(SimulatorError, match="failed while starting") as caught:
        Simulator(spec)
    text = str(caught.value)
    assert told in text and "open_isaac_env" in text, "the summary and the traceback"
    assert told in log.read_text()


@pytest.fixture
def kit(monkeypatch):
    """Return a function that opens a task in this process with another launch."""
    monkeypatch.setitem(sys.modules, "isaaclab.app.sim_launcher", None)

    def open_task(launch, needs=(), spec=None):
        stand_in(monkeypatch.setattr, launch, needs)
        reported = []
        with isaac_factory.open_isaac_env(spec or make_spec(2, 4, NO_CAMERA), reported.append) as env:
            return env, reported

    return open_task


@contextmanager
def _asks(env_cfg, arguments):
    raise EOFError("EOF when reading a line")
    yield


@contextmanager
def _gives_up(env_cfg, arguments):
    raise SystemExit(1)
    yield


def test_what_kit_does_instead_of_starting_is_explained(kit):
    with pytest.raises(RuntimeError, match=r"asked something .* OMNI_KIT_ACCEPT_EULA=YES"):
        kit(_asks)
    with pytest.raises(RuntimeError, match=r"gave up while it was starting \(exit status 1\)"):
        kit(_gives_up)


def test_a_missing_isaac_sim_is_named_with_what_asks_for_it(kit, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "isaacsim" else find(name))
    with pytest.raises(RuntimeError, match=r"'Fake-v0' needs Isaac Sim, which is not installed: PhysX physics\."):
        kit(_asks, needs=("PhysX physics",))


def test_ctrl_c_stays_with_whoever_had_it(kit):
    """Kit's launcher installs Python's own handler, also in a child that must ignore Ctrl-C."""

    @contextmanager
    def launch(env_cfg, arguments):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _, reported = kit(launch)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN and reported == []
    finally:
        signal.signal(signal.SIGINT, before)


def test_kit_is_bound_to_the_gpu_of_its_worker_and_to_its_share_of_cores():
    arguments = isaac_factory.launcher_arguments(make_spec(2, 4, device="cuda", cpu_threads=6))
    assert arguments == {
        "headless": True,
        "enable_cameras": True,
        "device": "cuda",
        "multi_gpu": False,
        "limit_cpu_threads": 6,
    }
    assert set(isaac_factory.launcher_arguments(make_spec(2, 4))) == {"headless", "enable_cameras", "device"}


@pytest.mark.parametrize(
    ("cores", "workers", "on_node", "simulators", "share"),
    [
        (64, None, None, 1, 32),
        (64, 8, 8, 8, 8),
        (64, 8, 8, 16, 4),  # two pipeline stages
        (64, 16, 8, 16, 8),  # two nodes
        (2, 8, 8, 8, 1),
    ],
)
def test_cores_are_shared_by_the_simulators_of_a_node(monkeypatch, cores, workers, on_node, simulators, share):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)))
    for name, value in (("WORLD_SIZE", workers), ("NODE_LOCAL_WORLD_SIZE", on_node)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, str(value))
    assert settings.cpu_share(simulators) == share
