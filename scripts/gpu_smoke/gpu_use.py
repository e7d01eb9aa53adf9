# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which processes use which GPU, while a command runs."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path


class GpuWatch:
    """Asks the driver twice a second which processes hold a GPU. A context manager.

    Attributes:
        seen: Process id -> (GPU's uuid, command line) of every process that was below a directory of ours.
    """

    def __init__(self, below: Path) -> None:
        """Watches processes whose working directory is, or lies below, ``below``."""
        self.seen: dict[int, tuple[str, str]] = {}
        self._below = below.resolve()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> GpuWatch:
        """Start to watch."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._end.set()
        self._thread.join(10.0)

    def look(self) -> None:
        """Ask once."""
        for pid, gpu in compute_processes():
            try:
                place = Path(f"/proc/{pid}/cwd").resolve(strict=True)
                command = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
            except OSError:  # another user's, another container's, or gone
                continue
            if place.is_relative_to(self._below):
                self.seen[pid] = gpu, command

    def _run(self) -> None:
        while not self._end.wait(0.5):
            self.look()


def compute_processes() -> list[tuple[int, str]]:
    """Return process id and GPU uuid of each compute process that the driver lists; none without a driver."""
    command = ["nvidia-smi", "--query-compute-apps=pid,gpu_uuid", "--format=csv,noheader"]
    try:
        lines = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return []
    pairs = [line.split(",") for line in lines if line.count(",") == 1]
    return [(int(pid), gpu.strip()) for pid, gpu in pairs if pid.strip().isdigit()]
