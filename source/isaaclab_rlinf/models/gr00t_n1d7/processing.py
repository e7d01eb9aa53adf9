# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's observation -> tensors of GR00T N1.7, and its normalised actions -> actions of the environment."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from isaaclab_rlinf.mapping.actions import concatenate_parts
from isaaclab_rlinf.models.policy_inputs import images_from_env

from .backbone import backbone_directory
from .files import BACKBONE_DIR, PROCESSOR_FILES, CheckpointFiles, read_files
from .images import ImageTransform
from .inspect import Gr00tN1d7Facts, checkpoint_facts
from .normalization import action_normalizers, state_normalizers
from .poses import to_absolute, to_relative
from .prompts import PromptEncoder
from .views import ObservationMapping

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import IsaacLabBlock

OBSERVATION_KEYS = ("images", "input_ids", "attention_mask", "state", "embodiment_id")


class Gr00tN1d7Processor:
    """Everything around the network that depends on the embodiment and the data it was trained on.

    Nothing is adapted silently: a view or state that is missing, surplus or of another width is an error.
    """

    def __init__(
        self,
        files: CheckpointFiles,
        facts: Gr00tN1d7Facts,
        backbone_dir: Path,
        mapping: ObservationMapping,
        prompt_length: int | None = None,
    ) -> None:
        """Create a processor.

        Args:
            files: The checkpoint.
            facts: Its facts for the embodiment.
            backbone_dir: See :func:`~.backbone.backbone_directory`.
            mapping: Where the model's views and state groups are in the observation.
            prompt_length: See :class:`~.prompts.PromptEncoder`.

        Raises:
            ValueError: If statistics are missing or the encoded state is wider than the model's.
        """
        self.files, self.facts, self.backbone_dir, self.mapping = files, facts, backbone_dir, mapping
        settings = files.processor
        self.prompts = PromptEncoder(backbone_dir, prompt_length)
        self.transform = ImageTransform.from_processor(settings)
        self.formalize_language = bool(settings.get("formalize_language", True))
        self.exclude_state = bool(settings.get("exclude_state", False))
        self.max_state_dim = int(files.config.get("max_state_dim", 132))
        self.state_normalizers = state_normalizers(files, facts)
        self.action_normalizers = action_normalizers(files, facts)

    @classmethod
    def from_directory(
        cls,
        path: str | Path,
        embodiment_tag: str | None = None,
        block: IsaacLabBlock | None = None,
        backbone_model_path: str | Path | None = None,
        prompt_length: int | None = None,
    ) -> Gr00tN1d7Processor:
        """Read a checkpoint directory.

        Args:
            path: The checkpoint.
            embodiment_tag: See :func:`~.inspect.checkpoint_facts`.
            block: The task YAML's; None takes views and state groups by position.
            backbone_model_path: See :func:`~.backbone.backbone_directory`.
            prompt_length: See :class:`~.prompts.PromptEncoder`.

        Raises:
            ValueError: If anything is missing or contradictory.
        """
        files = read_files(path)
        facts = checkpoint_facts(files, embodiment_tag)
        return cls(
            files,
            facts,
            backbone_directory(files, backbone_model_path),
            ObservationMapping.from_block(block, facts),
            prompt_length,
        )

    def __call__(self, env_obs: Mapping[str, Any]) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """Prepare a batch of observations.

        Args:
            env_obs: RLinf's observation, see :func:`~isaaclab_rlinf.models.policy_inputs.images_from_env`, with
                ``states`` (B, D) and ``task_descriptions`` (B texts).

        Returns:
            The network's inputs: ``images`` uint8 (B, V, h, w, 3), ``input_ids`` and ``attention_mask`` int64 (B, L),
            ``state`` float32 (B, 1, max_state_dim), ``embodiment_id`` int64 (B,); and the raw state groups
            (B, width) by key, to which relative actions refer.

        Raises:
            ValueError: If the observation does not fit the checkpoint.
        """
        views = self.mapping.views(images_from_env(env_obs))
        raw = self.mapping.state_groups(env_obs["states"])
        texts = self._texts(env_obs.get("task_descriptions"), views.shape[0])
        images = self.prepare_images(views)
        tokens = self.prompts.patches.tokens(*images.shape[2:4])
        ids, mask = self.prompts.batch(texts, [tokens] * images.shape[1])
        device = views.device
        return {
            "images": images,
            "input_ids": ids.to(device),
            "attention_mask": mask.to(device),
            "state": self.encode_state(raw),
            "embodiment_id": torch.full((views.shape[0],), self.facts.embodiment_id, device=device),
        }, raw

    def prepare_images(self, views: torch.Tensor) -> torch.Tensor:
        """Crop and resize uint8 (B, V, H, W, 3) to uint8 (B, V, h, w, 3)."""
        flat = self.prompts.patches.fit(self.transform(views.flatten(0, 1)))
        return flat.unflatten(0, views.shape[:2]).contiguous()

    def encode_state(self, raw: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Normalise raw state groups (B, width) and pad with zeros to float32 (B, 1, max_state_dim).

        Raises:
            ValueError: If the encoded state is wider than the model's.
        """
        encoded = torch.cat([self.state_normalizers[key].normalize(raw[key].float()) for key in raw], dim=-1)
        if encoded.shape[-1] > self.max_state_dim:
            raise ValueError(f"the encoded state is {encoded.shape[-1]} wide; the model takes {self.max_state_dim}")
        if self.exclude_state:
            encoded = torch.zeros_like(encoded)
        return torch.nn.functional.pad(encoded, (0, self.max_state_dim - encoded.shape[-1]))[:, None]

    def decode_actions(self, sample: torch.Tensor, raw_state: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Turn normalised actions into actions of the environment.

        Args:
            sample: Normalised (B, T, >= A), T at most the tag's horizon.
            raw_state: Raw state groups at the start of the chunk.

        Returns:
            float32 (B, T, A), parts in the order of ``action_mapping.keys`` or the model's own.
        """
        parts, start = {}, 0
        for part in self.facts.action:
            values = self.action_normalizers[part.key].unnormalize(sample[..., start : start + part.width].float())
            if part.relative:
                values = to_absolute(values, raw_state[part.state_key].float(), part.pose)
            parts[part.key] = values
            start += part.width
        return concatenate_parts(parts, self.mapping.action_keys)

    def encode_actions(self, actions: torch.Tensor, raw_state: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Inverse of :meth:`decode_actions`, for training: parts are expected in the model's own order.

        Args:
            actions: In the environment's units, (B, T, A).
            raw_state: Raw state groups at the start of the chunk.

        Returns:
            Normalised, float32 (B, T, A).
        """
        encoded = []
        for part, values in zip(
            self.facts.action, actions.float().split([part.width for part in self.facts.action], dim=-1), strict=True
        ):
            if part.relative:
                values = to_relative(values, raw_state[part.state_key].float(), part.pose)
            encoded.append(self.action_normalizers[part.key].normalize(values))
        return torch.cat(encoded, dim=-1)

    def formalize(self, text: str) -> str:
        """Bring an instruction into the form the model was trained on: lower case, no punctuation."""
        return re.sub(r"[^\w\s]", "", text.lower()) if self.formalize_language else text

    def _texts(self, texts: Sequence[str] | None, batch: int) -> list[str]:
        if texts is None or len(texts) != batch:
            found = 0 if texts is None else len(texts)
            raise ValueError(f"task_descriptions has {found} instructions for {batch} environments")
        return [self.formalize(text) for text in texts]


def write_processor_files(processor: Gr00tN1d7Processor, directory: Path) -> None:
    """Write what a checkpoint directory needs beside the weights.

    Args:
        processor: Its statistics may differ from the files that it was read from.
        directory: An existing directory; the three processor files go to its root, the backbone's configuration,
            tokenizer and image processor to ``backbone/``.
    """
    for name in PROCESSOR_FILES:
        shutil.copyfile(processor.files.processor_dir / name, directory / name)
    statistics = json.dumps(processor.files.statistics, indent=2) + "\n"
    (directory / "statistics.json").write_text(statistics, encoding="utf-8")
    target = directory / BACKBONE_DIR
    target.mkdir(exist_ok=True)
    for file in processor.backbone_dir.iterdir():
        if file.is_file() and file.suffix in (".json", ".txt", ".jinja") and ".index." not in file.name:
            shutil.copyfile(file, target / file.name)
