# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The ranks of the sharding check: ``python -m isaaclab_rlinf.testing.rank_process FOLDER WORLD_SIZE``.

Reads ``job.pt`` and ``build.pkl`` from the folder and writes ``rank<N>.pt`` and ``rank<N>.log``. This process imports
what is slow to import and then forks the ranks; nothing has run in it before that a fork could break.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import traceback
from pathlib import Path

import rlinf.hybrid_engines.fsdp.utils  # noqa: F401  (slow, needed by every rank)
import torch

from isaaclab_rlinf.testing.report import describe_end
from isaaclab_rlinf.testing.sharding import full_gradients, gloo_mesh, shard, sharded_modules
from isaaclab_rlinf.testing.subject import loss_of, trainer_forward


def run_rank(folder: Path, rank: int, world_size: int) -> None:
    """Build, load, shard, evaluate this rank's part of the batch, go backward, and write the results."""
    torch.set_num_threads(1)
    job = torch.load(folder / "job.pt", weights_only=False)
    policy = pickle.loads((folder / "build.pkl").read_bytes())().cpu()
    policy.load_state_dict(job["state"])
    policy.train(job["train"])
    with gloo_mesh(folder / "store", rank, world_size, job["timeout_s"]) as mesh:
        shard(policy, mesh, job["fsdp_config"])
        output = trainer_forward(policy, **job["parts"][rank], compute_values=job["compute_values"])
        loss_of(output).backward()
        gradients = full_gradients(policy)
        values = output.get("values") if job["compute_values"] else None
        result = {
            "logprobs": output["logprobs"].detach(),
            "values": None if values is None else values.detach(),
            "gradients": gradients if rank == 0 else {},
            "units": sharded_modules(policy),
        }
        torch.save(result, folder / f"rank{rank}.pt")


def run_ranks(folder: Path, world_size: int) -> str:
    """Fork the ranks and wait for them; the first that fails ends the others.

    Returns:
        What the failed rank wrote and how it ended; empty when none failed.
    """
    ranks = {_fork(folder, rank, world_size): rank for rank in range(world_size)}
    while ranks:
        pid, status = os.wait()
        rank = ranks.pop(pid)
        if status:
            for other in ranks:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(other, signal.SIGKILL)
                os.waitpid(other, 0)
            log = (folder / f"rank{rank}.log").read_text(errors="replace").strip()
            return f"{log}\n{describe_end(f'rank {rank}', os.waitstatus_to_exitcode(status), log)}".strip()
    return ""


def _fork(folder: Path, rank: int, world_size: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    with (folder / f"rank{rank}.log").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            run_rank(folder, rank, world_size)
        except BaseException:
            traceback.print_exc(file=log)
            log.flush()
            os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    if error := run_ranks(Path(sys.argv[1]), int(sys.argv[2])):
        sys.exit(error)
