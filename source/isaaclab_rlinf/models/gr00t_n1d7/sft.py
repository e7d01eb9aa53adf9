# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.7 under supervised training, from a checkpoint, with the demonstrations' own statistics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from isaaclab_rlinf.config.errors import Issue, raise_if

from .backbone import backbone_directory
from .builder import load_network
from .files import CheckpointFiles, read_files
from .inspect import Gr00tN1d7Facts, checkpoint_facts
from .poses import to_relative
from .processing import OBSERVATION_KEYS, Gr00tN1d7Processor, write_processor_files
from .views import ObservationMapping

if TYPE_CHECKING:
    from isaaclab_rlinf.workflow.dataset_memory import Demonstrations
    from isaaclab_rlinf.workflow.sft import SftSettings


class Gr00tN1d7Learner:
    """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`.

    Views, state groups and action groups of the checkpoint are taken from the dataset by position.
    """

    def __init__(self, demonstrations: Demonstrations, settings: SftSettings) -> None:
        """Load ``settings.base`` and replace the embodiment's statistics by those of the demonstrations.

        Args:
            demonstrations: What it will be trained on.
            settings: ``base``, ``embodiment_tag``, ``tune_llm``, ``tune_visual``, ``backbone_model_path``.

        Raises:
            ConfigError: If the checkpoint does not fit the demonstrations.
            ValueError: If it is not a complete checkpoint.
        """
        files = read_files(settings.base)
        facts = checkpoint_facts(files, settings.embodiment_tag)
        _check_fit(demonstrations, settings, facts)
        for view, key in zip(demonstrations.views, facts.image_views, strict=True):
            print(f"[INFO] video key {key} of the checkpoint is trained on {view}")
        self.action_horizon = facts.action_horizon
        mapping = ObservationMapping.from_block(None, facts)
        raw_state = mapping.state_groups(demonstrations.state)
        files = _with_statistics(files, facts, demonstrations, raw_state)
        self.processor = Gr00tN1d7Processor(
            files, facts, backbone_directory(files, settings.backbone_model_path), mapping
        )
        self.raw_state = raw_state
        self.model = load_network(self.processor)
        self.model.set_trainable(
            llm=settings.tune_llm, visual=settings.tune_visual, projector=True, diffusion=True, vlln=True
        )

    def frame_inputs(self, demonstrations: Demonstrations) -> dict[str, torch.Tensor]:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`; prompts are as long as the longest."""
        processor = self.processor
        images = processor.prepare_images(demonstrations.images)
        counts = [processor.prompts.patches.tokens(*images.shape[2:4])] * images.shape[1]
        tasks = [processor.formalize(task) for task in demonstrations.tasks]
        processor.prompts.length = max(len(processor.prompts.token_ids(task, counts)) for task in set(tasks))
        ids, mask = processor.prompts.batch(tasks, counts)
        inputs = {
            "images": images,
            "input_ids": ids,
            "attention_mask": mask,
            "state": processor.encode_state(self.raw_state),
            "embodiment_id": torch.full((len(tasks),), processor.facts.embodiment_id),
        }
        return {key: inputs[key] for key in OBSERVATION_KEYS}

    def targets(self, demonstrations: Demonstrations, frames: torch.Tensor) -> torch.Tensor:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`; padded to the model's horizon and width."""
        chunks = demonstrations.action_chunks(frames, self.action_horizon)
        encoded = self.processor.encode_actions(chunks, {key: raw[frames] for key, raw in self.raw_state.items()})
        config = self.model.config
        steps, width = config.action_horizon - encoded.shape[1], config.max_action_dim - encoded.shape[2]
        return torch.nn.functional.pad(encoded, (0, width, 0, steps))

    def loss(
        self, inputs: dict[str, torch.Tensor], actions: torch.Tensor, noise: torch.Tensor, time: torch.Tensor
    ) -> torch.Tensor:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`; padded steps and dimensions do not count."""
        mask = torch.zeros_like(actions)
        mask[:, : self.action_horizon, : self.processor.facts.action_dim] = 1.0
        return self.model.flow_loss(self.model.encode(**inputs), actions, mask, noise, time)

    def save(self, directory: Path) -> None:
        """See :class:`~isaaclab_rlinf.workflow.sft_learner.Learner`."""
        self.model.save_pretrained(directory)
        write_processor_files(self.processor, directory)


def _check_fit(demonstrations: Demonstrations, settings: SftSettings, facts: Gr00tN1d7Facts) -> None:
    pairs = {
        "image views": (len(demonstrations.views), len(facts.image_views)),
        "state width": (demonstrations.state.shape[1], facts.state_dim),
        "action width": (demonstrations.action.shape[1], facts.action_dim),
        "action_horizon": (settings.action_horizon or facts.action_horizon, facts.action_horizon),
    }
    of_base = f"embodiment {facts.embodiment_tag!r} of {facts.path}"
    raise_if(
        [
            Issue(f"--base, {name}", f"{found} in the demonstrations, {own} in {of_base}", str(own))
            for name, (found, own) in pairs.items()
            if found != own
        ]
    )


def _with_statistics(
    files: CheckpointFiles,
    facts: Gr00tN1d7Facts,
    demonstrations: Demonstrations,
    raw_state: dict[str, torch.Tensor],
) -> CheckpointFiles:
    """The files with the embodiment's statistics computed from the demonstrations."""
    every = torch.arange(len(demonstrations.tasks))
    chunks = demonstrations.action_chunks(every, facts.action_horizon)
    widths = [part.width for part in facts.action]
    groups = dict(zip((part.key for part in facts.action), chunks.split(widths, dim=-1), strict=True))
    statistics: dict[str, Any] = {
        "state": {key: _statistics(values) for key, values in raw_state.items()},
        "action": {key: _statistics(values[:, 0]) for key, values in groups.items()},
    }
    relative = {
        part.key: _statistics(to_relative(groups[part.key], raw_state[part.state_key], part.pose))
        for part in facts.action
        if part.relative
    }
    if relative:
        statistics["relative_action"] = relative
    return replace(files, statistics={**files.statistics, facts.embodiment_tag: statistics})


def _statistics(values: torch.Tensor) -> dict[str, list[Any]]:
    """Statistics over the first axis of (N, D), or (N, T, D) for each step."""
    low, high = torch.quantile(values[:: max(1, len(values) // 10_000)], torch.tensor([0.01, 0.99]), dim=0)
    return {
        "min": values.amin(dim=0).tolist(),
        "max": values.amax(dim=0).tolist(),
        "mean": values.mean(dim=0).tolist(),
        "std": values.std(dim=0).tolist(),
        "q01": low.tolist(),
        "q99": high.tolist(),
    }
