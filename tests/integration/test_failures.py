# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A run that fails or is interrupted ends soon, with its cause, and leaves no process behind."""

import contextlib
import os
import signal
import time

import psutil
import pytest
from commands import SMALL, TASK_YAML, assert_clean, processes_of, start

pytestmark = pytest.mark.integration

BROKEN_REWARD = """
import torch
calls = 0

def explode(env, gamma):
    global calls
    calls += 1
    if calls > 4:
        raise RuntimeError("reward term exploded on purpose")
    return torch.zeros(env.num_envs, device=env.device)
"""


@pytest.fixture(autouse=True)
def _nothing_stays(tmp_path):
    """A run that a failed test leaves behind would slow down, or fail, the others."""
    yield
    for process in processes_of(tmp_path):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def begin(tmp_path, *overrides, **env):
    """Start a training that would go on for long."""
    command = ("train", "--rl_library", "rlinf", "--config_name", TASK_YAML, "--max_iterations", "1000")
    return start(*command, *SMALL, *overrides, cwd=tmp_path, **env)


def wait_for(process, text, timeout=300):
    deadline = time.monotonic() + timeout
    lines = []
    while time.monotonic() < deadline:
        line = process.stdout.readline()
        if not line:
            break
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"'{text}' did not appear in:\n{''.join(lines)}")


def end(process, timeout=60):
    """Return exit code, output and seconds until the process ended."""
    began = time.monotonic()
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out + err, time.monotonic() - began


def simulators(tmp_path):
    """The simulator processes: spawned by the environment worker, so children of a Ray worker."""
    return [
        process
        for process in processes_of(tmp_path)
        if "spawn_main" in " ".join(process.cmdline()) and "resource_tracker" not in " ".join(process.cmdline())
    ]


def test_ctrl_c_ends_everything(tmp_path):
    process = begin(tmp_path)
    wait_for(process, "step 1/")
    os.killpg(process.pid, signal.SIGINT)
    code, output, seconds = end(process)
    assert code == 130, output
    assert "Interrupted" in output
    assert "Traceback" not in output
    assert seconds < 60
    assert_clean(tmp_path)


def test_killed_simulator_is_reported(tmp_path):
    process = begin(tmp_path)
    wait_for(process, "step 1/")
    victims = simulators(tmp_path)
    assert victims, [p.cmdline() for p in processes_of(tmp_path)]
    for victim in victims:
        os.kill(victim.pid, signal.SIGKILL)
    code, output, _ = end(process)
    assert code == 1, output
    assert "SIGKILL" in output
    assert_clean(tmp_path)


def test_exception_in_a_reward_term_is_shown_once(tmp_path):
    (tmp_path / "broken_reward.py").write_text(BROKEN_REWARD)
    terms = "{rewards.progress.func: 'broken_reward:explode', rewards.progress.weight: 1.0}"
    process = begin(tmp_path, f"++env.train.init_params.env_overrides={terms}", PYTHONPATH=str(tmp_path))
    code, output, _ = end(process, timeout=300)
    assert code == 1, output
    assert "reward term exploded on purpose" in output
    assert "in explode" in output
    assert_clean(tmp_path)
