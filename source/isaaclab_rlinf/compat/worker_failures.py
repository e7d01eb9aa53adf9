# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Turn a failed RLinf worker call into an exception in the driver.

rlinf 0.3.0 waits for every worker call in a thread of its own. When a call fails, that thread prints the exception,
sends the driver SIGUSR1, and the driver's signal handler kills everything and exits with 255, from inside the
handler. Here the thread records the exception, and the handler raises it in the main thread, so that the driver can
report it once, clean up in order and choose its exit code.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator


class WorkerFailedError(RuntimeError):
    """A call on an RLinf worker failed.

    Attributes:
        worker: Class name of the worker.
        function: Name of the function that failed.
        cause: The exception as Ray delivered it; its text holds the worker's own traceback.
    """

    def __init__(self, worker: str, function: str, cause: BaseException):
        """Keep what is needed for a report; the message names worker, function and cause."""
        super().__init__(f"{worker}.{function} failed: {cause}")
        self.worker = worker
        self.function = function
        self.cause = cause


@contextlib.contextmanager
def raise_worker_failures() -> Iterator[None]:
    """Raise :class:`WorkerFailedError` in the main thread when a worker call fails.

    Enter it after RLinf's ``Cluster`` exists, which installs the handler that is replaced here.

    Raises:
        WorkerFailedError: In the body, at whatever it is waiting for.
    """
    import ray
    from rlinf.scheduler.worker.worker_group import WorkerGroupFuncResult

    failures: list[WorkerFailedError] = []
    original_wait = WorkerGroupFuncResult._wait_for_results
    original_handler = signal.getsignal(signal.SIGUSR1)

    def wait_for_results(self) -> None:
        try:
            self._local_results = ray.get(self._remote_results)
        except Exception as error:  # any failure of the remote call, whatever its type
            failures.append(WorkerFailedError(self._cls_name, self._func_name, error))
            os.kill(self._pid, signal.SIGUSR1)
            return
        self._wait_done = True

    def raise_first_failure(signum, frame) -> None:
        # Later failures are consequences of the first one; raising again would break the clean-up under way.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        raise failures[0]

    WorkerGroupFuncResult._wait_for_results = wait_for_results
    signal.signal(signal.SIGUSR1, raise_first_failure)
    try:
        yield
    finally:
        # A failure may still be on its way while the cluster goes down: ignored from here on.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        WorkerGroupFuncResult._wait_for_results = original_wait
        if callable(original_handler) and original_handler.__module__ != "rlinf.scheduler.cluster.cluster":
            signal.signal(signal.SIGUSR1, original_handler)
