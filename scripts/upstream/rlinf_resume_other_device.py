# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: a checkpoint that was written without an accelerator cannot be resumed with one."""

import os
import tempfile

os.environ["ACCELERATOR_TYPE"] = "NO_ACCEL"

import torch
import torch.distributed as dist
from rlinf.scheduler.worker.worker import Worker
from rlinf.utils.utils import get_rng_state
from torch.distributed import checkpoint as dcp


class Platform:
    """Stands for ``torch.cuda``, here and there."""

    is_available = staticmethod(lambda: True)
    get_rng_state = staticmethod(torch.get_rng_state)


Worker.torch_platform = Platform
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
    for Worker.torch_device_type in ("cpu", "cuda"):
        state = {"fsdp_checkpoint": {"rng": get_rng_state()}}  # the part of RLinf's Checkpoint.state_dict that differs
        if Worker.torch_device_type == "cpu":
            dcp.save(state, checkpoint_id=f"{folder}/checkpoint")
            continue
        try:
            dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
        except dcp.api.CheckpointException as error:
            print(str(error).strip().splitlines()[-1])
        else:
            raise SystemExit("gone: it loads")
    dist.destroy_process_group()
