# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Normalisation statistics of demonstrations, column by column, where a column may hardly move or move rarely.

A plain division by what was seen turns the noise of a constant column into values of 1e5, or silences a column for
ever. What is done instead is what others do, and all of it is in the numbers, so that every reader of the statistics
does the same:

- A nearly constant *state* is centered and left unscaled (as Diffusion Policy and robomimic do): bounds of +-1 around
  its middle. Should it move in reinforcement learning, the model sees by how much.
- A nearly constant *action* keeps its value (as GR00T's normalisation does): both bounds are its middle. The model then
  always gives that value, and exploration does not leave what was demonstrated.
- Quantiles that see nothing of a column, such as a gripper that is mostly 0, are replaced by minimum and maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import torch

Role = Literal["state", "action"]

NEARLY_CONSTANT = 1e-4
"""Span up to which a column counts as constant, in its own unit (Diffusion Policy's ``range_eps``) ..."""
RESOLUTION = 1e-6
"""... or relative to its values, below which float32 sees no difference."""
UNSEEN = 0.01
"""Share of a column's span up to which its quantiles count as seeing nothing of it."""
_QUANTILE_ROWS = 10_000


def column_bounds(values: torch.Tensor, role: Role) -> dict[str, torch.Tensor]:
    """Compute statistics over the first axis.

    Args:
        values: (N, D), or (N, T, D) for statistics of each step; finite, N at least 2.
        role: Whether they are observed or given by the model.

    Returns:
        ``min``, ``max``, ``mean``, ``std``, ``q01`` and ``q99``, float32 (D,) or (T, D).
    """
    low, high = values.amin(dim=0), values.amax(dim=0)
    sample = values[:: max(1, len(values) // _QUANTILE_ROWS)].float()
    q01, q99 = torch.quantile(sample, torch.tensor([0.01, 0.99], device=values.device), dim=0)
    unseen = q99 - q01 <= UNSEEN * (high - low)
    q01, q99 = torch.where(unseen, low, q01), torch.where(unseen, high, q99)
    mean, std = values.double().mean(dim=0).float(), values.double().std(dim=0).float()
    flat, middle = _flat(low, high), low + (high - low) / 2
    reach = 1.0 if role == "state" else 0.0
    return {
        "min": torch.where(flat, middle - reach, low),
        "max": torch.where(flat, middle + reach, high),
        "mean": torch.where(flat, middle, mean),
        "std": torch.where(flat, torch.full_like(std, reach), std),
        "q01": torch.where(flat, middle - reach, q01),
        "q99": torch.where(flat, middle + reach, q99),
    }


def column_notices(
    values: torch.Tensor,
    role: Role,
    names: Sequence[str],
    place: Callable[[int], str],
    *,
    percentiles: bool = False,
    scaled: bool = True,
) -> Iterator[str]:
    """Yield what :func:`column_bounds` decided about columns that hardly move, one line each.

    Args:
        values: As there.
        role: As there.
        names: What to call each column.
        place: Names a row, for one to look at.
        percentiles: Whether the model is normalised by quantiles.
        scaled: Whether values are scaled by bounds; else by mean and standard deviation, which leaves constant columns
            of either role as they are.
    """
    low, high = values.amin(dim=0), values.amax(dim=0)
    flat = _flat(low, high)
    for column, name in enumerate(names):
        bottom, top = float(low[..., column].min()), float(high[..., column].max())
        count = f"in all {len(values)} frames"
        if bool(flat[..., column].all()):
            found = (
                f"is {bottom:.6g}" if bottom == top else f"spans only {top - bottom:.2g} ({bottom:.6g} to {top:.6g})"
            )
            yield f"{name} {found} {count}: {_decision(role, scaled, (bottom + top) / 2)}"
        elif flat.ndim == 2 and bool(flat[:, column].any()):
            steps = flat[:, column].nonzero().flatten().tolist()
            yield f"{name} is constant {count} at steps {steps} of the chunk: the model always gives that value there"
        elif percentiles and flat.ndim == 1:
            yield from _rare(values[:, column], name, place)


def _flat(low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return high - low <= (RESOLUTION * torch.maximum(low.abs(), high.abs())).clamp(min=NEARLY_CONSTANT)


def _decision(role: Role, scaled: bool, middle: float) -> str:
    if not scaled:
        return "left unscaled"
    return "left unscaled, centered" if role == "state" else f"the model always gives {middle:.6g}"


def _rare(column: torch.Tensor, name: str, place: Callable[[int], str]) -> Iterator[str]:
    """Yield a line about a column of which the quantiles see nothing."""
    sample = column[:: max(1, len(column) // _QUANTILE_ROWS)].float()
    q01, q99 = torch.quantile(sample, torch.tensor([0.01, 0.99], device=column.device))
    low, high = column.amin(), column.amax()
    if q99 - q01 > UNSEEN * (high - low):
        return
    outside = ((column < q01) | (column > q99)).nonzero().flatten().tolist()
    first = f", first {place(outside[0])}" if outside else ""
    yield (
        f"{name} lies in [{float(q01):.6g}, {float(q99):.6g}] but for {len(outside)} of {len(column)} frames{first}, "
        f"and in [{float(low):.6g}, {float(high):.6g}] in all: scaled by these, not by quantiles"
    )
