# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Normalisation of states and actions by a checkpoint's statistics, as Isaac-GR00T N1.7's processor does it.

Per group: linear from [min, max] (or [q01, q99] with ``use_percentiles``) to [-1, 1]; by mean and standard deviation
for ``mean_std_embedding_keys``; or sine and cosine for a state in ``sin_cos_embedding_keys`` (with
``apply_sincos_state_encoding``). Relative actions have statistics of their own, always min and max, which may differ
per step of the chunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .files import CheckpointFiles
from .inspect import Gr00tN1d7Facts, Part


@dataclass(frozen=True)
class Normalizer:
    """Normalisation of one group of width D.

    Attributes:
        kind: ``"min_max"``, ``"mean_std"`` or ``"sin_cos"``.
        low: Minimum or mean, float32 (D,), or (T, D) when it differs per step.
        high: Maximum or standard deviation, same shape.
        clip: Whether normalised values are clipped to [-1, 1].
    """

    kind: str
    low: torch.Tensor
    high: torch.Tensor
    clip: bool

    def normalize(self, values: torch.Tensor) -> torch.Tensor:
        """Normalise (..., D), or (..., T, D); a dimension without spread becomes 0 (unchanged for mean_std)."""
        if self.kind == "sin_cos":
            return torch.cat([values.sin(), values.cos()], dim=-1)
        low, high = self._like(values)
        if self.kind == "mean_std":
            spread = high != 0
            scaled = torch.where(spread, (values - low) / torch.where(spread, high, 1.0), values)
        else:
            spread = ~torch.isclose(high, low)
            scaled = 2.0 * (values - low) / torch.where(spread, high - low, 1.0) - 1.0
            scaled = torch.where(spread, scaled, 0.0)
        return scaled.clamp(-1.0, 1.0) if self.clip else scaled

    def unnormalize(self, values: torch.Tensor) -> torch.Tensor:
        """Inverse of :meth:`normalize`; min_max first clamps to [-1, 1], so exploration stays within what was seen.

        Raises:
            ValueError: For sin_cos, which only states use.
        """
        if self.kind == "sin_cos":
            raise ValueError("sine and cosine encoding has no inverse here; it is for states only")
        low, high = self._like(values)
        if self.kind == "mean_std":
            return torch.where(high != 0, values * high + low, values)
        return low + (values.clamp(-1.0, 1.0) + 1.0) * 0.5 * (high - low)

    def _like(self, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Bounds on the values' device; per-step ones cut to the values' number of steps."""
        low, high = self.low.to(values.device), self.high.to(values.device)
        if low.ndim == 2:
            if values.shape[-2] > low.shape[0]:
                raise ValueError(f"{values.shape[-2]} steps, but the statistics are per step and have {low.shape[0]}")
            low, high = low[: values.shape[-2]], high[: values.shape[-2]]
        return low, high


def state_normalizers(files: CheckpointFiles, facts: Gr00tN1d7Facts) -> dict[str, Normalizer]:
    """Return the normaliser of each state group, in model order."""
    modality = files.processor["modality_configs"][facts.embodiment_tag]["state"]
    encoded = modality.get("sin_cos_embedding_keys") if files.processor.get("apply_sincos_state_encoding") else None
    normalizers = {}
    for part in facts.state:
        kind = "sin_cos" if part.key in (encoded or ()) else _kind(modality, part)
        clip = kind == "min_max" and bool(files.processor.get("clip_outliers", True))
        normalizers[part.key] = _make(files, facts, "state", part, kind, clip)
    return normalizers


def action_normalizers(files: CheckpointFiles, facts: Gr00tN1d7Facts) -> dict[str, Normalizer]:
    """Return the normaliser of each action group, in model order."""
    modality = files.processor["modality_configs"][facts.embodiment_tag]["action"]
    clip = bool(files.processor.get("clip_outliers", True))
    return {part.key: _make(files, facts, "action", part, _kind(modality, part), clip) for part in facts.action}


def _kind(modality: Mapping[str, Any], part: Part) -> str:
    return "mean_std" if part.key in (modality.get("mean_std_embedding_keys") or ()) else "min_max"


def _make(files: CheckpointFiles, facts: Gr00tN1d7Facts, name: str, part: Part, kind: str, clip: bool) -> Normalizer:
    name = "relative_action" if part.relative else name
    entry = files.statistics[facts.embodiment_tag].get(name, {}).get(part.key)
    percentiles = bool(files.processor.get("use_percentiles", False)) and not part.relative
    low, high = ("mean", "std") if kind == "mean_std" else ("q01", "q99") if percentiles else ("min", "max")
    if entry is None or low not in entry or high not in entry:
        raise ValueError(
            f"{files.processor_dir / 'statistics.json'} has no {facts.embodiment_tag}.{name}.{part.key} with "
            f"{low} and {high}; it would be left unnormalised"
        )
    bounds = [torch.tensor(entry[key], dtype=torch.float32) for key in (low, high)]
    if bounds[0].shape[-1] != part.width:
        raise ValueError(
            f"statistics {facts.embodiment_tag}.{name}.{part.key} have width {bounds[0].shape[-1]}, not {part.width}"
        )
    return Normalizer(kind, *bounds, clip=clip)
