# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Peak of this process's own memory while something is done."""

from __future__ import annotations

import threading
from pathlib import Path


class HostPeak:
    """Samples the process's memory. A context manager.

    Attributes:
        gib: Growth of anonymous memory at its peak, in GiB: pages of mapped files can be dropped and do not count.
    """

    def __init__(self) -> None:
        """Starts at the present use."""
        self._base = self._peak = anonymous_bytes()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def gib(self) -> float:
        """See the class."""
        return (self._peak - self._base) / 2**30

    def __enter__(self) -> HostPeak:
        """Start to sample."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._end.set()
        self._thread.join()
        self._peak = max(self._peak, anonymous_bytes())

    def _run(self) -> None:
        while not self._end.wait(0.02):
            self._peak = max(self._peak, anonymous_bytes())


def anonymous_bytes() -> int:
    """Return the anonymous resident memory of this process."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    return 0
