# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Whatever the order of failures, signals, deaths and shutdown: the first cause is told."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from isaaclab_rlinf.backends.console import RunConsole
from isaaclab_rlinf.backends.session import EXIT_FAILED, EXIT_INTERRUPTED, run_guarded, tell_end
from isaaclab_rlinf.compat import worker_failures
from isaaclab_rlinf.compat.worker_failures import WorkerFailedError, raise_worker_failures

SCRIPT = Path(__file__).with_name("failing_calls.py")


CAUSES = {
    "dies": "died unexpectedly",
    "out_of_memory": "Ray ended it because the machine ran out of memory: .* were used",
}


def run_rounds(tmp_path, scene, rounds, **variables):
    """Run the driver and check what it told of each round."""
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), scene, str(rounds)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120 + 30 * rounds,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **variables},
    )
    told = re.split(r"^round \d+: code (\d+)$", ended.stdout, flags=re.MULTILINE)
    texts, codes = told[0:-1:2], told[1::2]
    assert codes == ["1"] * rounds, (ended.returncode, ended.stdout, ended.stderr)
    assert ended.returncode == 0
    for number, text in enumerate(texts):
        cause = CAUSES.get(scene, r"seed of (rollout|actor) is too large")
        assert re.search(cause, text), text
        assert len(re.findall(r"^\[ERROR\] \w+\.\w+ failed:$", text, flags=re.MULTILINE)) == 1, text
        assert "The run failed" in text
        assert re.search(cause, (tmp_path / f"round{number}.log").read_text())


@pytest.mark.integration
def test_two_calls_that_fail_at_once(tmp_path):
    run_rounds(tmp_path, "both_fail", 1)


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["both_fail", "in_ray", "in_except", "in_destructor", "dies"])
def test_two_calls_that_fail_at_once_many_times(tmp_path, scene):
    run_rounds(tmp_path, scene, 25)


@pytest.mark.slow
def test_a_worker_that_ray_ends_for_want_of_memory(tmp_path):
    """Ray's own text, from a Ray that is told that every machine is full."""
    limits = {"RAY_memory_usage_threshold": "0.01", "RAY_memory_monitor_refresh_ms": "200"}
    run_rounds(tmp_path, "out_of_memory", 1, **limits)
    assert "Object store memory usage" in (tmp_path / "round0.log").read_text(), "the whole text is in the log"


@pytest.fixture
def ray_stand_in(monkeypatch):
    """Ray without Ray: a result is a function that returns or raises, and killing a worker calls it."""
    monkeypatch.setattr("ray.get", lambda results: [result() for result in results])
    monkeypatch.setattr("ray.kill", lambda worker, **options: worker())


def start_call(function, *, kill=lambda: None, name="Actor"):
    from rlinf.scheduler.worker.worker_group import WorkerGroupFuncResult

    group = SimpleNamespace(_workers=[SimpleNamespace(worker=kill, rank=0)])
    return WorkerGroupFuncResult(group, [function], "init_worker", name)


def fail_at(moment, text):
    def function():
        time.sleep(max(0.0, moment - time.monotonic()))
        raise ValueError(text)

    return function


@pytest.mark.usefixtures("ray_stand_in")
def test_two_failures_in_the_same_instant_many_times():
    for _ in range(20):
        told, calls = [], []
        with pytest.raises(WorkerFailedError) as caught, raise_worker_failures(told.append):
            moment = time.monotonic() + 0.005
            calls.append(start_call(fail_at(moment, "one")))
            calls.append(start_call(fail_at(moment, "two")))
            calls[0].wait()
        assert str(caught.value.cause) in ("one", "two")
        assert told == [caught.value]
        assert not any(call._wait_thread.is_alive() for call in calls), "nobody is in Ray when it shuts down"


@pytest.mark.usefixtures("ray_stand_in")
def test_the_cause_is_told_before_the_workers_that_others_wait_for_are_ended():
    events, killed = [], threading.Event()

    def kill():
        events.append("killed")
        killed.set()

    def busy():
        killed.wait(20)
        raise RuntimeError("the worker is gone")

    with pytest.raises(WorkerFailedError, match="one"), raise_worker_failures(lambda error: events.append("told")):
        pending = start_call(busy, kill=kill, name="Env")
        start_call(fail_at(0, "one")).wait()
    assert events == ["told", "killed"]
    assert not pending._wait_thread.is_alive()


@pytest.mark.usefixtures("ray_stand_in")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_lost_in_a_destructor_is_repeated(monkeypatch):
    monkeypatch.setattr(worker_failures, "REPEAT_SECONDS", 0.1)

    class Slow:
        def __del__(self):
            time.sleep(0.2)

    with pytest.raises(WorkerFailedError, match="one"), raise_worker_failures():
        call = start_call(fail_at(0, "one"))
        Slow()
        call.wait()


@pytest.mark.usefixtures("ray_stand_in")
def test_upstream_code_that_swallows_exceptions_does_not_swallow_a_failure():
    with pytest.raises(WorkerFailedError, match="one"), raise_worker_failures():
        start_call(fail_at(time.monotonic() + 0.1, "one"))
        for _ in range(100):
            try:
                time.sleep(0.1)
            except Exception:
                continue


