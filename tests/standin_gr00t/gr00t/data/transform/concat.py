# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: all views, states and actions become one array each."""

from typing import Any

import numpy as np
import torch

from gr00t.data.transform.base import InvertibleModalityTransform


class ConcatTransform(InvertibleModalityTransform):
    """In the declared orders."""

    def apply(self, data: dict[str, Any]) -> dict[str, Any]:
        missing = [key for key in (*self.video_concat_order, *self.state_concat_order) if key not in data]
        assert not missing, f"keys are misspecified, missing {missing}, given {sorted(data)}"
        data["video"] = np.stack([data.pop(key) for key in self.video_concat_order], axis=-4)
        for key in self.state_concat_order:
            width = self.width(key)
            assert data[key].shape[-1] in (width, 2 * width), f"State dim mismatch for {key}: {data[key].shape}"
        data["state"] = torch.cat([data.pop(key) for key in self.state_concat_order], dim=-1)
        return data

    def unapply(self, data: dict[str, Any]) -> dict[str, Any]:
        action, start = data.pop("action"), 0
        for key in self.action_concat_order:
            data[key] = action[..., start : start + self.width(key)]
            start += self.width(key)
        return data

    def width(self, key: str) -> int:
        modality, name = self.part(key)
        parts = getattr(self.metadata.modalities, modality)
        assert name in parts, f"{name} not found in {sorted(parts)}"
        return parts[name].shape[0]
