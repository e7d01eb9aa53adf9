# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: the FSDP2 strategy gets no process group, so that each rank clips by the norm of its own shard."""

import os
import tempfile

import torch
import torch.distributed as dist
import transformers

os.environ["ACCELERATOR_TYPE"] = "NO_ACCEL"
transformers.AutoModelForVision2Seq = transformers.AutoModelForImageTextToText  # see rlinf_import_transformers5.py

from rlinf.hybrid_engines.fsdp.utils import get_grad_norm
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard


def rank(index: int, store: str) -> None:
    """Show the norm that a rank gets for a gradient with the norm 5: 3 in one shard, 4 in the other."""
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=index, world_size=2)
    # as FSDPModelManager does it: create_device_mesh names its one dimension "fsdp", never "ddp"
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("fsdp",))
    group = mesh["ddp"].get_group() if "ddp" in mesh.mesh_dim_names else None
    weight = torch.nn.Parameter(DTensor.from_local(torch.zeros(1), mesh, [Shard(0)]))
    weight.grad = DTensor.from_local(torch.tensor([3.0 + index]), mesh, [Shard(0)])
    norm = get_grad_norm([weight], dp_group=group)
    print(
        f"rank {index}: norm {norm:.1f}, of the whole gradient {weight.grad.full_tensor().norm().item():.1f}",
        flush=True,
    )
    dist.destroy_process_group()
    if norm == 5.0:
        raise SystemExit("gone: the norm is the whole gradient's")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(rank, (f"{folder}/store",), nprocs=2, start_method="fork")
