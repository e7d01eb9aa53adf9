# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which seeds are allowed, and how the seeds of parts follow from a run's: one place for both.

NumPy and Isaac Lab take 32 bits. Derived seeds wrap around, so only what a user writes needs a limit.
"""

from __future__ import annotations

import argparse

SEED_LIMIT = 2**32
"""The first whole number that NumPy refuses as a seed."""

_STEP_STRIDE = 7919
_ROUND_STRIDE = 1_000_003
"""Far more than there are simulators, whose seeds follow one another."""


def parse_seed(text: str) -> int:
    """Parse the value of a ``--seed`` flag.

    Args:
        text: As given on the command line.

    Raises:
        argparse.ArgumentTypeError: If it is no seed.
    """
    if not text.isdecimal() or int(text) >= SEED_LIMIT:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {SEED_LIMIT - 1} (2^32 - 1), got {text}")
    return int(text)


def derived_seed(seed: int, offset: int) -> int:
    """Return the seed of a part of the run: a simulator, a rank, or what follows a resume.

    Args:
        seed: An allowed seed.
        offset: Tells the parts apart.
    """
    return (seed + offset) % SEED_LIMIT


def resumed_seed(seed: int, step: int) -> int:
    """Return the seed after a resume: a resumed run must not replay what the run before it began with.

    Args:
        seed: The seed of a run from the start.
        step: The step that is resumed from.
    """
    return derived_seed(seed, step * _STEP_STRIDE)


def evaluation_seed(seed: int, round_: int) -> int:
    """Return the seed of one round of an evaluation's episodes; the first round has the simulator's own.

    Args:
        seed: The simulator's seed.
        round_: Number of the round (RLinf's rollout epoch) in its evaluation.
    """
    return derived_seed(seed, round_ * _ROUND_STRIDE)
