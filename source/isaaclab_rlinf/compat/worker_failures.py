# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Turn a failed RLinf worker call into an exception in the driver.

rlinf 0.3.0 waits for every worker call in a thread of its own. When a call fails, that thread prints the exception,
sends the driver SIGUSR1, and the driver's signal handler kills everything and exits with 255, from inside the
handler. Here the thread records the exception, and the handler interrupts the main thread, so that the driver can
report it once, clean up in order and choose its exit code.

Three things are easily lost on the way, and are why this is longer than it looks. Ray's blocking calls let a
KeyboardInterrupt out of a signal handler and swallow every other exception; so that is what is raised, and translated
where the context ends. An exception raised in a destructor is swallowed too; so the signal is repeated until the
context has ended. And a thread that comes back from ``ray.get`` while ``ray.shutdown()`` runs can end the process on
the spot, with exit code 1 and without a word (Ray's ``QuickExit``); so the cause is told first, and then every
waiting thread is let go before Ray shuts down.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

REPEAT_SECONDS = 1.5
RELEASE_SECONDS = 10.0
"""Time for the threads that wait for a call to notice that its workers are gone."""


class WorkerFailedError(RuntimeError):
    """A call on an RLinf worker failed.

    Attributes:
        worker: Class name of the worker.
        function: Name of the function that failed.
        cause: The exception as Ray delivered it; its text holds the worker's own traceback.
        later: Calls that failed after this one, mostly as a consequence.
    """

    def __init__(self, worker: str, function: str, cause: BaseException):
        """Keep what is needed for a report; the message names worker, function and cause."""
        super().__init__(f"{worker}.{function} failed: {cause}")
        self.worker = worker
        self.function = function
        self.cause = cause
        self.later: tuple[WorkerFailedError, ...] = ()


class WorkerInterruption(KeyboardInterrupt):
    """Takes a worker's failure through code that lets nothing but a KeyboardInterrupt out of a signal handler.

    Attributes:
        failure: The first failed call.
    """

    def __init__(self, failure: WorkerFailedError):
        """Carry the failure."""
        super().__init__(str(failure))
        self.failure = failure


@contextlib.contextmanager
def raise_worker_failures(tell: Callable[[BaseException], None] = lambda error: None) -> Iterator[None]:
    """Raise :class:`WorkerFailedError` in the main thread when a worker call fails.

    Enter it after RLinf's ``Cluster`` exists, which installs the handler that is replaced here, and leave it before
    Ray is shut down.

    Args:
        tell: Called with what ends the body early, before anything is cleaned up.

    Raises:
        WorkerFailedError: In the body, at whatever it is waiting for.
    """
    from rlinf.scheduler.worker.worker_group import WorkerGroupFuncResult

    calls = _Calls()
    original_wait = WorkerGroupFuncResult._wait_for_results
    original_handler = signal.getsignal(signal.SIGUSR1)
    WorkerGroupFuncResult._wait_for_results = calls.wait_for_results
    signal.signal(signal.SIGUSR1, calls.interrupt)
    try:
        try:
            yield
        finally:
            calls.over.set()  # from here on no signal interrupts
    except BaseException as error:
        failure = calls.first_failure(error)
        tell(failure or error)
        if failure is not None:
            raise failure from (error if isinstance(error, Exception) else None)
        raise
    finally:
        calls.over.set()
        # A failure may still be on its way while the cluster goes down: ignored from here on.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        calls.release()
        WorkerGroupFuncResult._wait_for_results = original_wait
        if callable(original_handler) and original_handler.__module__ != "rlinf.scheduler.cluster.cluster":
            signal.signal(signal.SIGUSR1, original_handler)


class _Calls:
    """The worker calls of one run: who waits for one, and which failed, in this order."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._failures: list[WorkerFailedError] = []
        self._interrupted_at: float | None = None
        self._pending: dict[threading.Thread, Any] = {}
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()

    @property
    def wait_for_results(self) -> Callable[[Any], None]:
        """Return the replacement of RLinf's method; it runs in a thread per call."""
        import ray

        def wait_for_results(result: Any) -> None:
            thread = threading.current_thread()
            self._threads.add(thread)
            self._pending[thread] = result
            try:
                result._local_results = ray.get(result._remote_results)
                result._wait_done = True
            except Exception as error:  # any failure of the remote call, whatever its type
                self._fail(WorkerFailedError(result._cls_name, result._func_name, error))
            finally:
                del self._pending[thread]

        return wait_for_results

    def _fail(self, failure: WorkerFailedError) -> None:
        """Record a failure, and disturb the main thread until it has left the context."""
        self._failures.append(failure)
        main = threading.main_thread().ident
        while not self.over.is_set() and main is not None:
            signal.pthread_kill(main, signal.SIGUSR1)
            self.over.wait(REPEAT_SECONDS)

    def interrupt(self, signum: int, frame: object) -> None:
        """Handle SIGUSR1, in the main thread."""
        now = time.monotonic()
        recently = self._interrupted_at is not None and now - self._interrupted_at < REPEAT_SECONDS / 2
        if self.over.is_set() or recently or not self._failures:  # somebody else's signal says nothing about us
            return
        self._interrupted_at = now
        raise WorkerInterruption(self._failures[0])

    def first_failure(self, error: BaseException) -> WorkerFailedError | None:
        """Return the failed call that explains an exception of the body; None when it is not of a worker's making."""
        if not self._failures or not (self._interrupted_at is not None or isinstance(error, Exception)):
            return None
        first, *later = list(self._failures)
        first.later = tuple(later)
        return first

    def release(self) -> None:
        """End the workers that somebody waits for, and wait until nobody does."""
        import ray

        for result in list(self._pending.values()):
            for worker in result._worker_group._workers:
                with contextlib.suppress(Exception):  # gone already
                    ray.kill(worker.worker, no_restart=True)
        deadline = time.monotonic() + RELEASE_SECONDS
        for thread in list(self._threads):
            thread.join(max(0.0, deadline - time.monotonic()))
