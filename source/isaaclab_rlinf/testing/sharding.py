# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""FSDP2 as RLinf's actor applies it, for tests on the CPU.

Rank discipline: :func:`shard` and :func:`full_gradients` are collectives, to be called by every rank of the mesh.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh


@contextmanager
def gloo_mesh(store: Path, rank: int = 0, world_size: int = 1, timeout_s: float = 120.0) -> Iterator[DeviceMesh]:
    """Join a gloo process group for the time of the block.

    Args:
        store: File through which the ranks meet; must not exist before.
        rank: This process's.
        world_size: Number of processes.
        timeout_s: How long to wait for the others.

    Raises:
        RuntimeError: If this process has a process group already.
    """
    if dist.is_initialized():
        raise RuntimeError("this process has a process group already; destroy it first")
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=world_size, timeout=timedelta(seconds=timeout_s)
    )
    try:
        yield init_device_mesh("cpu", (world_size,))
    finally:
        dist.destroy_process_group()


def shard(
    policy: nn.Module,
    mesh: DeviceMesh,
    fsdp_config: Mapping[str, Any] | None = None,
    param_dtype: torch.dtype | None = None,
) -> nn.Module:
    """Shard a policy with RLinf's own function, and keep recorded inputs exact as the actor does.

    Args:
        policy: A policy with its weights; changed in place.
        mesh: The ranks.
        fsdp_config: The ``actor.fsdp_config`` section, for its ``wrap_policy``.
        param_dtype: Dtype of weights in the forward pass; None keeps theirs.
    """
    from omegaconf import OmegaConf
    from rlinf.hybrid_engines.fsdp.utils import apply_fsdp2_to_model
    from torch.distributed.fsdp import MixedPrecisionPolicy, OffloadPolicy

    from isaaclab_rlinf.compat.rlinf_fsdp import keep_exact

    mixed = MixedPrecisionPolicy(param_dtype=param_dtype, reduce_dtype=torch.float32)
    config = OmegaConf.create(dict(fsdp_config or {}))
    sharded = apply_fsdp2_to_model(policy, config, mesh, mixed, OffloadPolicy(), reshard_after_forward=True)
    keep_exact(sharded)
    return sharded


def sharded_modules(policy: nn.Module) -> list[str]:
    """Return the names of the modules that are FSDP units; the root is ``""``."""
    from torch.distributed.fsdp import FSDPModule

    return [name for name, module in policy.named_modules() if isinstance(module, FSDPModule)]


def full_gradients(policy: nn.Module) -> dict[str, torch.Tensor]:
    """Return the gradients of a sharded policy, gathered from all ranks."""
    return {
        name: parameter.grad.full_tensor() if hasattr(parameter.grad, "full_tensor") else parameter.grad
        for name, parameter in policy.named_parameters()
        if parameter.grad is not None
    }
