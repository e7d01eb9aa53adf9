# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: a model that derives from BasePolicy first, as RLinf's own do, cannot be sharded by FSDP2."""

import tempfile

import torch
import torch.distributed as dist
from rlinf.models.embodiment.base_policy import BasePolicy
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Policy(BasePolicy, torch.nn.Linear):
    """An abstract base class comes first."""

    def default_forward(self, **kwargs: object) -> None:
        """Not called."""

    predict_action_batch = default_forward


with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
    try:
        fully_shard(Policy(1, 1), mesh=init_device_mesh("cpu", (1,)))
    except TypeError as error:
        print(error)
    else:
        raise SystemExit("gone: it is sharded")
    finally:
        dist.destroy_process_group()
