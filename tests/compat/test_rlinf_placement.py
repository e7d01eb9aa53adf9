# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Our reading of placements and of the number of GPUs against RLinf's own, without a cluster."""

import random
from types import SimpleNamespace

import pytest

from isaaclab_rlinf.config.accelerators import count_accelerators
from isaaclab_rlinf.config.placement import read_placement

RESOURCES = ("all", "ALL", "0", "1", "3", "0-1", "0-3", "2-3", "4-7", "1-0", "x", "")
PROCESSES = ("", "", ":0", ":0-1", ":0-3", ":0-5", ":1-2", ":2-5", ":4", ":all", ":", ":0:0")


def rlinfs_processes(text: str, count: int, on_nodes: bool) -> list[tuple[int, ...]] | None:
    """Return the resources of each process by RLinf's own parser, None when it refuses."""
    from rlinf.scheduler.placement.placement import ComponentPlacement

    parser = ComponentPlacement.__new__(ComponentPlacement)
    resolver = SimpleNamespace(hardware_resource_count=count, hardware_types=None if on_nodes else ["Accelerator"])
    try:
        ranks = parser._parse_rank_map(text, resolver)
    except (AssertionError, ValueError):
        return None
    processes = parser._rank_map_to_process_resources_map(ranks)
    if not processes or min(processes) != 0 or (on_nodes and any(len(nodes) > 1 for nodes in processes.values())):
        return None  # RLinf's description wants ranks from 0, and a process on one node
    return [tuple(processes[rank]) for rank in sorted(processes)]


def our_processes(text: str, count: int, on_nodes: bool) -> list[tuple[int, ...]] | None:
    value = {"node_group": "node", "placement": text} if on_nodes else text
    nodes, accelerators = (count, 8) if on_nodes else (1, count)
    components, errors = read_placement({"env": value}, nodes, accelerators)
    return None if errors else list(components["env"].processes)


@pytest.mark.parametrize("on_nodes", [False, True], ids=["gpus", "nodes"])
def test_placements_are_read_as_rlinf_reads_them(on_nodes):
    draw = random.Random(0)
    accepted = 0
    for _ in range(4000):
        parts = [draw.choice(RESOURCES) + draw.choice(PROCESSES) for _ in range(draw.choice((1, 1, 2, 3)))]
        text, count = ",".join(parts), draw.choice((1, 2, 4, 8))
        theirs = rlinfs_processes(text, count, on_nodes)
        assert our_processes(text, count, on_nodes) == theirs, (text, count)
        accepted += theirs is not None
    assert accepted > 400


def test_gpus_are_counted_as_rlinf_counts_them(monkeypatch):
    from rlinf.scheduler.hardware.accelerators.nvidia_gpu import NvidiaGPUManager

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert count_accelerators() == NvidiaGPUManager.get_num_devices()
