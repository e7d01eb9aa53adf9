# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The arithmetic of batches, on plain numbers: what RLinf accepts, and the nearest numbers that it would accept.

Every number that is advised here is accepted when it is put in with the others as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_ENOUGH = 10**6
"""Largest small divisor that is searched for."""


@dataclass(frozen=True)
class Batches:
    """How a rollout is cut into updates."""

    batch: int
    """``actor.global_batch_size``, over all actor ranks."""
    micro: int
    """``actor.micro_batch_size``, the samples that one rank takes at once."""
    ranks: int
    """Actor ranks."""
    samples: int | None
    """Samples of a rollout, over all ranks; None when it need not be a whole number of batches."""

    @property
    def unit(self) -> int:
        """What the batch must be a multiple of."""
        return self.micro * self.ranks

    @property
    def is_whole(self) -> bool:
        """Whether each rank's share of the batch is a whole number of micro batches."""
        return self.batch % self.unit == 0

    @property
    def divides(self) -> bool:
        """Whether a rollout is a whole number of batches."""
        if self.samples is None:
            return True
        return self.samples % self.ranks == 0 and self.samples % self.batch == 0


@dataclass(frozen=True)
class Advice:
    """Numbers that work, each alone unless both of a pair are named."""

    micro: int | None = None
    """Micro batch size with which the batch can stay; learning is then the same."""
    batches: tuple[int, ...] = ()
    """Batch sizes with which the micro batch size can stay, nearest first to last in ascending order."""
    pair: tuple[int, int] | None = None
    """Micro batch and batch size, where no change of one is enough."""

    def __str__(self) -> str:
        """Return the advice about the key ``actor.global_batch_size``."""
        if self.pair is not None:
            return f"use actor.micro_batch_size: {self.pair[0]} with actor.global_batch_size: {self.pair[1]}"
        batches = " or ".join(map(str, self.batches))
        if self.micro is None:
            return f"use {batches}"
        return f"actor.micro_batch_size: {self.micro}" + (f"; or use {batches} here" if batches else "")


def advise(wrong: Batches) -> Advice:
    """Return what makes batches fit that do not.

    Args:
        wrong: The numbers as they are; ``samples`` is None or a multiple of ``ranks``.
    """
    share = wrong.batch // wrong.ranks
    stays = wrong.batch % wrong.ranks == 0 and share > 0 and (wrong.samples or wrong.batch) % wrong.batch == 0
    micro = largest_divisor(share, wrong.micro) if stays else None
    if wrong.samples is None:
        return Advice(micro, multiples_around(wrong.batch, wrong.unit))
    sizes = [size * wrong.ranks for size in divisors(wrong.samples // wrong.ranks)]
    nearest = sorted((size for size in sizes if size % wrong.unit == 0), key=lambda size: abs(size - wrong.batch))[:2]
    if micro is not None or nearest:
        return Advice(micro, tuple(sorted(nearest)))
    batch = min(sizes, key=lambda size: abs(size - wrong.batch))
    return Advice(pair=(largest_divisor(batch // wrong.ranks, wrong.micro), batch))


def needed_step(step: int, others: int, batch: int) -> int:
    """Return what one factor of the samples must be a multiple of, so that the batch divides them as well.

    Args:
        step: What it must be a multiple of anyway.
        others: Product of the other factors of the samples.
        batch: The batch size.
    """
    return math.lcm(step, batch // math.gcd(batch, others))


def multiples_around(value: int, step: int) -> tuple[int, ...]:
    """Return the multiples of ``step`` next to a value, in ascending order: one below and one above.

    Args:
        value: The value.
        step: The step.
    """
    below = value // step * step
    return tuple(number for number in (below, below + step) if number > 0)


def nearest_multiple(value: int, step: int) -> int:
    """Return the multiple of ``step`` that is nearest to a value, the larger one of two.

    Args:
        value: The value.
        step: The step.
    """
    return min(reversed(multiples_around(value, step)), key=lambda number: abs(number - value))


def largest_divisor(number: int, limit: int) -> int:
    """Return the largest divisor of a number that is not above a limit."""
    return max(size for size in divisors(number) if size <= limit)


def divisors(number: int) -> Sequence[int]:
    """Return the divisors of a number, in ascending order; of one beyond all measure only some."""
    small = [size for size in range(1, min(math.isqrt(number), _ENOUGH) + 1) if number % size == 0]
    return sorted({*small, *(number // size for size in small)})
