# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A console that shows the run's own lines, while everything else goes to a log file.

RLinf, Ray and the simulator print some hundred lines at start and dozens per step, partly from native code. They are
kept, in full, in one file of the run directory.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import IO


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
        self._terminal: IO[str] | None = None
        self._saved: tuple[int, int] | None = None

    def __enter__(self) -> RunConsole:
        """Redirect descriptors 1 and 2."""
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        sys.stdout.flush()
        sys.stderr.flush()
        self._saved = (os.dup(1), os.dup(2))
        self._terminal = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8", errors="replace")
        with self.log_file.open("ab") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Give the descriptors back."""
        with contextlib.suppress(ValueError):  # a stream that a library closed
            sys.stdout.flush()
            sys.stderr.flush()
        assert self._saved is not None
        for saved, target in zip(self._saved, (1, 2), strict=True):
            os.dup2(saved, target)
            os.close(saved)
        if self._terminal is not None:
            self._terminal.close()
        self._terminal = self._saved = None

    @property
    def terminal(self) -> IO[str]:
        """The stream that reaches the user: the terminal while the context is open, ``sys.stdout`` otherwise."""
        return self._terminal or sys.stdout

    def line(self, text: str = "") -> None:
        """Write one line to the terminal and, while the context is open, to the log file."""
        print(text, file=self.terminal, flush=True)
        if self._terminal is not None:
            print(text, flush=True)

    def summary(self, title: str, fields: dict[str, str]) -> None:
        """Show Isaac Lab's boxed run summary.

        Args:
            title: Text in the box's top border.
            fields: One row each.
        """
        from isaaclab.app import LoadingScreen

        # The screen writes to the stream that is sys.stdout when it is made.
        with contextlib.redirect_stdout(self.terminal):
            LoadingScreen(1, enabled=False, logo=False).summary(title, fields)
        self.terminal.flush()
