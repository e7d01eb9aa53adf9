# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A console that shows the run's own lines, while everything else goes to a log file.

RLinf, Ray and the simulator print some hundred lines at start and dozens per step, partly from native code. They are
kept, in full, in one file of the run directory.

Nothing here fails because a line cannot be written: a full disk, a closed terminal or an unmounted log directory is
often the very fault that is being reported.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from isaaclab_rlinf.backends.summary_box import summary_box


class RunConsole:
    """Owns the terminal for the duration of a run.

    Entering redirects the process's file descriptors 1 and 2, and so every library and child process, to
    :attr:`log_file`; :meth:`line` keeps writing to the real terminal, and to the log file too.
    """

    def __init__(self, log_file: Path):
        """Keep the log file's path; nothing is opened before the context is entered.

        Args:
            log_file: File to append everything to.
        """
        self.log_file = log_file
        self.end_told = False
        """Whether the user knows why the run ends; what follows from that is not told again."""
        self._open = False
        self._outer: tuple[IO[str], IO[str]] = (sys.stdout, sys.stderr)
        self._saved: tuple[int, int] = (1, 2)
        self._log_loss_told = False

    def __enter__(self) -> RunConsole:
        """Redirect descriptors 1 and 2."""
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        self._outer = (sys.stdout, sys.stderr)
        _flush(*self._outer)
        self._saved = (os.dup(1), os.dup(2))
        self._terminal, self._errors = (_open_lossy(saved) for saved in self._saved)
        with self.log_file.open("ab") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        # A library's print must not end the run either, nor leave text in a buffer that no disk takes.
        sys.stdout, sys.stderr = _open_lossy(1), _open_lossy(2)
        self._open = True
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Give the descriptors back."""
        # What a library wrote to the outer streams meanwhile belongs to the log.
        _flush(sys.stdout, sys.stderr, *self._outer)
        self._tell_lost_log()
        self._open = False
        sys.stdout, sys.stderr = self._outer
        for saved, target in zip(self._saved, (1, 2), strict=True):
            os.dup2(saved, target)
            os.close(saved)

    @property
    def terminal(self) -> IO[str]:
        """The stream that reaches the user: the terminal while the context is open, ``sys.stdout`` otherwise."""
        return self._terminal if self._open else sys.stdout

    def line(self, text: str = "") -> None:
        """Write one line to the terminal and, while the context is open, to the log file; never fails."""
        if not self._open:
            with contextlib.suppress(OSError, ValueError):
                print(text, flush=True)
            return
        self._show(text)
        _wrote(sys.stdout, text)
        self._tell_lost_log()

    def notice(self, text: str) -> None:
        """Write one line that informs."""
        self.line(f"[INFO] {text}")

    def summary(self, title: str, fields: Mapping[str, str]) -> None:
        """Show a boxed summary of the run, as wide as the terminal allows.

        Args:
            title: Text in the box's top border.
            fields: One row each.
        """
        self.line(f"\n{summary_box(title, fields, self.terminal)}\n")

    def _tell_lost_log(self) -> None:
        """Say once that the log has gaps, and why."""
        lost = [raw.error for stream in (sys.stdout, sys.stderr) if (raw := _raw(stream)) and raw.error]
        if lost and not self._log_loss_told:
            self._log_loss_told = True
            self._show(f"[WARN] {self.log_file} is incomplete from here on: {lost[0].strerror or lost[0]}")

    def _show(self, text: str) -> None:
        """Write one line to the terminal, or where that is a file on the full disk or a closed pipe, to stderr."""
        if not _wrote(self._terminal, text):
            _wrote(self._errors, text)


def attempt[Result](console: RunConsole, what: str, step: Callable[[], Result]) -> Result | None:
    """Do something whose failure must not turn a finished run into a failed one.

    Args:
        console: Where to say that it failed; the traceback goes to the log only.
        what: What is attempted, as in ``"draw the learning curve"``.
        step: Does it.

    Returns:
        What the step returned; None when it failed.
    """
    try:
        return step()
    except Exception as error:
        reason = " ".join(str(error).split()) or "no message"
        console.line(f"[WARN] Could not {what}: {type(error).__name__}: {reason}")
        with contextlib.suppress(OSError, ValueError):
            traceback.print_exc()
        return None


class _LossyFile(io.FileIO):
    """A descriptor whose failed writes are remembered in place of raised."""

    error: OSError | None = None
    losses: int = 0

    def write(self, data) -> int:
        """Write what the system takes; the rest is gone."""
        try:
            written = super().write(data)
            return len(data) if written is None else written
        except OSError as error:
            self.error = error
            self.losses += 1
            return len(data)


def _open_lossy(descriptor: int) -> IO[str]:
    """Return a line-buffered text stream over a descriptor that others own."""
    raw = _LossyFile(descriptor, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="replace", line_buffering=True)


def _raw(stream: IO[str]) -> _LossyFile | None:
    """Return the file below a stream, where it is one of ours."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, _LossyFile) else None


def _wrote(stream: IO[str], text: str) -> bool:
    """Write one line, and return whether it arrived."""
    raw = _raw(stream)
    losses = raw.losses if raw else 0
    try:
        print(text, file=stream, flush=True)
    except (OSError, ValueError):  # a library replaced the stream, or closed it
        return False
    return raw is None or raw.losses == losses


def _flush(*streams: IO[str]) -> None:
    """Flush what can be flushed."""
    for stream in streams:
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
