# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What every worker process needs once."""

from __future__ import annotations

import os


def use_cpu_threads(device_type: str) -> None:
    """Let torch use the machine's cores where the CPU is the training device.

    Ray sets ``OMP_NUM_THREADS=1`` for actors that reserve no CPU, as RLinf's do. The roles take turns, so each may
    use every core. ``ISAACLAB_RLINF_NUM_THREADS`` overrides the number.

    Args:
        device_type: ``Worker.torch_device_type`` of this process; anything but ``"cpu"`` changes nothing.
    """
    if device_type != "cpu":
        return
    import torch

    torch.set_num_threads(int(os.environ.get("ISAACLAB_RLINF_NUM_THREADS", os.cpu_count() or 1)))
