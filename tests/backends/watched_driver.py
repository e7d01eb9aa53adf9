# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A driver under a watcher, to be killed: ``watched_driver.py processes|ray|leave``; prints a line when it is up."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

from isaaclab_rlinf.backends.console import RunConsole
from isaaclab_rlinf.backends.watchdog import watched

SHARED = f"/dev/shm/isaaclab_rlinf_test_{os.getpid()}"
CHILD = (
    "import mmap, os, signal, subprocess, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "shared = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0)\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], start_new_session=True, env={})\n"
    "time.sleep(300)\n"
)


def with_processes(console: RunConsole) -> None:
    """Start what a run may have: sessions of their own, deaf to SIGTERM, without the environment."""
    with watched(console) as started:
        session = Path("session_of_ray").absolute()
        session.mkdir()
        started(str(session))
        Path(SHARED).write_bytes(bytes(mmap.PAGESIZE))
        of_ray = {**os.environ, "RAY_RAYLET_PID": "1"}
        subprocess.Popen([sys.executable, "-c", CHILD, SHARED], start_new_session=True, env=of_ray)
        log = (session / "agent.log").open("w")
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], stdin=log, env={})  # as Ray's agents
        subprocess.Popen(["sleep", "300"])  # such as a logger's service, which may still upload
        time.sleep(1.5)
        console.line(f"up {SHARED}")
        if sys.argv[1] == "processes":
            time.sleep(300)


def with_ray(console: RunConsole) -> None:
    """Start a private Ray with actors, one of which holds a simulator process."""
    import ray

    from isaaclab_rlinf.compat.ray_session import private_ray

    @ray.remote(num_cpus=0)
    class Worker:
        def start(self):
            from fake_simulator import make_spec

            from isaaclab_rlinf.env.simulator import Simulator

            spec = make_spec(2, 4, factory="fake_simulator:open_fake", log_file="/dev/null")
            self.simulator = Simulator(spec)

        def search_path(self):
            return sys.path

        def work(self):
            time.sleep(300)

    with watched(console) as started, private_ray(started):
        ray.init(log_to_driver=False)
        workers = [Worker.remote() for _ in range(2)]
        ray.get(workers[0].start.remote())
        assert str(Path.cwd()) not in ray.get(workers[1].search_path.remote()), "it would hide packages"
        calls = [worker.work.remote() for worker in workers]
        console.line(f"up {ray._private.worker._global_node.get_session_dir_path()}")
        ray.get(calls)


if __name__ == "__main__":
    with RunConsole(Path("run.log")) as console:
        (with_ray if sys.argv[1] == "ray" else with_processes)(console)
