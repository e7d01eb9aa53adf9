# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The simulator process: builds the environment, then answers requests until it is told to close.

Nothing heavy is imported at module level: the process first ties its life to the parent's, redirects its output and
sets its threads, and only then imports torch and Isaac Lab.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import sys
import threading
import traceback
from multiprocessing import connection, parent_process
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
    SimulatorSpec,
)

if TYPE_CHECKING:
    from isaaclab_rlinf.env.chunk import ChunkStepper
    from isaaclab_rlinf.env.protocol import SteppableEnv

THREADS_VARIABLE = "ISAACLAB_RLINF_SIM_THREADS"
"""Environment variable with the number of torch threads of a simulator process; default 1."""

_PR_SET_PDEATHSIG = 1


def child_main(spec: SimulatorSpec, channel: connection.Connection) -> None:
    """Entry point of the process.

    Args:
        spec: What to build.
        channel: Pipe to the parent. The first message is a :class:`Handshake`; a :class:`Failure` is the last one.
    """
    _prepare_process(spec.log_file)
    report = _Reporter(channel)
    try:
        _run(spec, channel, report)
    except BaseException as error:
        report(error)
        sys.exit(1)


def _run(spec: SimulatorSpec, channel: connection.Connection, report: _Reporter) -> None:
    import torch
    import torch.multiprocessing  # Registers how tensors are sent: as handles of shared memory.

    torch.set_num_threads(max(1, int(os.environ.get(THREADS_VARIABLE, "1"))))
    module, function = spec.factory.split(":")
    # Kit ends the process when its context closes, so a failure inside it is reported before that.
    with getattr(importlib.import_module(module), function)(spec, report) as env:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Again: a runtime may have installed its own handler.
        try:
            stepper, video = _connect(spec, env, channel)
            _serve(env, stepper, video, channel)
        except BaseException as error:
            report(error)
            raise


def _connect(spec: SimulatorSpec, env: SteppableEnv, channel: connection.Connection) -> tuple[ChunkStepper, Any]:
    """Resets the environment, allocates the shared tensors and greets the parent."""
    import torch

    from isaaclab_rlinf.env.chunk import ChunkStepper
    from isaaclab_rlinf.env.shared_buffers import allocate, buffer_specs, page_lock
    from isaaclab_rlinf.mapping.observations import ObservationMap

    observation = env.reset(seed=spec.seed)
    layout = env.layout(observation)
    mapping = ObservationMap.build(spec.block, layout, env.instructions)
    action_dim = sum(term.width for term in env.action_terms)
    specs = buffer_specs(mapping.shapes(env.num_envs), env.num_envs, spec.chunk_length, action_dim)
    buffers = allocate(specs)
    unlocked = page_lock(buffers) if torch.device(env.device).type == "cuda" else None
    video = None
    if spec.video is not None:
        from isaaclab_rlinf.env.video import VideoRecorder

        video = VideoRecorder(spec.video, mapping, env.num_envs, env.step_seconds, env.viewed)
    stepper = ChunkStepper(env, spec, mapping, buffers, video)
    stepper.begin(observation)
    channel.send(
        Handshake(
            pid=os.getpid(),
            device=str(env.device),
            action_terms=env.action_terms,
            instructions=mapping.instructions,
            max_episode_steps=env.max_episode_steps,
            step_seconds=env.step_seconds,
            layout=layout,
            mapping_table=mapping.describe(),
            buffers=buffers,
            notices=(*env.notices, *mapping.notices, *([unlocked] if unlocked else [])),
        )
    )
    return stepper, video


def _serve(env: SteppableEnv, stepper: ChunkStepper, video: Any, channel: connection.Connection) -> None:
    import torch

    with torch.inference_mode():
        while True:
            try:
                request = channel.recv()
            except EOFError:  # The parent is gone.
                return
            if isinstance(request, CloseRequest):
                if video is not None:
                    video.flush()
                channel.send(Done())
                return
            channel.send(_answer(request, env, stepper, video))


def _answer(request: object, env: SteppableEnv, stepper: ChunkStepper, video: Any) -> ChunkResult | Done:
    if isinstance(request, ChunkRequest):
        return stepper.step_chunk()
    if isinstance(request, ResetRequest):
        stepper.begin(env.reset(seed=request.seed))
        return Done()
    if isinstance(request, FlushVideoRequest):
        return Done(videos=video.flush() if video is not None else ())
    raise TypeError(f"unknown request {request!r}")


class _Reporter:
    """Tells the parent of the first error; what follows, such as a runtime that cannot close, is for the log."""

    def __init__(self, channel: connection.Connection) -> None:
        self._channel = channel
        self._first: BaseException | None = None

    def __call__(self, error: BaseException) -> None:
        if error is self._first:
            return
        text = "".join(traceback.format_exception(error))
        print(text, file=sys.stderr, flush=True)
        if self._first is not None:
            return
        self._first = error
        with contextlib.suppress(OSError):  # The parent is gone, there is nobody to tell.
            self._channel.send(Failure(summary=f"{type(error).__name__}: {error}", traceback=text))


def _prepare_process(log_file: str | None) -> None:
    """Redirects output, ties this process to its parent and leaves Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if log_file is not None:
        os.makedirs(os.path.dirname(log_file) or ".", exist_ok=True)
        target = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(target, 1)
        os.dup2(target, 2)
        os.close(target)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_die_with, args=(parent.sentinel,), daemon=True, name="parent-watch").start()
    threads = os.environ.get(THREADS_VARIABLE, "1")
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = threads


def _die_with(sentinel: int) -> None:
    """Ends this process when the parent does. Covers a parent that died before the death signal was armed."""
    connection.wait([sentinel])
    os._exit(1)
