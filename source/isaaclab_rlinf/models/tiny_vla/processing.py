# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Processor of tiny_vla: instruction, images and state become model inputs, model outputs become actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from transformers import BatchFeature, ProcessorMixin

from isaaclab_rlinf.mapping.instructions import fold, instruction_issues, split_words
from isaaclab_rlinf.models.column_statistics import column_bounds

Statistics = Mapping[str, Mapping[str, Sequence[float]]]


def min_max_statistics(state: torch.Tensor, action: torch.Tensor) -> dict[str, dict[str, list[float]]]:
    """Normalisation statistics of a dataset, see :func:`~isaaclab_rlinf.models.column_statistics.column_bounds`.

    Args:
        state: (N, D).
        action: (N, A).

    Returns:
        ``{"state": {"min": [...], "max": [...]}, "action": {...}}``.
    """
    bounds = {"state": column_bounds(state, "state"), "action": column_bounds(action, "action")}
    return {name: {key: of[key].tolist() for key in ("min", "max")} for name, of in bounds.items()}


class TinyVLAProcessor(ProcessorMixin):
    """Everything around the model that depends on the data it was trained on.

    Nothing is adapted silently: an image of another size, a missing or surplus view, a state of another width, an
    instruction that is too long or has a word that the tokenizer does not know is an error. An unknown word would
    otherwise leave the model uninstructed; set ``unknown_words="unk"`` to map such words to ``<unk>`` on purpose.
    """

    def __init__(
        self,
        tokenizer=None,
        statistics: Statistics | None = None,
        image_views: Sequence[str] = ("main_images", "wrist_images"),
        image_size: int = 64,
        max_text_length: int = 8,
        unknown_words: str = "error",
        **kwargs,
    ) -> None:
        """Create a processor.

        Args:
            tokenizer: Result of :func:`~isaaclab_rlinf.models.tiny_vla.tokenizer.build_tokenizer`.
            statistics: Result of :func:`min_max_statistics`.
            image_views: View names in model order.
            image_size: Height and width in pixels.
            max_text_length: Number of tokens per instruction.
            unknown_words: ``"error"`` or ``"unk"``.
            **kwargs: For Hugging Face's loader.

        Raises:
            ValueError: If statistics are missing or ``unknown_words`` is neither of the two.
        """
        super().__init__(tokenizer, **kwargs)
        if statistics is None:
            raise ValueError("TinyVLAProcessor needs `statistics` (min and max of state and action)")
        if unknown_words not in ("error", "unk"):
            raise ValueError(f"unknown_words is {unknown_words!r}; allowed: 'error', 'unk'")
        self.statistics = {name: {k: list(v) for k, v in values.items()} for name, values in statistics.items()}
        self.image_views = list(image_views)
        self.image_size = image_size
        self.max_text_length = max_text_length
        self.unknown_words = unknown_words
        self._token_cache: dict[str, list[int]] = {}

    def __call__(self, images: Mapping[str, torch.Tensor], text: Sequence[str], state: torch.Tensor) -> BatchFeature:
        """Prepare a batch of observations.

        Args:
            images: For each view name, uint8 (B, H, W, 3).
            text: B instructions.
            state: float (B, D), in environment units.

        Returns:
            ``pixel_values`` uint8 (B, V, H, W, 3), ``input_ids`` and ``attention_mask`` int64 (B, L) and ``state``
            float32 (B, D), normalised.

        Raises:
            ValueError: If anything does not fit what the checkpoint was trained on.
        """
        input_ids = torch.tensor([self.token_ids(instruction) for instruction in text], device=state.device)
        return BatchFeature(
            {
                "pixel_values": self.stack_views(images),
                "input_ids": input_ids,
                "attention_mask": (input_ids != self.tokenizer.pad_token_id).long(),
                "state": self.normalize("state", state),
            }
        )

    def stack_views(self, images: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Stack the views, uint8 (B, H, W, 3) each, in model order as (B, V, H, W, 3).

        Raises:
            ValueError: On missing or surplus views, wrong dtype or wrong size.
        """
        missing = [view for view in self.image_views if view not in images]
        surplus = [view for view in images if view not in self.image_views]
        if missing or surplus:
            raise ValueError(
                f"image views do not match the checkpoint: it was trained on {self.image_views}, the observation has "
                f"{list(images)} (missing: {missing or 'none'}, not used by the model: {surplus or 'none'}); "
                "map exactly the checkpoint's views in the task YAML"
            )
        expected = (self.image_size, self.image_size, 3)
        for view in self.image_views:
            image = images[view]
            if image.dtype != torch.uint8 or tuple(image.shape[1:]) != expected:
                raise ValueError(
                    f"image {view!r} is {image.dtype} {tuple(image.shape)}; the checkpoint was trained on uint8 "
                    f"(B, {self.image_size}, {self.image_size}, 3): set the camera's width and height to these"
                )
        return torch.stack([images[view] for view in self.image_views], dim=1)

    def token_ids(self, instruction: str) -> list[int]:
        """Token ids of one instruction, padded to ``max_text_length``.

        Raises:
            ValueError: If the instruction is empty, too long, or has unknown words and those are errors.
        """
        if instruction in self._token_cache:
            return self._token_cache[instruction]
        vocabulary = self._vocabulary()
        lenient = self.unknown_words == "unk"
        issues = instruction_issues(
            "instruction", instruction, vocabulary, self.max_text_length, unknown_allowed=lenient
        )
        if issues:
            raise ValueError("\n".join(map(str, issues)))
        ids = [vocabulary.get(word, self.tokenizer.unk_token_id) for word in split_words(instruction)]
        padded = ids + [self.tokenizer.pad_token_id] * (self.max_text_length - len(ids))
        if len(self._token_cache) >= 4096:
            self._token_cache.clear()
        self._token_cache[instruction] = padded
        return padded

    def _vocabulary(self) -> dict[str, int]:
        """Return folded word -> id; a word that was stored folded wins over another form of it."""
        special = {self.tokenizer.pad_token, self.tokenizer.unk_token}
        entries = [(word, index) for word, index in self.tokenizer.get_vocab().items() if word not in special]
        return {fold(word): index for word, index in sorted(entries, key=lambda entry: fold(entry[0]) == entry[0])}

    def normalize(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Map ``"state"`` or ``"action"`` values (..., width) linearly so that [min, max] becomes [-1, 1].

        A dimension that was constant in the data becomes 0.

        Raises:
            ValueError: If the width differs from the statistics'.
        """
        low, span = self._range(name, values)
        scaled = 2.0 * (values.float() - low) / torch.where(span > 0, span, torch.ones_like(span)) - 1.0
        return torch.where(span > 0, scaled, torch.zeros_like(scaled))

    def unnormalize(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Inverse of :meth:`normalize`; values outside [-1, 1] are clamped to the range seen in the data.

        As GR00T's min-max inverse does, so that exploration noise never leaves the demonstrated range.
        """
        low, span = self._range(name, values)
        return low + (values.float().clamp(-1.0, 1.0) + 1.0) * 0.5 * span

    def _range(self, name: str, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        stats = self.statistics[name]
        if values.shape[-1] != len(stats["min"]):
            raise ValueError(
                f"{name} has width {values.shape[-1]}, the checkpoint was trained on width {len(stats['min'])}; "
                f"check the {name} mapping in the task YAML"
            )
        low = torch.tensor(stats["min"], dtype=torch.float32, device=values.device)
        return low, torch.tensor(stats["max"], dtype=torch.float32, device=values.device) - low
