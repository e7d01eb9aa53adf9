# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: ``min_lr`` is no learning rate, and a cosine that is shorter than the run rises again."""

import torch
from rlinf.hybrid_engines.fsdp.utils import get_lr_scheduler

STEPS = 10


def rates(kind: str, lr: float, **settings: float) -> list[float]:
    """Return the learning rate of twice as many steps as the schedule is long."""
    # as FSDPModelManager.build_optimizer does: rates stand in the groups, and AdamW's own stays at 1e-3
    optimizer = torch.optim.AdamW([{"params": [torch.nn.Parameter(torch.zeros(1))], "lr": lr}])
    schedule = get_lr_scheduler(kind, optimizer, num_warmup_steps=0, num_training_steps=STEPS, **settings)
    seen = []
    for _ in range(2 * STEPS + 1):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return seen


asked = rates("cosine", 4e-5, min_lr=1e-6)
print(f"cosine, lr 4e-5, min_lr 1e-6: {asked[STEPS]:.1e} at its end, {asked[-1]:.1e} as many steps later")
fixed = rates("torch_cosine", 5e-7)
print(f"torch_cosine, lr 5e-7: {fixed[STEPS]:.1e} at its end, more than at its beginning")
if abs(asked[STEPS] - 1e-6) < 1e-9 or asked[-1] <= asked[STEPS] or fixed[STEPS] <= 5e-7:
    raise SystemExit("gone, or partly so")
