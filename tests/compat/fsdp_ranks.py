# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's FSDP manager on gloo ranks: ``python fsdp_ranks.py FOLDER`` writes ``<manager>-<ranks>-<rank>.pt``.

A process of its own: what is slow to import is imported once and the ranks are forked from it, before anything ran
that a fork could break. Every rank runs every case and saves what it saw.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.compat import prepare_worker_imports
from isaaclab_rlinf.compat.transformers_aliases import alias_removed_auto_classes

prepare_worker_imports()
alias_removed_auto_classes()

from rlinf.hybrid_engines.fsdp.fsdp_model_manager import FSDPModelManager  # noqa: E402

from isaaclab_rlinf.compat.rlinf_fsdp import ExactFsdp, keep_exact  # noqa: E402
from isaaclab_rlinf.testing.sharding import gloo_mesh  # noqa: E402

CLIP = 0.5
BATCH, MICRO_BATCHES, UPDATES = 8, 2, 3
RECORDED = ("sample_before", "sample_after", "own_record")


class Block(torch.nn.Linear):
    """The unit that is sharded on its own."""


class Net(torch.nn.Module):
    """Five and three rows do not divide by two ranks, one row leaves a rank without any."""

    _no_split_modules = ("Block",)
    exact_inputs = ("own_record",)

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.block, self.value_head = torch.nn.Linear(4, 5), Block(5, 3), torch.nn.Linear(3, 1)

    def forward(self, forward_inputs, prev_logprobs=None, use_cache=False):
        assert torch.is_tensor(forward_inputs["x"]), "cast or not, inputs are tensors"
        self.seen = {**forward_inputs, "prev_logprobs": prev_logprobs}
        hidden = self.block(torch.tanh(self.first(forward_inputs["x"])))
        return self.value_head(torch.tanh(hidden)).float()


class Mended(ExactFsdp, FSDPModelManager):
    """What our actor is built on."""

    def model_provider_func(self):
        return Net().to(self.torch_dtype)


class Upstream(FSDPModelManager):
    """RLinf's own."""

    model_provider_func = Mended.model_provider_func


def manager(kind, rank, ranks, precision="fp32", param_dtype=None):
    fsdp = {
        "strategy": "fsdp2",
        "mixed_precision": {"param_dtype": param_dtype, "reduce_dtype": "fp32", "buffer_dtype": "fp32"},
        "amp_autocast": {"enabled": False},
        "grad_scaler": {"enabled": False},
        "cpu_offload": False,
        "reshard_after_forward": True,
        "enable_gradient_accumulation": True,
    }
    optim = {"lr": 1e-2, "value_lr": 1e-1, "adam_beta1": 0.9, "adam_beta2": 0.999, "clip_grad": CLIP}
    cfg = OmegaConf.create(
        {"model": {"precision": precision, "add_value_head": True}, "optim": optim, "fsdp_config": fsdp}
    )
    worker = kind(cfg, ranks, rank)
    worker.setup_model_and_optimizer()
    return worker


def whole(tensors):
    return {name: t.detach().full_tensor().float().clone() for name, t in tensors if t is not None}


def gradients(worker):
    return whole((name, p.grad) for name, p in worker.model.named_parameters())


def parameters(worker):
    return whole(worker.model.named_parameters())


def backward(worker, rank, ranks, update):
    """Accumulate the gradient of a batch that depends on the update alone; each rank has its part of the batch.

    Later gradients are smaller, some below the bound, so that Adam's moments tell how each was scaled.
    """
    generator = torch.Generator().manual_seed(update)
    data = torch.randn(BATCH, 4, generator=generator).to(worker.torch_dtype)
    parts = data.chunk(ranks)[rank].chunk(MICRO_BATCHES)
    worker.optimizer.zero_grad()
    for index, part in enumerate(parts):
        worker.before_micro_batch(worker.model, is_last_micro_batch=index == MICRO_BATCHES - 1)
        loss = (20 * worker.model(forward_inputs={"x": part}) - 7).square().mean() / MICRO_BATCHES
        (loss / 64**update).backward()


def learn(kind, rank, ranks, **precision):
    """Make some updates."""
    worker, steps = manager(kind, rank, ranks, **precision), []
    for update in range(UPDATES):
        backward(worker, rank, ranks, update)
        before = gradients(worker)
        norm, _ = worker.optimizer_step()
        steps.append({"before": before, "norm": norm, "clipped": gradients(worker)})
    return {"steps": steps, "parameters": parameters(worker)}


def poison(kind, rank, ranks):
    """An update with a gradient that is infinite in the last rank's shard of one parameter."""
    worker = manager(kind, rank, ranks)
    before = parameters(worker)
    backward(worker, rank, ranks, 0)
    if rank == ranks - 1:
        worker.model.first.weight.grad.to_local()[0, 0] = torch.inf
    norm, _ = worker.optimizer_step()
    after = parameters(worker)
    return {"norm": norm, "unchanged": all(torch.equal(after[name], before[name]) for name in before)}


def receive(kind, rank, ranks):
    """What the model gets of inputs that bfloat16 cannot hold."""
    worker = manager(kind, rank, ranks, param_dtype="bf16")
    third = torch.full((2, 4), 1 / 3)
    worker.model(forward_inputs={"x": third, **dict.fromkeys(RECORDED, third)}, prev_logprobs=third, use_cache=False)
    seen = worker.model.seen
    return {name: (value.dtype, torch.equal(value.float(), third)) for name, value in seen.items()}


def receive_from_fsdp1(kind):
    """The same of FSDP1, which casts at another place; RLinf's strategy of that name needs a GPU."""
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision

    mixed = MixedPrecision(param_dtype=torch.bfloat16)
    model = FullyShardedDataParallel(Net(), mixed_precision=mixed, device_id=torch.device("cpu"))
    if kind is Mended:
        keep_exact(model)
    third = torch.full((2, 4), 1 / 3)
    model(forward_inputs={"x": third, **dict.fromkeys(RECORDED, third)}, prev_logprobs=third, use_cache=False)
    seen = model.module.seen
    return {name: (value.dtype, torch.equal(value.float(), third)) for name, value in seen.items()}


def run(rank, ranks, folder, kind):
    torch.set_num_threads(1)
    os.environ["LOCAL_RANK"] = str(rank)
    with gloo_mesh(folder / f"store-{kind.__name__}-{ranks}", rank, ranks):
        seen = {
            "fp32": learn(kind, rank, ranks),
            "bf16": learn(kind, rank, ranks, precision="bf16"),
            "mixed": learn(kind, rank, ranks, param_dtype="bf16"),
            "poison": poison(kind, rank, ranks),
            "receive": receive(kind, rank, ranks),
            "receive_from_fsdp1": receive_from_fsdp1(kind),
        }
    torch.save(seen, folder / f"{kind.__name__}-{ranks}-{rank}.pt")


if __name__ == "__main__":
    for kind in (Mended, Upstream):
        for ranks in (1, 2):
            arguments = (ranks, Path(sys.argv[1]), kind)
            torch.multiprocessing.start_processes(run, arguments, nprocs=ranks, start_method="fork")
