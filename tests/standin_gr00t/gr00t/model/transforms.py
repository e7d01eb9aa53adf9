# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: the last transform, which tokenises."""

import copy
from typing import Any

import numpy as np
import torch

from gr00t.data.embodiment_tags import EMBODIMENT_TAG_MAPPING
from gr00t.data.transform.base import InvertibleModalityTransform

TOKENS_PER_VIEW, IMAGE_TOKEN = 256, 1


class GR00TTransform(InvertibleModalityTransform):
    """Views, instruction and state -> the model's inputs; batches only."""

    _defaults = (EMBODIMENT_TAG_MAPPING,)  # as it was at import, out of reach of RLinf's patches of class attributes

    def __init__(self, **options: Any) -> None:
        # a copy at construction, as pydantic makes of a default
        super().__init__(**options, embodiment_tag_mapping=copy.deepcopy(self._defaults[0]))

    def apply(self, data: dict[str, Any]) -> dict[str, Any]:
        video, state = data["video"], data["state"]
        assert video.dtype == np.uint8 and video.ndim == 6, f"video is {video.dtype} {video.shape}"
        batch, steps, views = video.shape[:3]
        assert steps == self.state_horizon and state.shape[:2] == (batch, self.state_horizon), f"{state.shape=}"
        assert state.shape[-1] <= self.max_state_dim, f"{state.shape=}"  # the real one drops the rest
        texts = self._texts(data, batch)
        padded = torch.zeros(batch, self.state_horizon, self.max_state_dim)
        padded[..., : state.shape[-1]] = state
        ids = [[IMAGE_TOKEN] * TOKENS_PER_VIEW * views + [2 + ord(letter) % 500 for letter in text] for text in texts]
        longest = max(map(len, ids))
        return {
            "state": padded,
            "state_mask": (torch.arange(self.max_state_dim) < state.shape[-1]).expand_as(padded),
            "eagle_input_ids": torch.tensor([[0] * (longest - len(row)) + row for row in ids]),
            "eagle_attention_mask": torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in ids]),
            "eagle_pixel_values": torch.from_numpy(video).movedim(-1, -3).flatten(0, 2).float() / 127.5 - 1,
            "eagle_image_sizes": torch.tensor([list(video.shape[3:5])] * (batch * views)),
            "embodiment_id": torch.full((batch,), self.embodiment_tag_mapping[self.metadata.embodiment_tag.value]),
        }

    def unapply(self, data: dict[str, Any]) -> dict[str, Any]:
        return data

    def _texts(self, data: dict[str, Any], batch: int) -> list[str]:
        keys = [key for key in data if "annotation" in key and key.count(".") != 1]
        assert len(keys) == 1, f"exactly one annotation key expected: {sorted(data)}"
        texts = data[keys[0]]
        assert isinstance(texts, np.ndarray) and texts.dtype.kind == "U" and texts.shape == (batch,), f"{texts!r}"
        return texts.tolist()
