# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What every worker process needs once."""

from __future__ import annotations

import os
from pathlib import Path

THREADS_VARIABLE = "ISAACLAB_RLINF_NUM_THREADS"
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def use_cores(processes: int) -> None:
    """Let torch use this process's share of the machine's cores, on GPU machines too: images are resized on the CPU.

    Ray sets ``OMP_NUM_THREADS=1`` for actors that reserve no CPU, as RLinf's do. The roles take turns, so a process
    shares the cores only with those of its own role. ``ISAACLAB_RLINF_NUM_THREADS`` overrides the number.

    Args:
        processes: Number of this role's processes on this machine.

    Raises:
        ValueError: If the variable holds no number of threads.
    """
    import torch

    given = os.environ.get(THREADS_VARIABLE)
    if given is not None and not (given.isdecimal() and int(given) > 0):
        raise ValueError(f"{THREADS_VARIABLE} is {given!r}; give a number of threads from 1, or unset it")
    torch.set_num_threads(int(given) if given else max(1, usable_cores() // max(1, processes)))


def usable_cores() -> int:
    """Return how many cores this process may use: of its affinity, and of its container's quota."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else max(1, min(cores, int(quota) // int(period)))
