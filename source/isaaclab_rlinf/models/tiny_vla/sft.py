# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""tiny_vla under supervised training: a new model that fits the demonstrations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.mapping.instructions import split_words
from isaaclab_rlinf.models.column_statistics import column_notices
from isaaclab_rlinf.workflow.demonstration_checks import column_names, values_of

from . import TinyVLAConfig, TinyVLAModel, TinyVLAProcessor, build_tokenizer, min_max_statistics

if TYPE_CHECKING:
    from isaaclab_rlinf.workflow.dataset_memory import Demonstrations
    from isaaclab_rlinf.workflow.sft import SftSettings

MAX_TEXT_LENGTH = 8
"""Words of an instruction, unless ``settings.max_text_length`` says otherwise."""
ACTION_HORIZON = 8
"""Unless ``settings.action_horizon`` says otherwise."""


class TinyVLALearner:
    """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`."""

    def __init__(self, demonstrations: Demonstrations, settings: SftSettings) -> None:
        """Make a model with fresh weights, and a processor, that fit the demonstrations."""
        self.action_horizon = settings.action_horizon or ACTION_HORIZON
        length = settings.max_text_length or MAX_TEXT_LENGTH
        _check_instructions(demonstrations, length)
        tokenizer = build_tokenizer(demonstrations.tasks, length)
        self.notices = tuple(_notices(demonstrations))
        size = demonstrations.images.shape[2]
        config = TinyVLAConfig(
            action_dim=demonstrations.action.shape[1],
            action_horizon=self.action_horizon,
            state_dim=demonstrations.state.shape[1],
            image_views=list(demonstrations.views),
            image_size=size,
            vocab_size=len(tokenizer),
            pad_token_id=tokenizer.pad_token_id,
            max_text_length=length,
        )
        self.processor = TinyVLAProcessor(
            tokenizer,
            min_max_statistics(demonstrations.state, demonstrations.action),
            image_views=demonstrations.views,
            image_size=size,
            max_text_length=length,
        )
        self.model = TinyVLAModel(config)

    def frame_inputs(self, demonstrations: Demonstrations) -> dict[str, torch.Tensor]:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`."""
        ids = torch.tensor([self.processor.token_ids(task) for task in demonstrations.tasks])
        return {
            "pixel_values": demonstrations.images,
            "input_ids": ids,
            "attention_mask": (ids != self.processor.tokenizer.pad_token_id).long(),
            "state": self.processor.normalize("state", demonstrations.state),
        }

    def targets(self, demonstrations: Demonstrations, frames: torch.Tensor) -> torch.Tensor:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`."""
        return self.processor.normalize("action", demonstrations.action_chunks(frames, self.action_horizon))

    def loss(
        self, inputs: dict[str, torch.Tensor], actions: torch.Tensor, noise: torch.Tensor, time: torch.Tensor
    ) -> torch.Tensor:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`."""
        return self.model(**inputs, actions=actions, noise=noise, time=time)

    def save(self, directory: Path) -> None:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`."""
        self.model.save_pretrained(directory)
        self.processor.save_pretrained(directory)


def _check_instructions(demonstrations: Demonstrations, limit: int) -> None:
    """Refuse instructions with more words than the new model will take."""
    words = {task: len(split_words(task)) for task in set(demonstrations.tasks)}
    if long := sorted((task for task, count in words.items() if count > limit), key=lambda task: (-words[task], task)):
        most = words[long[0]]
        found = f"{limit}, but {len(long)} of {len(words)} instructions are longer; {long[0]!r} has {most} words"
        raise ConfigError([Issue("--max_text_length", found, f"{most} or more", f"--max_text_length {most}")])


def _notices(demonstrations: Demonstrations) -> Iterator[str]:
    for feature, role in (("observation.state", "state"), ("action", "action")):
        names = column_names(demonstrations, feature)
        yield from column_notices(values_of(demonstrations, feature), role, names, demonstrations.place)
