# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: with ``mixed_precision.param_dtype: bf16`` FSDP2 rounds the rollout's log-probabilities.

RLinf's actor hands them to GR00T's forward and takes them back as the loss's ``old_logprobs``.
"""

import tempfile

import torch
import torch.distributed as dist
from omegaconf import OmegaConf
from rlinf.hybrid_engines.fsdp.utils import apply_fsdp2_to_model
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, OffloadPolicy


class Policy(torch.nn.Linear):
    """Returns what it is given, as RLinf's GR00T models do."""

    _no_split_modules = ("Block",)

    def forward(self, prev_logprobs: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities of the rollout."""
        return prev_logprobs


with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
    # as FSDP2Strategy.wrap_model builds it
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, cast_forward_inputs=True)
    mesh = init_device_mesh("cpu", (1,))
    model = apply_fsdp2_to_model(Policy(1, 1), OmegaConf.create({}), mesh, policy, OffloadPolicy(), True)
    torch.manual_seed(0)
    given = torch.randn(1000, 24)
    back = model(given)
    ratio = (given - back.float()).sum(dim=1).exp()
    dist.destroy_process_group()
print(f"given {given.dtype}, back {back.dtype}; PPO's ratio without any update: mean |ratio - 1| = "
      f"{(ratio - 1).abs().mean():.3f}")  # fmt: skip
if back.dtype == torch.float32:
    raise SystemExit("gone: they stay float32")
