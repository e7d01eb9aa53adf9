# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A process beside the driver that ends the run's other processes should the driver be killed.

Ray notices a killed driver late: workers and simulators held their memory for up to a minute. The watcher is told of
a private Ray cluster only; what runs on a cluster of the user's is that cluster's business.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isaaclab_rlinf.backends.console import RunConsole

MARKER_VARIABLE = "ISAACLAB_RLINF_RUN"
"""Environment variable that all processes of a run inherit, with a value of its own for each run."""
_SCRIPT = Path(__file__).with_name("run_watcher.py")
_END_SECONDS = 12.0


@contextlib.contextmanager
def watched(console: RunConsole) -> Iterator[Callable[[str], None]]:
    """Have the processes that the body starts ended when this one is gone; Ray's also when the body is left.

    Args:
        console: Console of the run; the watcher writes where it writes.

    Yields:
        A function that takes Ray's session directory, to be called when there is one. It is removed at the end.
    """
    marker = f"{MARKER_VARIABLE}={uuid.uuid4().hex}"
    # By descriptor: a user's `pkill -9 -f isaaclab` is a likely end of a driver, and must not find the watcher.
    with _SCRIPT.open("rb") as script:
        arguments = [f"/proc/self/fd/{script.fileno()}", str(os.getpid()), marker, str(console.log_file.absolute())]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", *arguments],
            stdin=subprocess.PIPE,
            stdout=console.terminal.fileno(),
            pass_fds=[script.fileno()],
            start_new_session=True,  # Ctrl-C is the driver's business
        )
    former = os.environ.get(MARKER_VARIABLE)
    os.environ[MARKER_VARIABLE] = marker.partition("=")[2]
    try:
        yield lambda session: _send(process, f"session {session}\n")
    finally:
        del os.environ[MARKER_VARIABLE]
        if former is not None:
            os.environ[MARKER_VARIABLE] = former
        _send(process, "ended\n")
        with contextlib.suppress(OSError):
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)


def _send(process: subprocess.Popen, line: str) -> None:
    """Tell the watcher something; a watcher that is gone does not end the run."""
    with contextlib.suppress(OSError):
        process.stdin.write(line.encode())
        process.stdin.flush()
