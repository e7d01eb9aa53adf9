# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Ends what a run leaves behind when its driver is gone. A script of its own, see :mod:`.watchdog`.

It imports the standard library only, and a run's processes are found by what they inherited: nothing here needs the
driver, Ray, or a package to be in order. Started by the driver, it is told on stdin, one line each, of Ray's session
directory and of the end of the run.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import sys
import time
from pathlib import Path

POLL_SECONDS = 0.5
SWEEP_SECONDS = 8.0
PROC = Path("/proc")


def main(driver: int, marker: str, log_file: str) -> None:
    """Wait for the end of the driver, then end the run's other processes.

    Args:
        driver: Process id of the driver, the parent of this process.
        marker: ``NAME=value`` as it stands in the environment of the run's processes, and in no other's.
        log_file: Log of the run.
    """
    session = ended = ""
    lines = b""
    while os.getppid() == driver and not ended:
        if not select.select([0], [], [], POLL_SECONDS)[0]:
            continue
        data = os.read(0, 4096)
        if not data:  # the driver closed its end without a word
            break
        lines += data
        for line in lines.decode().splitlines():
            key, _, value = line.partition(" ")
            session, ended = (value, ended) if key == "session" else (session, "ended")
    # A logger's service outlives a driver that ends in order: it may still upload.
    count, files = sweep(marker, session, driver, ray_only=bool(ended))
    for file in files:
        with contextlib.suppress(OSError):
            os.unlink(file)
    if session:
        shutil.rmtree(session, ignore_errors=True)
    if not ended:
        _tell(
            f"[ERROR] The main process of this run ({driver}) was ended from outside before it had stopped the others; "
            f"{count} processes of the run were stopped. Full log: {log_file}\n",
            log_file,
        )


def sweep(marker: str, session: str, driver: int, *, ray_only: bool) -> tuple[int, set[str]]:
    """Kill the run's processes until there are none.

    Args:
        marker: See :func:`main`.
        session: Ray's session directory; empty when Ray had not started.
        driver: Process id of the driver, which is spared.
        ray_only: Leave alone what the driver started itself.

    Returns:
        The number of processes that were killed, and the shared-memory files that only they had open.
    """
    killed: set[int] = set()
    files: set[str] = set()
    deadline = time.monotonic() + SWEEP_SECONDS
    while (found := find_processes(marker, session, driver, ray_only=ray_only)) and time.monotonic() < deadline:
        files |= set().union(*map(_shared_memory, found))
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed |= found
        time.sleep(0.1)
    others = set().union(*map(_shared_memory, _processes())) if files else set()
    return len(killed), files - others


def find_processes(marker: str, session: str, driver: int, *, ray_only: bool) -> set[int]:
    """Return the living processes of the run: those that inherited the marker, and all below them.

    Ray's agents write their name over their environment; they are known by the log files that they write.

    Args:
        marker: See :func:`main`.
        session: Ray's session directory, or empty.
        driver: Process id of the driver. It writes a log of Ray's as well, and is none of them.
        ray_only: Only those that Ray has started.
    """
    children: dict[int, list[int]] = {}
    found: list[int] = []
    for pid in _processes():
        children.setdefault(_parent(pid), []).append(pid)
        environment = _read(pid, "environ").split(b"\0")
        marked = marker.encode() in environment
        if ray_only:
            marked = marked and any(entry.startswith(b"RAY_RAYLET_PID=") for entry in environment)
        if pid != driver and (marked or (session and _writes_below(pid, session))):
            found.append(pid)
    for pid in found:  # grows on the way
        found += [child for child in children.get(pid, ()) if child not in found]
    return set(found)


def _processes() -> list[int]:
    """Return the ids of all living processes but this one."""
    pids = [int(entry) for entry in os.listdir(PROC) if entry.isdigit() and int(entry) != os.getpid()]
    return [pid for pid in pids if _parent(pid)]


def _parent(pid: int) -> int:
    """Return the parent's id; 0 for a process that is gone, or only waits to be buried."""
    stat = _read(pid, "stat").rpartition(b")")[2].split()
    return int(stat[1]) if stat and stat[0] not in (b"Z", b"X") else 0


def _writes_below(pid: int, directory: str) -> bool:
    """Return whether a process has a file below a directory open for writing."""
    with contextlib.suppress(OSError):
        for descriptor in os.listdir(PROC / str(pid) / "fd"):
            with contextlib.suppress(OSError):  # closed meanwhile
                if os.readlink(PROC / str(pid) / "fd" / descriptor).startswith(f"{directory}/"):
                    flags = re.search(rb"flags:\s*([0-7]+)", _read(pid, f"fdinfo/{descriptor}"))
                    if flags and int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                        return True
    return False


def _shared_memory(pid: int) -> set[str]:
    """Return the files below /dev/shm that a process has mapped and that still have a name."""
    lines = _read(pid, "maps").decode(errors="replace").splitlines()
    names = {match[0] for line in lines if (match := re.search(r"/dev/shm/.*", line))}
    return {name for name in names if not name.endswith(" (deleted)")}


def _read(pid: int, name: str) -> bytes:
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:  # it ended, or is another user's
        return b""


def _tell(text: str, log_file: str) -> None:
    """Write to the terminal and to the log."""
    with contextlib.suppress(OSError):
        os.write(1, text.encode())
    with contextlib.suppress(OSError), open(log_file, "a", encoding="utf-8") as log:
        log.write(text)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
