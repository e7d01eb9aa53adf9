# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The process boundary, with a real spawned child around a fake simulator: every failure is loud, quick and clean."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest
from fake_simulator import make_spec

from isaaclab_rlinf.env.protocol import SimulatorError
from isaaclab_rlinf.env.simulator import Simulator


def start(factory, **changes):
    timeouts = {key: changes.pop(key) for key in ("start_timeout", "step_timeout") if key in changes}
    return Simulator(make_spec(2, 4, factory=f"fake_simulator:{factory}", **changes), **timeouts)


def assert_gone(pid):
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, f"process {pid} is still there"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def simulator():
    handle = start("open_fake")
    yield handle
    handle.close()
    assert_gone(handle.pid)


def test_data_travels_through_shared_memory(simulator):
    simulator.reset()
    address = simulator.buffers["rewards"].data_ptr()
    simulator.buffers["actions"].fill_(3.0)
    simulator.step_chunk()
    assert simulator.buffers["rewards"].sum() > 0
    simulator.step_chunk()
    assert simulator.buffers["finished"].tolist() == [True, True]
    assert simulator.buffers["rewards"].data_ptr() == address, "allocated once"
    assert simulator.handshake.instructions == ("zero", "one", "two")


def test_no_growth_over_many_chunks(simulator):
    for _ in range(50):
        simulator.step_chunk()
    gc.collect()
    child = psutil.Process(simulator.pid)
    before = child.memory_info().rss, psutil.Process().memory_info().rss, len(os.listdir("/dev/shm"))
    for _ in range(2000):
        simulator.step_chunk()
    gc.collect()
    assert child.memory_info().rss - before[0] < 8e6
    assert psutil.Process().memory_info().rss - before[1] < 8e6
    assert len(os.listdir("/dev/shm")) <= before[2]


def test_failure_at_start_carries_the_childs_traceback():
    with pytest.raises(SimulatorError, match=r"failed while starting: RuntimeError: no such robot") as caught:
        start("open_failing_at_start")
    assert "open_failing_at_start" in str(caught.value), "the frame in the child's code"


def test_death_at_start_names_the_signal_and_shows_the_log(tmp_path):
    log = tmp_path / "logs" / "simulator.log"
    with pytest.raises(SimulatorError, match=r"signal 9, SIGKILL") as caught:
        start("open_killed_at_start", log_file=str(log))
    assert "last words before the end" in str(caught.value)


def test_exception_in_a_step(tmp_path):
    handle = start("open_failing_in_step")
    with pytest.raises(SimulatorError, match="ZeroDivisionError: reward term divided by zero") as caught:
        for _ in range(5):
            handle.step_chunk()
    assert "_reward_term_of_the_user" in str(caught.value)
    assert_gone(handle.pid)
    with pytest.raises(SimulatorError, match="is closed"):
        handle.step_chunk()
    handle.close()


def test_killed_between_chunks():
    handle = start("open_fake")
    handle.step_chunk()
    os.kill(handle.pid, signal.SIGKILL)
    began = time.monotonic()
    with pytest.raises(SimulatorError, match="SIGKILL"):
        handle.step_chunk()
    assert time.monotonic() - began < 5


def test_hanging_step_times_out_and_is_stopped():
    handle = start("open_hanging_in_step", step_timeout=1.0)
    with pytest.raises(SimulatorError, match="did not answer within 1 s while stepping"):
        handle.step_chunk()
    assert_gone(handle.pid)


def test_dropped_handle_ends_the_process():
    handle = start("open_fake")
    pid = handle.pid
    del handle
    gc.collect()
    assert_gone(pid)


def test_child_dies_with_a_killed_parent_and_ignores_ctrl_c(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys, time
            sys.path.insert(0, {os.path.dirname(__file__)!r})
            from fake_simulator import make_spec
            from isaaclab_rlinf.env.simulator import Simulator

            if __name__ == "__main__":
                handle = Simulator(make_spec(2, 4, factory="fake_simulator:open_fake", log_file="/dev/null"))
                print(handle.pid, flush=True)
                time.sleep(120)
            """
        )
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    os.kill(pid, signal.SIGINT)
    time.sleep(0.3)
    assert psutil.pid_exists(pid), "Ctrl-C is the parent's business"
    parent.kill()
    parent.wait()
    assert_gone(pid)
