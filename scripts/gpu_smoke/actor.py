# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Our actor without Ray: RLinf's model manager, FSDP2, optimizer and PPO micro batch in this process.

Rank discipline: everything that takes an actor is a collective of the default process group.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.workers.actor import ActorWorker


def use_device(device: str) -> None:
    """Let RLinf's code in this process use a device.

    Args:
        device: ``cuda`` or ``cpu``; on a machine with GPUs it may change between calls.
    """
    from isaaclab_rlinf.compat import prepare_worker_imports

    prepare_worker_imports()
    from rlinf.scheduler.hardware.accelerators.accelerator import AcceleratorType, AcceleratorUtil
    from rlinf.scheduler.worker.worker import Worker

    kind = AcceleratorType.NV_GPU if device == "cuda" else AcceleratorType.NO_ACCEL
    Worker.accelerator_type = kind
    Worker.torch_platform = AcceleratorUtil.get_torch_platform(kind)
    Worker.torch_device_type = AcceleratorUtil.get_device_type(kind)


def join(device: str, store: Path, rank: int = 0, world_size: int = 1) -> None:
    """Join the process group of this process, once; with GPUs it serves tensors of both kinds.

    Args:
        device: ``cuda`` or ``cpu``.
        store: File through which the ranks meet; must not exist before the first of them.
        rank: This process's, and the index of its GPU.
        world_size: Number of processes.
    """
    import torch
    import torch.distributed as dist

    use_device(device)
    os.environ["LOCAL_RANK"] = str(rank)
    if device == "cuda":
        torch.cuda.set_device(rank)
    if not dist.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if device == "cuda" else "gloo"
        dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=world_size)


def exact_convolutions() -> None:
    """Compute convolutions in full fp32 in this process, where results of different devices or batches are compared."""
    import torch

    torch.backends.cudnn.allow_tf32 = False


def join_alone(device: str, work: Path) -> None:
    """Be the only rank."""
    import torch.distributed as dist

    store = work / f"store-{os.getpid()}"
    if not dist.is_initialized():
        store.unlink(missing_ok=True)
    join(device, store)


def new_actor(cfg: Any) -> ActorWorker:
    """Return an initialized actor for a config, on the device of :func:`use_device`.

    The worker's own ``__init__`` wants RLinf's cluster; what it sets beyond that is set here.
    """
    import torch.distributed as dist

    from isaaclab_rlinf.models.registry import register_models
    from isaaclab_rlinf.workers.actor import ActorWorker

    register_models()
    from rlinf.hybrid_engines.fsdp.fsdp_model_manager import FSDPModelManager

    actor = object.__new__(ActorWorker)
    actor.cfg, actor._rank, actor._world_size = cfg, dist.get_rank(), dist.get_world_size()
    actor._timer_metrics, actor._node_local_world_size = {}, dist.get_world_size()
    FSDPModelManager.__init__(actor, cfg.actor, actor._world_size, actor._rank)
    actor.cfg = cfg
    actor.enable_offload = actor.enable_sft_co_train = False
    actor.version, actor.gradient_accumulation, actor.update_epoch = 0, 1, 1
    actor.init_worker()
    actor.model.train()
    return actor


def micro_batch(result: dict[str, Any], advantage: float = 1.0) -> dict[str, Any]:
    """Return a PPO micro batch of what a rollout policy gave for one observation per environment.

    Args:
        result: Second output of ``predict_action_batch`` in train mode.
        advantage: Size of the advantages, which alternate in sign.
    """
    import torch

    logprobs, values = result["prev_logprobs"].cpu(), result["prev_values"].float().cpu()
    signs = torch.ones(len(logprobs), 1)
    signs[1::2] = -1.0
    return {
        "advantages": advantage * signs,
        "prev_logprobs": logprobs,
        "prev_values": values,
        "returns": values + advantage * signs,
        "forward_inputs": {key: value.cpu() for key, value in result["forward_inputs"].items()},
    }


def accumulate(actor: ActorWorker, batch: dict[str, Any]) -> dict[str, list[Any]]:
    """Compute loss and gradients of one micro batch as RLinf's actor does; returns its metrics."""
    metrics: dict[str, list[Any]] = {}
    actor.optimizer.zero_grad()
    actor.train_micro_batch(batch, metrics, is_last=True)
    return metrics


def logprobs(actor: ActorWorker, batch: dict[str, Any]) -> torch.Tensor:
    """Return the log-probabilities (B, T, A) of a micro batch under the actor's weights, on the CPU."""
    import torch

    from isaaclab_rlinf.testing.subject import PREV_LOGPROB_TYPES, trainer_forward

    previous = batch["prev_logprobs"] if actor.cfg.actor.model.model_type in PREV_LOGPROB_TYPES else None
    with torch.no_grad():
        return trainer_forward(actor.model, batch["forward_inputs"], previous)["logprobs"].float().cpu()


def gradient_norm(actor: ActorWorker) -> float:
    """Return the norm of the gradients that the actor holds, over all ranks, computed by torch in fp32."""
    total = 0.0
    for parameter in actor.model.parameters():
        if parameter.grad is not None:
            gradient = parameter.grad.detach()
            full = gradient.full_tensor() if hasattr(gradient, "full_tensor") else gradient
            total += float(full.float().square().sum())
    return total**0.5


def full_weights(actor: ActorWorker) -> dict[str, torch.Tensor]:
    """Return copies of the trained weights, whole, on the CPU in fp32."""
    return {
        name: (parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter)
        .detach()
        .float()
        .cpu()
        .clone()
        for name, parameter in actor.model.named_parameters()
        if parameter.requires_grad
    }
