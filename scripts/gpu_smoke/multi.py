# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Several ranks on one machine: ``python -m gpu_smoke.multi``, one process per rank."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from pathlib import Path

from .context import Context
from .outcome import CheckFailed, NeedsGpus


def need_gpus(context: Context, count: int) -> None:
    """Raise unless there are so many GPUs; on a CPU gloo serves any number of ranks.

    Raises:
        NeedsGpus: With how many there are.
    """
    if not context.full:
        return
    import torch

    if (found := torch.cuda.device_count()) < count:
        raise NeedsGpus(f"needs {count} GPUs, here {'is' if found == 1 else 'are'} {found}")


def run_ranks(context: Context, function: str, shared: Path, world_size: int) -> None:
    """Run ``function(shared, rank, world_size)`` in processes that form a process group, and wait for them.

    Args:
        context: Of the check.
        function: ``module:name``.
        shared: Directory that the ranks share; their output goes there.
        world_size: Number of ranks.

    Raises:
        CheckFailed: If a rank fails or does not end; the others are ended then.
    """
    (shared / "store").unlink(missing_ok=True)
    ranks = []
    for rank in range(world_size):
        command = [sys.executable, "-m", "gpu_smoke.multi", context.device, function, str(shared), str(rank)]
        with (shared / f"rank{rank}.log").open("w") as log:
            ranks.append(subprocess.Popen([*command, str(world_size)], stdout=log, stderr=log))
    deadline = time.monotonic() + (100 if context.full else 600)
    try:
        while any(process.poll() is None for process in ranks):
            failed = [rank for rank, process in enumerate(ranks) if process.poll()]
            if failed or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        codes = [process.poll() for process in ranks]
    finally:
        for process in ranks:
            process.kill()
            process.wait()
    if any(codes) or None in codes:
        worst = next(rank for rank, code in enumerate(codes) if code or code is None)
        lines = (shared / f"rank{worst}.log").read_text(errors="replace").strip().splitlines()
        how = "did not end" if codes[worst] is None else f"ended with exit code {codes[worst]}"
        raise CheckFailed(f"rank {worst} {how}: {lines[-1] if lines else 'no output'}\n" + "\n".join(lines))


def main(device: str, function: str, shared: str, rank: str, world_size: str) -> None:
    """Be one rank."""
    import torch.distributed as dist

    from . import actor

    actor.join(device, Path(shared) / "store", int(rank), int(world_size))
    module, name = function.split(":")
    getattr(importlib.import_module(module), name)(Path(shared), int(rank), int(world_size))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
