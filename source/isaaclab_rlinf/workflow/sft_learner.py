# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What supervised training asks of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.workflow.dataset_memory import Demonstrations
    from isaaclab_rlinf.workflow.sft import SftSettings


class Learner(Protocol):
    """A model and its processor, fitted to a set of demonstrations.

    Attributes:
        model: What is trained; parameters without ``requires_grad`` stay as they are.
        action_horizon: Actions T per chunk.
        notices: What was decided about single columns of the demonstrations, one line each.
    """

    model: torch.nn.Module
    action_horizon: int
    notices: tuple[str, ...]

    def frame_inputs(self, demonstrations: Demonstrations) -> dict[str, torch.Tensor]:
        """Model inputs of all N frames, N first; images are not copied where they need no change."""

    def targets(self, demonstrations: Demonstrations, frames: torch.Tensor) -> torch.Tensor:
        """Normalised action chunks, float32 (B, T, A), from each of ``frames`` (B,) on."""

    def loss(
        self, inputs: dict[str, torch.Tensor], actions: torch.Tensor, noise: torch.Tensor, time: torch.Tensor
    ) -> torch.Tensor:
        """Rectified-flow loss of a batch: ``noise`` like ``actions``, flow times (B,)."""

    def save(self, directory: Path) -> None:
        """Write a checkpoint directory."""


def make_learner(demonstrations: Demonstrations, settings: SftSettings) -> Learner:
    """Build the learner that ``settings`` ask for: a new tiny_vla, or the model in ``settings.base``.

    Args:
        demonstrations: What it will be trained on.
        settings: How.

    Raises:
        ConfigError: If the base checkpoint does not fit the demonstrations.
        ValueError: If it is not a complete checkpoint.
    """
    if settings.base is None:
        from isaaclab_rlinf.models.tiny_vla.sft import TinyVLALearner

        return TinyVLALearner(demonstrations, settings)
    from isaaclab_rlinf.models.gr00t_n1d7.sft import Gr00tN1d7Learner

    return Gr00tN1d7Learner(demonstrations, settings)
