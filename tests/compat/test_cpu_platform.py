# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Guards on what the CPU shims rely on in rlinf 0.3.0; each fails when upstream changes."""

import ast
import inspect
import subprocess
import sys

import pytest
import torch

from isaaclab_rlinf.compat import cpu_platform


def test_shim_answers_for_no_accelerator_only():
    """Run in a process of its own: the shim changes RLinf's classes."""
    script = """
from rlinf.scheduler.hardware.accelerators.accelerator import AcceleratorManager, AcceleratorType, AcceleratorUtil
assert AcceleratorUtil.get_torch_platform(AcceleratorType.NO_ACCEL) is None, "upstream answers by itself: drop the shim"
assert AcceleratorUtil.get_device_type(AcceleratorType.NO_ACCEL) is None, "upstream answers by itself: drop the shim"
before = AcceleratorUtil.get_torch_platform(AcceleratorType.NV_GPU)
from isaaclab_rlinf.compat import prepare_worker_imports
prepare_worker_imports(); prepare_worker_imports()
assert AcceleratorUtil.get_torch_platform(AcceleratorType.NV_GPU) is before
assert AcceleratorUtil.get_device_type(AcceleratorType.NV_GPU) == "cuda"
platform = AcceleratorUtil.get_torch_platform(AcceleratorType.NO_ACCEL)
assert platform.current_device() == "cpu" and AcceleratorUtil.get_device_type(AcceleratorType.NO_ACCEL) == "cpu"
print("ok")
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "ok", result.stderr


@pytest.mark.parametrize(
    "module",
    [
        "rlinf.hybrid_engines.fsdp.strategy.base",
        "rlinf.utils.utils",
        "rlinf.workers.rollout.hf.huggingface_worker",
        "rlinf.workers.env.env_worker",
    ],
)
def test_platform_has_every_attribute_that_upstream_uses(module):
    import importlib

    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "torch_platform"
    }
    missing = {name for name in used if not hasattr(cpu_platform.CpuPlatform, name)}
    assert not missing


def test_rng_state_round_trip():
    platform = cpu_platform.CpuPlatform()
    state = platform.get_rng_state()
    first = torch.rand(3)
    platform.set_rng_state(state)
    assert torch.equal(torch.rand(3), first)
