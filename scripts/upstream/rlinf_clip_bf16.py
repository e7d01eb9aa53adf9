# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: clipping scales a float32 copy of gradients that are not float32, and not the gradients."""

import torch
from rlinf.hybrid_engines.fsdp.utils import clip_grad_by_total_norm_, get_grad_norm

weight = torch.nn.Parameter(torch.ones(1000, dtype=torch.bfloat16))
weight.grad = torch.ones_like(weight)
norm = get_grad_norm([weight], dp_group=None)
clip_grad_by_total_norm_([weight], max_grad_norm=1.0, total_norm=norm)
after = weight.grad.float().norm().item()
print(f"norm before clipping to 1: {norm:.2f}, after: {after:.2f}")
if after < 1.01:
    raise SystemExit("gone: the gradient is clipped")
