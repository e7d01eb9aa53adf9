# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Statistics of success rates."""

from __future__ import annotations

import math


def wilson_interval(successes: int, episodes: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of a success rate.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).

    Args:
        successes: Number of successful episodes.
        episodes: Number of episodes, at least 1.
        z: Standard normal quantile; 1.96 gives 95 %.

    Returns:
        Lower and upper bound, both in [0, 1].
    """
    rate = successes / episodes
    centre = rate + z**2 / (2 * episodes)
    spread = z * math.sqrt(rate * (1 - rate) / episodes + z**2 / (4 * episodes**2))
    scale = 1 + z**2 / episodes
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
