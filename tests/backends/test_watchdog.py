# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A driver that is killed leaves nothing behind for longer than ten seconds, and does not go without a word."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from isaaclab_rlinf.backends.run_watcher import find_processes
from isaaclab_rlinf.compat.ray_session import is_private

SCRIPT = Path(__file__).with_name("watched_driver.py")
FAKES = Path(__file__).parents[1] / "env"


def processes_in(directory):
    """The living processes that work in a directory; all of a run's do."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if Path(process.cwd()) == directory and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@pytest.fixture
def driver(tmp_path, request):
    # An empty entry would be the working directory, which must not be searched first.
    path = os.pathsep.join(filter(None, [str(FAKES), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), request.param],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": ""},
    )
    yield process
    for left in processes_in(tmp_path):
        with contextlib.suppress(psutil.NoSuchProcess):
            left.kill()


def up(driver):
    """Wait until the driver is up, and return what it said."""
    for line in driver.stdout:
        if line.startswith("up "):
            return line.split()[1]
    raise AssertionError("the driver did not start")


def assert_nothing_stays(tmp_path, seconds=10):
    deadline = time.monotonic() + seconds
    while (left := processes_in(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, [process.cmdline() for process in left]


@pytest.mark.parametrize("driver", ["processes"], indirect=True)
@pytest.mark.parametrize("whole_group", [False, True])
def test_a_killed_driver_takes_its_processes_along(driver, tmp_path, whole_group):
    shared = up(driver)
    assert len(processes_in(tmp_path)) == 6, "driver, watcher, agent, service, child and grandchild"
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        (os.killpg if whole_group else os.kill)(driver.pid, signal.SIGKILL)
        assert_nothing_stays(tmp_path)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
    told = driver.stdout.read()
    assert f"The main process of this run ({driver.pid}) was ended from outside" in told
    assert f"{2 if whole_group else 4} processes of the run were stopped" in told
    assert str(tmp_path / "run.log") in told
    assert "was ended from outside" in (tmp_path / "run.log").read_text()
    assert not Path(shared).exists()
    assert not (tmp_path / "session_of_ray").exists()


@pytest.mark.parametrize("driver", ["leave"], indirect=True)
def test_a_driver_that_ends_in_order_is_cleaned_up_after_without_a_word(driver, tmp_path):
    shared = up(driver)
    assert driver.wait(20) == 0
    assert [process.name() for process in processes_in(tmp_path)] == ["sleep"]
    processes_in(tmp_path)[0].kill()
    assert driver.stdout.read() == ""
    assert not Path(shared).exists()


@pytest.mark.integration
@pytest.mark.parametrize("driver", ["ray"], indirect=True)
def test_a_killed_driver_takes_ray_and_its_simulators_along(driver, tmp_path):
    before = set(os.listdir("/dev/shm"))
    session = up(driver)
    assert len(processes_in(tmp_path)) > 6
    pids = {process.pid for process in processes_in(tmp_path)}
    driver.kill()
    assert_nothing_stays(tmp_path)
    assert "was ended from outside" in driver.stdout.read()
    assert not Path(session).exists()
    ours = [name for name in set(os.listdir("/dev/shm")) - before if any(str(pid) in name for pid in pids)]
    assert ours == []


def test_only_a_run_with_a_cluster_of_its_own_is_watched(monkeypatch):
    for address, private in (("", True), ("local", True), ("auto", False), ("10.0.0.1:6379", False)):
        monkeypatch.setenv("RAY_ADDRESS", address)
        assert is_private() is private


def test_nothing_is_found_for_a_marker_that_nobody_carries():
    assert find_processes("ISAACLAB_RLINF_RUN=nobody", "", 0, ray_only=False) == set()
