# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""How many threads a worker process takes, on machines with a GPU and without."""

from __future__ import annotations

import importlib
import os

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.config.checks_run import THREAD_VARIABLES
from isaaclab_rlinf.workers import common


@pytest.fixture
def threads(monkeypatch, tmp_path):
    """A machine of 32 cores; yields what torch was told."""
    told = []
    monkeypatch.setattr(torch, "set_num_threads", told.append)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(32)))
    monkeypatch.setattr(common, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.delenv(common.THREADS_VARIABLE, raising=False)
    return told


@pytest.mark.parametrize(("processes", "expected"), [(1, 32), (8, 4), (5, 6), (64, 1), (-1, 32)])
def test_processes_of_a_machine_share_its_cores(threads, processes, expected):
    common.use_cores(processes)
    assert threads == [expected]


@pytest.mark.parametrize(("quota", "expected"), [("max 100000", 16), ("600000 100000", 3), ("50000 100000", 1)])
def test_a_containers_quota_counts(threads, tmp_path, quota, expected):
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    common.use_cores(2)
    assert threads == [expected]


def test_the_variable_wins(threads, monkeypatch):
    monkeypatch.setenv(common.THREADS_VARIABLE, "7")
    common.use_cores(8)
    assert threads == [7]
    assert common.THREADS_VARIABLE in THREAD_VARIABLES
    monkeypatch.setenv(common.THREADS_VARIABLE, "many")
    with pytest.raises(ValueError, match="is 'many'; give a number"):
        common.use_cores(8)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("module", ["actor", "rollout", "sac_actor"])
def test_every_worker_with_a_model_does_so(threads, module, device, monkeypatch):
    module = importlib.import_module(f"isaaclab_rlinf.workers.{module}")
    kind = next(value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__)
    parent = next(base for base in kind.__mro__[1:] if "init_worker" in vars(base))
    monkeypatch.setattr(parent, "init_worker", lambda self: None)
    worker = object.__new__(kind)
    worker.cfg, worker._rank = OmegaConf.create({"runner": {"ckpt_path": None}, "actor": {"seed": 1}}), 0
    worker.torch_device_type, worker._node_local_world_size = device, 4
    worker.init_worker()
    assert threads == [8]
