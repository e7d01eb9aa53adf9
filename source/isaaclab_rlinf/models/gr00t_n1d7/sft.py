# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.7 under supervised training, from a checkpoint, with the demonstrations' own statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from isaaclab_rlinf.config.errors import Issue, raise_if
from isaaclab_rlinf.models.column_statistics import Role, column_bounds, column_notices
from isaaclab_rlinf.workflow.demonstration_checks import column_names, unusable_values

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
        self.notices = tuple(_notices(self.processor, demonstrations, raw_state))
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
    groups = _action_groups(facts, demonstrations)
    relative = _relative_actions(facts, groups, raw_state)
    raise_if([issue for key in relative for issue in unusable_values(relative[key], f"relative {key}", demonstrations)])
    statistics: dict[str, Any] = {
        "state": {key: _statistics(values, "state") for key, values in raw_state.items()},
        "action": {key: _statistics(values[:, 0], "action") for key, values in groups.items()},
    }
    if relative:
        statistics["relative_action"] = {key: _statistics(values, "action") for key, values in relative.items()}
    return replace(files, statistics={**files.statistics, facts.embodiment_tag: statistics})


def _action_groups(facts: Gr00tN1d7Facts, demonstrations: Demonstrations) -> dict[str, torch.Tensor]:
    """Action chunks (N, T, width) from each frame on, by part."""
    chunks = demonstrations.action_chunks(torch.arange(len(demonstrations.tasks)), facts.action_horizon)
    parts = chunks.split([part.width for part in facts.action], dim=-1)
    return dict(zip((part.key for part in facts.action), parts, strict=True))


def _relative_actions(
    facts: Gr00tN1d7Facts, groups: Mapping[str, torch.Tensor], raw_state: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """What relative parts learn, (N, T, width)."""
    return {
        part.key: to_relative(groups[part.key], raw_state[part.state_key], part.pose)
        for part in facts.action
        if part.relative
    }


def _statistics(values: torch.Tensor, role: Role) -> dict[str, list[Any]]:
    """Statistics over the first axis of (N, D), or (N, T, D) for each step."""
    return {key: value.tolist() for key, value in column_bounds(values, role).items()}


def _notices(
    processor: Gr00tN1d7Processor, demonstrations: Demonstrations, raw_state: Mapping[str, torch.Tensor]
) -> Iterator[str]:
    """Say what the statistics decided about single columns, as far as the checkpoint's normalisation uses them."""
    facts, percentiles = processor.facts, bool(processor.files.processor.get("use_percentiles", False))
    groups = _action_groups(facts, demonstrations)
    learned = {key: values[:, 0] for key, values in groups.items()} | _relative_actions(facts, groups, raw_state)
    for role, parts, values, normalizers in (
        ("state", facts.state, raw_state, processor.state_normalizers),
        ("action", facts.action, learned, processor.action_normalizers),
    ):
        feature = "action" if role == "action" else "observation.state"
        names, start = column_names(demonstrations, feature), 0
        for part in parts:
            own = [f"{part.key}: {name}" for name in names[start : start + part.width]]
            own = [f"{name}, relative to {part.state_key}," for name in own] if part.relative else own
            kind, start = normalizers[part.key].kind, start + part.width
            if kind != "sin_cos":
                yield from column_notices(
                    values[part.key],
                    role,
                    own,
                    demonstrations.place,
                    percentiles=percentiles and kind == "min_max" and not part.relative,
                    scaled=kind == "min_max",
                )
