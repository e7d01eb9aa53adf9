# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A driver whose worker calls fail, on a real private Ray with tiny actors: ``failing_calls.py SCENE ROUNDS``.

Each round prints ``round N: code C`` on the terminal; a driver that dies on the way does not.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import ray
from rlinf.scheduler.worker.worker_group import WorkerGroupFuncResult

from isaaclab_rlinf.backends.console import RunConsole
from isaaclab_rlinf.backends.session import run_guarded, tell_end
from isaaclab_rlinf.compat.ray_session import private_ray
from isaaclab_rlinf.compat.worker_failures import raise_worker_failures


@ray.remote(num_cpus=0)
class Actor:
    """Fails or dies at a given time."""

    def ready(self):
        """Return when the process is up."""

    def fail(self, name, at):
        """Raise at a time."""
        time.sleep(max(0.0, at - time.time()))
        raise ValueError(f"seed of {name} is too large")

    def die(self, at):
        """End the process at a time."""
        time.sleep(max(0.0, at - time.time()))
        os.kill(os.getpid(), 9)

    def work(self):
        """Be busy for longer than a test lasts."""
        time.sleep(300)


def call(actor, name, function, *args):
    """Call an actor as RLinf's worker groups do."""
    group = SimpleNamespace(_workers=[SimpleNamespace(worker=actor, rank=0)])
    return WorkerGroupFuncResult(group, [getattr(actor, function).remote(*args)], function, name)


class _SlowDestructor:
    def __del__(self):
        time.sleep(3.0)  # what a signal handler raises in here is lost


def wait_in(scene, work, busy):
    """Be where the failure has to reach the main thread."""
    if scene == "in_ray":
        ray.get(busy.work.remote())
    elif scene == "in_except":
        for _ in range(600):
            try:
                time.sleep(0.1)
            except Exception:  # as upstream code does
                continue
    elif scene == "in_destructor":
        _SlowDestructor()
    work.wait()


def session(scene, console):
    """Run one round."""
    with private_ray():
        ray.init(log_to_driver=True)
        with raise_worker_failures(lambda error: tell_end(console, error)):
            actors = [Actor.remote() for _ in range(3)]
            if scene != "out_of_memory":  # in which they may be ended at any time
                ray.get([actor.ready.remote() for actor in actors])
            at = time.time() + 0.3
            work = call(actors[2], "Env", "work")
            if scene == "out_of_memory":
                call(actors[0], "Rollout", "work")
            elif scene == "dies":
                call(actors[0], "Rollout", "die", at)
                call(actors[1], "Actor", "die", at)
            else:
                call(actors[0], "Rollout", "fail", "rollout", at)
                call(actors[1], "Actor", "fail", "actor", at)
            wait_in(scene, work, actors[2])
    return 0


def main(scene: str, rounds: int) -> None:
    """Run the rounds, each with a console and a cluster of its own."""
    for number in range(rounds):
        with RunConsole(Path(f"round{number}.log")) as console:
            code = run_guarded(console, lambda: session(scene, console))
        print(f"round {number}: code {code}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
