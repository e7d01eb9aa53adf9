# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The parent's handle of a simulator process. Every wait is bounded and notices a dead child at once."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import time
import weakref
from collections.abc import Mapping
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.env.protocol import (
    ChunkRequest,
    ChunkResult,
    CloseRequest,
    Done,
    Failure,
    FlushVideoRequest,
    Handshake,
    ResetRequest,
    SimulatorError,
    SimulatorSpec,
)
from isaaclab_rlinf.env.simulator_process import child_main

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    import torch

LOG_TAIL_LINES = 30
START_SECONDS = 900.0
"""Time for a simulator to start. A first start on a machine compiles kernels for minutes."""
CLOSE_SECONDS = 30.0
"""Time for a child to finish its video and answer a close request."""


class Simulator:
    """A running simulator process.

    Requests go out and answers come back over a pipe, one small message each way; the data lies in :attr:`buffers`.

    Attributes:
        handshake: What the child built.
        buffers: The shared tensors, overwritten by every :meth:`step_chunk` and :meth:`reset`.
    """

    handshake: Handshake
    buffers: Mapping[str, torch.Tensor]

    def __init__(self, spec: SimulatorSpec, start_timeout: float = START_SECONDS, step_timeout: float = 300.0) -> None:
        """Starts the process and waits for it to be ready.

        Args:
            spec: What to simulate.
            start_timeout: Seconds until a start counts as hung. A first start on a machine compiles kernels for
                minutes.
            step_timeout: Seconds until a reset or a chunk counts as hung.

        Raises:
            SimulatorError: If the child fails, dies or does not answer in time.
        """
        import torch.multiprocessing  # noqa: F401  registers how tensors are received

        self._spec, self._step_timeout = spec, step_timeout
        context = multiprocessing.get_context("spawn")
        self._channel, child_channel = context.Pipe()
        name = f"simulator-{spec.task_id}-{spec.seed}"
        self._process: SpawnProcess = context.Process(
            target=child_main, args=(spec, child_channel), name=name, daemon=True
        )
        self._released = threading.Event()
        _start_from_lasting_thread(self._process, self._released)
        child_channel.close()
        self._finalizer = weakref.finalize(self, _end_process, self._process, self._channel, self._released)
        answer = self._receive(start_timeout, "starting")
        if not isinstance(answer, Handshake):
            raise SimulatorError(f"simulator answered {type(answer).__name__} in place of a handshake")
        self.handshake, self.buffers = answer, answer.buffers

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self.handshake.pid

    def reset(self, seed: int | None = None) -> None:
        """Resets every environment; the observation is then in the ``obs.*`` buffers.

        Raises:
            SimulatorError: See :meth:`step_chunk`.
        """
        self._ask(ResetRequest(seed), "resetting")

    def step_chunk(self) -> ChunkResult:
        """Steps the chunk in ``buffers['actions']``.

        Raises:
            SimulatorError: If the child fails (with its traceback), dies (with its signal) or hangs.
        """
        return self._ask(ChunkRequest(), "stepping a chunk")

    def flush_video(self) -> tuple[str, ...]:
        """Closes the present video file and returns a line about it, or nothing if no frame was recorded."""
        answer: Done = self._ask(FlushVideoRequest(), "writing a video")
        return answer.videos

    def close(self) -> None:
        """Ends the process; safe to call again, and after a failure."""
        if self._finalizer.alive and self._process.is_alive():
            with contextlib.suppress(OSError, SimulatorError):
                self._channel.send(CloseRequest())
                # The answer means that everything worth keeping is written; what follows is only tear-down.
                self._receive(CLOSE_SECONDS, "closing")
                connection.wait([self._process.sentinel], timeout=2.0)
        self._finalizer()

    def _ask(self, request: object, doing: str) -> Any:
        if not self._finalizer.alive:
            raise SimulatorError(f"the simulator of '{self._spec.task_id}' is closed")
        with contextlib.suppress(OSError):  # The child is dead; the receive below finds out why.
            self._channel.send(request)
        return self._receive(self._step_timeout, doing)

    def _receive(self, timeout: float, doing: str) -> Any:
        deadline = time.monotonic() + timeout
        ready = connection.wait([self._channel, self._process.sentinel], timeout=max(0.0, deadline - time.monotonic()))
        if not ready:
            self._finalizer()
            raise self._error(f"did not answer within {timeout:.0f} s while {doing}; it was stopped")
        # A child that failed sends its traceback and then exits: read the pipe first, whatever woke us.
        if self._channel.poll():
            with contextlib.suppress(EOFError, OSError):
                answer = self._channel.recv()
                if not isinstance(answer, Failure):
                    return answer
                self._finalizer()
                raise SimulatorError(
                    f"the simulator of '{self._spec.task_id}' failed while {doing}: {answer.summary}\n"
                    f"--- traceback of the simulator process ---\n{answer.traceback.rstrip()}"
                )
        self._process.join(5.0)
        code = self._process.exitcode
        self._finalizer()
        raise self._error(f"died while {doing} ({_describe_exit(code)})")

    def _error(self, what: str) -> SimulatorError:
        message = f"the simulator process of '{self._spec.task_id}' {what}."
        if self._spec.log_file:
            message += f" Its output is in {self._spec.log_file}; the end of it:\n{_tail(self._spec.log_file)}"
        return SimulatorError(message)


def _start_from_lasting_thread(process: SpawnProcess, released: threading.Event) -> None:
    """Starts the process from a thread that lives until the simulator is closed.

    Linux sends the parent-death signal when the *thread* that created the child ends, and Ray may run an actor's
    methods in short-lived threads.
    """
    failure: list[BaseException] = []
    started = threading.Event()

    def run() -> None:
        try:
            process.start()
        except BaseException as error:
            failure.append(error)
        finally:
            started.set()
        released.wait()

    threading.Thread(target=run, daemon=True, name=f"{process.name}-starter").start()
    started.wait()
    if failure:
        released.set()
        raise SimulatorError(f"could not start the simulator process: {failure[0]}") from failure[0]


def _end_process(process: SpawnProcess, channel: connection.Connection, released: threading.Event) -> None:
    channel.close()
    if process.is_alive():
        process.terminate()
        process.join(3.0)
    if process.is_alive():
        process.kill()
        process.join(5.0)
    released.set()


def _describe_exit(code: int | None) -> str:
    if code is None:
        return "exit status unknown"
    if code < 0:
        try:
            return f"signal {-code}, {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"


def _tail(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()[-LOG_TAIL_LINES:]
    except OSError as error:
        return f"(cannot read it: {error})"
    return "".join(f"  | {line}" for line in lines).rstrip()
