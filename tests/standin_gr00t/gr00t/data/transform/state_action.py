# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: states and actions to normalised tensors and back."""

from typing import Any

import numpy as np
import torch

from gr00t.data.transform.base import InvertibleModalityTransform, ModalityTransform


class StateActionToTensor(InvertibleModalityTransform):
    """NumPy to torch."""

    def apply(self, data: dict[str, Any]) -> dict[str, Any]:
        for key in self.apply_to:
            if key in data:
                assert isinstance(data[key], np.ndarray), f"{key} is {type(data[key])}"
                assert np.issubdtype(data[key].dtype, np.floating), f"{key} is {data[key].dtype}"
                data[key] = torch.from_numpy(data[key])
        return data

    def unapply(self, data: dict[str, Any]) -> dict[str, Any]:
        for key in self.apply_to:
            if key in data:
                assert isinstance(data[key], torch.Tensor), f"{key} is {type(data[key])}"
                data[key] = data[key].numpy()
        return data


class StateActionSinCosTransform(ModalityTransform):
    """Angles to sine and cosine."""

    def apply(self, data: dict[str, Any]) -> dict[str, Any]:
        for key in self.apply_to:
            if key in data:
                data[key] = torch.cat([data[key].sin(), data[key].cos()], dim=-1)
        return data


class StateActionTransform(InvertibleModalityTransform):
    """Normalisation by ``normalization_modes``."""

    def apply(self, data: dict[str, Any]) -> dict[str, Any]:
        for key in self.apply_to:
            if key in data:
                low, span = self._range(key)
                scaled = torch.where(span == 0, 0.0, 2 * (data[key] - low) / torch.where(span == 0, 1.0, span) - 1)
                data[key] = scaled.clamp(-1, 1) if self.normalization_modes[key] == "q99" else scaled
        return data

    def unapply(self, data: dict[str, Any]) -> dict[str, Any]:
        for key in self.apply_to:
            if key in data:
                low, span = self._range(key)
                data[key] = (data[key] + 1) / 2 * span + low
        return data

    def _range(self, key: str) -> tuple[torch.Tensor, torch.Tensor]:
        modality, name = self.part(key)
        values = getattr(self.metadata.statistics, modality)[name]
        mode = self.normalization_modes[key]
        low, high = {
            "min_max": lambda: (values.min, values.max),
            "q99": lambda: (values.q01, values.q99),
            "mean_std": lambda: (
                [m - s for m, s in zip(values.mean, values.std, strict=True)],
                [m + s for m, s in zip(values.mean, values.std, strict=True)],
            ),
        }[mode]()
        low, high = torch.tensor(low), torch.tensor(high)
        return low, high - low
