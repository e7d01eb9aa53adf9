# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""How many processes each RLinf component gets, from ``cluster.component_placement``, without starting a cluster.

The grammar is RLinf 0.3.0's (``rlinf.scheduler.placement.ComponentPlacement``): ``resources[:processes]`` parts joined
by commas, ranges inclusive, ``all`` for every resource. A resource is an accelerator where there are any, else a node.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMPONENTS = ("actor", "rollout", "env")
_FORM = "'all', a rank '0', a range '0-3', or RESOURCES:PROCESSES such as '0:0-1'"


def count_accelerators() -> int | None:
    """Return how many NVIDIA devices this machine has, None when the run joins a cluster that is already there.

    RLinf asks NVML, which ignores ``CUDA_VISIBLE_DEVICES``; the driver's own listing says the same without an import.
    """
    if os.environ.get("RAY_ADDRESS", "local") not in ("", "local"):
        return None
    devices = Path("/proc/driver/nvidia/gpus")
    return sum(1 for _ in devices.iterdir()) if devices.is_dir() else 0


def world_sizes(
    placement: Any, num_nodes: int, num_accelerators: int | None
) -> tuple[dict[str, int | None], list[str]]:
    """Return the number of processes of each component.

    Args:
        placement: The ``cluster.component_placement`` mapping.
        num_nodes: ``cluster.num_nodes``.
        num_accelerators: Accelerators per node; None when unknown.

    Returns:
        Component -> number of processes (None when it depends on an unknown cluster), and what is wrong.
    """
    sizes: dict[str, int | None] = {}
    errors: list[str] = []
    resources = None if num_accelerators is None else max(1, num_accelerators) * num_nodes
    for names, value in placement.items():
        text = value.get("placement") if isinstance(value, Mapping) else value
        on_nodes = isinstance(value, Mapping) and value.get("node_group") == "node"
        try:
            size = _processes(str(text), num_nodes if on_nodes else resources)
        except ValueError as error:
            errors.append(f"{names}: {error}")
            continue
        for name in (part.strip() for part in str(names).split(",")):
            if name in sizes:
                errors.append(f"{name}: placed twice")
            sizes[name] = size
    return sizes, errors


def _processes(text: str, resources: int | None) -> int | None:
    """Return the number of processes of one placement string."""
    total = 0
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        hardware, colon, ranks = part.partition(":")
        if hardware.strip().lower() == "all":
            count = resources
        else:
            first, last = _range(hardware)
            count = last - first + 1
            if resources is not None and last >= resources:
                raise ValueError(f"{text!r} asks for resource {last}, but there are {resources} (0 to {resources - 1})")
        if colon:
            first, last = _range(ranks)
            if first != total:
                raise ValueError(f"{text!r}: process ranks must continue at {total}")
            processes = last - first + 1
            if count is not None and processes % count and count % processes:
                raise ValueError(f"{text!r}: {processes} processes cannot be spread evenly over {count} resources")
            count = processes
        if count is None:
            return None
        total += count
    if total == 0:
        raise ValueError(f"{text!r} is not {_FORM}")
    return total


def _range(text: str) -> tuple[int, int]:
    first, dash, last = text.strip().partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        raise ValueError(f"{text!r} is not {_FORM}")
    bounds = int(first), int(last) if dash else int(first)
    if bounds[1] < bounds[0]:
        raise ValueError(f"{text!r} runs backwards")
    return bounds
