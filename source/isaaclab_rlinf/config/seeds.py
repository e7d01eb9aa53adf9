# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which seeds are allowed, and how the seeds of parts follow from a run's: one place for both.

NumPy and Isaac Lab take 32 bits. Derived seeds wrap around, so only what a user writes needs a limit.
"""

from __future__ import annotations

SEED_LIMIT = 2**32
"""The first whole number that NumPy refuses as a seed."""

ALLOWED_SEEDS = f"a whole number from 0 to {SEED_LIMIT - 1} (2^32 - 1, the largest that NumPy takes)"

_ROUND_STRIDE = 1_000_003
"""Far more than there are simulators, whose seeds follow one another."""


def is_seed(value: object) -> bool:
    """Return whether a value may be used as a seed."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < SEED_LIMIT


def derived_seed(seed: int, offset: int) -> int:
    """Return the seed of a part of the run: a simulator, a rank, or what follows a resume.

    Args:
        seed: An allowed seed.
        offset: Tells the parts apart.
    """
    return (seed + offset) % SEED_LIMIT


def evaluation_seed(seed: int, round_: int) -> int:
    """Return the seed of one round of an evaluation's episodes; the first round has the simulator's own.

    Args:
        seed: The simulator's seed.
        round_: Number of the round (RLinf's rollout epoch) in its evaluation.
    """
    return derived_seed(seed, round_ * _ROUND_STRIDE)
