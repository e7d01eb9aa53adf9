# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``--device cpu`` on a machine that has accelerators.

rlinf 0.3.0 counts GPUs through NVML, which ignores ``CUDA_VISIBLE_DEVICES``. The probe that reports a node's hardware
to the driver is replaced for the duration of a run by one that reports no accelerators; RLinf then places workers by
node and starts them with ``ACCELERATOR_TYPE=NO_ACCEL``, which is the case that :mod:`.cpu_platform` serves.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def hide_accelerators(active: bool) -> Iterator[None]:
    """Let RLinf see no accelerators while the context is open.

    Args:
        active: Whether to hide them; False makes this an empty context.
    """
    if not active:
        yield
        return
    from rlinf.scheduler.cluster import cluster as cluster_module
    from rlinf.scheduler.hardware import Accelerator

    original = cluster_module.NodeProbe

    class CpuOnlyNodeProbe(original):
        """A node probe that drops the accelerators it found."""

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for node in self.nodes:
                node.hardware_resources = [
                    resource for resource in node.hardware_resources if resource.type != Accelerator.HW_TYPE
                ]

    cluster_module.NodeProbe = CpuOnlyNodeProbe
    try:
        yield
    finally:
        cluster_module.NodeProbe = original
