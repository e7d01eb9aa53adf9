# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``--device cpu`` on a machine with GPUs; the node probe's answer is made up, as there is none here."""

from types import SimpleNamespace

import pytest

from isaaclab_rlinf.compat.force_cpu import hide_accelerators


@pytest.fixture
def probe_with_gpus(monkeypatch):
    """RLinf's probe as it answers on a machine with eight GPUs and a robot."""
    from rlinf.scheduler.cluster import cluster
    from rlinf.scheduler.hardware import Accelerator

    class Probe:
        def __init__(self, num_nodes, cfg):
            gpus = SimpleNamespace(type=Accelerator.HW_TYPE, count=8)
            robot = SimpleNamespace(type="Franka", count=1)
            self.nodes = [SimpleNamespace(hardware_resources=[gpus, robot])]

    monkeypatch.setattr(cluster, "NodeProbe", Probe)
    return cluster


def kinds(cluster):
    return [resource.type for resource in cluster.NodeProbe(1, None).nodes[0].hardware_resources]


def test_accelerators_are_hidden_and_other_hardware_is_not(probe_with_gpus):
    with hide_accelerators(active=True):
        assert kinds(probe_with_gpus) == ["Franka"]
    assert kinds(probe_with_gpus) == ["Accelerator", "Franka"]


def test_nothing_changes_when_inactive(probe_with_gpus):
    before = probe_with_gpus.NodeProbe
    with hide_accelerators(active=False):
        assert probe_with_gpus.NodeProbe is before
