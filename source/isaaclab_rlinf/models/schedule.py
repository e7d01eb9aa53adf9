# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The learning rate of supervised training and of pre-training."""

from __future__ import annotations

import math


def learning_rate_factor(step: int, steps: int, warm_up_steps: int | None = None, floor: float = 0.01) -> float:
    """Share of the peak learning rate at ``step`` of ``steps``: linear warm-up, cosine decay.

    Args:
        step: Steps done.
        steps: Steps in all.
        warm_up_steps: Until the peak; default a twentieth of all.
        floor: Share that is left at the end.
    """
    warm_up = min(1.0, (step + 1) / (warm_up_steps or max(1, steps // 20)))
    return warm_up * (floor + (1.0 - floor) * 0.5 * (1.0 + math.cos(math.pi * step / steps)))
