# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: data configurations."""

from abc import ABC, abstractmethod
from typing import Any

from gr00t.data.dataset import ModalityConfig

DATA_CONFIG_MAP: dict[str, Any] = {}


class BaseDataConfig(ABC):
    """What a fine-tuning run reads and how it is transformed."""

    def modality_config(self) -> dict[str, ModalityConfig]:
        past, future = self.observation_indices, self.action_indices
        return {
            "video": ModalityConfig(delta_indices=past, modality_keys=self.video_keys),
            "state": ModalityConfig(delta_indices=past, modality_keys=self.state_keys),
            "action": ModalityConfig(delta_indices=future, modality_keys=self.action_keys),
            "language": ModalityConfig(delta_indices=past, modality_keys=self.language_keys),
        }

    @abstractmethod
    def transform(self) -> Any: ...