@pytest.mark.usefixtures("ray_stand_in")
def test_an_error_of_the_driver_that_follows_from_a_failed_call_names_the_call(monkeypatch):
    monkeypatch.setattr(worker_failures.signal, "pthread_kill", lambda *args: None)  # the signal is still on its way
    with pytest.raises(WorkerFailedError, match="one") as caught, raise_worker_failures():
        start_call(fail_at(0, "one"))
        time.sleep(0.1)
        raise TypeError("'NoneType' object is not subscriptable")
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.usefixtures("ray_stand_in")
def test_somebody_elses_signal_is_no_failure():
    with raise_worker_failures():
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.05)


@pytest.mark.usefixtures("ray_stand_in")
def test_ctrl_c_stays_ctrl_c():
    with pytest.raises(KeyboardInterrupt), raise_worker_failures():
        raise KeyboardInterrupt


def failed(name, text):
    return WorkerFailedError(name, "init_worker", ValueError(text))


def test_only_the_first_cause_is_told(tmp_path, capfd):
    first = failed("Actor", "the seed is too large")
    first.later = (failed("Rollout", "Traceback\n  file\nValueError: the other seed"),)

    def body():
        try:
            tell_end(console, first)
            raise first
        finally:
            raise RuntimeError("the shutdown failed as well")

    with RunConsole(tmp_path / "run.log") as console:
        assert run_guarded(console, body) == EXIT_FAILED
    out = capfd.readouterr().out
    assert "Actor.init_worker failed:\nthe seed is too large" in out
    assert "Rollout.init_worker failed as well: ValueError: the other seed" in out
    assert "shutdown" not in out
    assert out.count("The run failed") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), EXIT_INTERRUPTED, "Interrupted"),
        (
            worker_failures.WorkerInterruption(failed("Env", "no robot")),
            EXIT_FAILED,
            "Env.init_worker failed:\nno robot",
        ),
        (SystemExit(0), EXIT_FAILED, "SystemExit"),
        (ZeroDivisionError("by zero"), EXIT_FAILED, "ZeroDivisionError: by zero\nTraceback"),
    ],
)
def test_every_early_end_is_told(tmp_path, capfd, error, code, said):
    def body():
        raise error

    with RunConsole(tmp_path / "run.log") as console:
        assert run_guarded(console, body) == code
    assert said in capfd.readouterr().out


OUT_OF_MEMORY = """1 worker(s) were killed due to the node running low on memory. Memory on the node (IP: 192.0.2.2, \
ID: 689a828529b281985fdcf58bca223b444a8eb6cb7b6325d4f6a4968a) was 22.14GB used / 23.54GB limit (0.940509)
OOM kill reason: Memory usage 23791931136B exceeded threshold of 23752760592B (94.0% of 25276059648B limit)
Object store memory usage: [- objects spillable: 0
- bytes spillable: 0
(global lru) used: 0%]
Ray killed 1 worker(s) based on the killing policy
Considered workers: [
Selected to kill: (Actor(414b9ce7f734c3cb8ede1a1c01000000): job ID=01000000, actual memory used=0.11GB)
]
Top 10 memory users: PID\tMEM(GB)\tCOMMAND
25042\t11.18\tray::ActorWorker.recv_rollout_trajectories
26530\t6.62\t/venv/bin/python -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=7...
24045\t0.47\t/venv/bin/python /venv/bin/isaaclab train --rl_library rlinf --config_name isa...
Refer to the documentation on how to address the out of memory issue: https://docs.ray.io/en/latest/. Consider ...
"""
"""What Ray 2.60 says, shortened, with a simulator that grew."""


def test_a_full_machine_is_told_in_a_few_lines(tmp_path, capfd):
    from ray.exceptions import OutOfMemoryError

    first = failed("SimulatorEnvWorker", "the channel is closed")
    first.later = (WorkerFailedError("RolloutWorker", "generate", OutOfMemoryError(OUT_OF_MEMORY)),)
    with RunConsole(tmp_path / "run.log") as console:
        tell_end(console, first)
    out = capfd.readouterr().out
    told = out.strip().splitlines()
    assert told[:4] == [
        "[ERROR] RolloutWorker.generate failed:",
        "Ray ended it because the machine ran out of memory: 22.14GB of 23.54GB were used, and Ray ends workers beyond "
        "94 %.",
        "Largest then: ActorWorker.recv_rollout_trajectories 11.18 GB, a simulator 6.62 GB, "
        "/venv/bin/python /venv/bin/isaaclab t... 0.47 GB",
        told[3],
    ]
    assert "--num_envs" in told[3] and "RAY_memory_usage_threshold=0.98" in told[3]
    assert "[ERROR] SimulatorEnvWorker.init_worker failed as well: the channel is closed" in told
    assert "Object store" not in out and "Object store" in (tmp_path / "run.log").read_text()


def test_a_text_of_another_ray_is_still_recognized():
    from isaaclab_rlinf.compat.ray_memory import memory_failure

    told = memory_failure(RuntimeError("Task was killed due to the node running low on memory. Much more follows."))
    assert told.startswith("Ray ended it because the machine ran out of memory.\nFewer environments")
    assert memory_failure(RuntimeError("CUDA out of memory")) is None
