# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Running groups of checks in processes of their own, so that none can take the others along."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .outcome import FAILED, NOT_RUN, Result, kept_result, read_result, write_result
from .plan import BACKGROUND, Check

CPU_PATIENCE = 6.0
"""On a CPU a check may take so many times its limit."""
_POLL_SECONDS = 0.2
_LOG_LINES = 12


@dataclass
class Lane:
    """One call of the lane.

    Attributes:
        device: ``cuda`` or ``cpu``.
        directory: Results and logs.
        where: Identity of code and machine.
        tell: Called with every result as it comes.
        again: Names of checks whose remembered results do not count; ``all`` is every check.
        serial: Whether no group runs beside another.
        results: By name, as they come.
    """

    device: str
    directory: Path
    where: Mapping[str, str]
    tell: Callable[[Result], None] = lambda _: None
    again: frozenset[str] = frozenset()
    serial: bool = False
    results: dict[str, Result] = field(default_factory=dict)
    _processes: list[subprocess.Popen] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def run(self, checks: Sequence[Check]) -> dict[str, Result]:
        """Run checks, those of a group in one process; remembered ones are not repeated.

        Args:
            checks: In order.

        Returns:
            A result per check, also when the run is interrupted: the rest is then not run.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        groups = {name: [check for check in checks if check.group == name] for name in _order(checks)}
        beside = [] if self.serial else [name for name in groups if name in BACKGROUND]
        threads = [threading.Thread(target=self.run_group, args=(groups[name],), daemon=True) for name in beside]
        try:
            for thread in threads:
                thread.start()
            before = True
            for name, group in groups.items():
                if name in beside:
                    before = False
                    continue
                if not before:  # what comes after a group that runs beside needs what it leaves: compiled kernels
                    self._join(threads)
                self.run_group(group)
            self._join(threads)
        finally:
            self.stop()
        return {
            check.name: self.results.get(check.name, Result(check.name, NOT_RUN, reason="stopped")) for check in checks
        }

    def run_group(self, checks: Sequence[Check]) -> None:
        """Run the checks of one group; a process that dies costs the check that it was at, not the rest."""
        todo = []
        for check in checks:
            kept = None if self.again & {check.name, "all"} else kept_result(self.directory, check.name, self.where)
            if kept is not None:
                self._book(kept)
            else:
                (self.directory / f"{check.name}.json").unlink(missing_ok=True)
                todo.append(check)
        while todo and not self._stopped.is_set():
            process = self._start(todo)
            todo = todo[self._watch(process, todo) :]
            _end(process)

    def stop(self) -> None:
        """End the processes that are still there; nothing more is started or booked."""
        self._stopped.set()
        for process in self._processes:
            _end(process)

    def _start(self, checks: Sequence[Check]) -> subprocess.Popen:
        command = [sys.executable, "-m", "gpu_smoke.worker", "--device", self.device]
        command += ["--results", str(self.directory), "--where", json.dumps(dict(self.where))]
        here = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
        with (self.directory / f"{checks[0].group}.process.log").open("w") as log:
            process = subprocess.Popen(
                [*command, *(check.name for check in checks)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
        self._processes.append(process)
        return process

    def _watch(self, process: subprocess.Popen, checks: Sequence[Check]) -> int:
        """Book results as they come; returns how many checks have one when the process ended or was given up."""
        for done, check in enumerate(checks):
            started = time.monotonic()
            limit = check.limit * (CPU_PATIENCE if self.device == "cpu" else 1.0)
            while (result := read_result(self.directory, check.name)) is None:
                waited, ended = time.monotonic() - started, process.poll()
                if self._stopped.is_set():
                    return len(checks)
                if ended is not None and read_result(self.directory, check.name) is None:
                    self._book_lost(check, waited, f"its process ended {describe_exit(ended)}")
                    return done + 1
                if waited > limit:
                    self._book_lost(check, waited, f"did not end within {limit:.0f} s")
                    return done + 1
                time.sleep(_POLL_SECONDS)
            self._book(result)
        return len(checks)

    def _book_lost(self, check: Check, seconds: float, what: str) -> None:
        logs = (self.directory / f"{check.name}.log", self.directory / f"{check.group}.process.log")
        reason = "\n".join([what, *(line for log in logs for line in _tail(log))])
        result = Result(check.name, FAILED, seconds, reason, where=self.where)
        write_result(self.directory, result)
        self._book(result)

    def _book(self, result: Result) -> None:
        self.results[result.name] = result
        self.tell(result)

    def _join(self, threads: Sequence[threading.Thread]) -> None:
        for thread in threads:
            while thread.is_alive():  # in steps, so that Ctrl-C is heard
                thread.join(1.0)


def describe_exit(code: int) -> str:
    """Return an exit code in words."""
    if code >= 0:
        return f"with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"by signal {-code}, {signal.Signals(-code).name}"
    return f"by signal {-code}"


def _order(checks: Sequence[Check]) -> list[str]:
    return list(dict.fromkeys(check.group for check in checks))


def _tail(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
    except OSError:
        return []


def _end(process: subprocess.Popen) -> None:
    """End a worker and what it started: gently first, since a training stops its Ray processes itself."""
    for signum, seconds in ((signal.SIGTERM, 20.0), (signal.SIGKILL, 5.0)):
        if not _group_lives(process):
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signum)
        deadline = time.monotonic() + seconds
        while _group_lives(process) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def _group_lives(process: subprocess.Popen) -> bool:
    process.poll()  # a zombie would keep its group
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
