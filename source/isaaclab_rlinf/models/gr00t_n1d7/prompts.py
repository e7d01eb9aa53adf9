# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Instruction and images -> the prompt's tokens, as Qwen3-VL's processor makes them, once per distinct instruction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from .images import PatchSettings


class PromptEncoder:
    """Instruction -> token ids with the places of the images in it."""

    def __init__(self, directory: Path, length: int | None = None) -> None:
        """Load tokenizer and image processor.

        Args:
            directory: Result of :func:`~.backbone.backbone_directory`.
            length: Fixed number of tokens, padded on the left, so that records of different instructions can be put
                together; default 48 more than a one-word instruction needs.
        """
        from transformers import AutoTokenizer, Qwen2VLImageProcessor

        self.tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
        if self.tokenizer.chat_template is None:
            raise ValueError(f"the tokenizer in {directory} has no chat template; expected chat_template.jinja there")
        self.patches = PatchSettings.from_image_processor(
            Qwen2VLImageProcessor.from_pretrained(directory, local_files_only=True)
        )
        self.length = length
        self._cache: dict[tuple[str, tuple[int, ...]], list[int]] = {}

    def token_ids(self, instruction: str, image_tokens: Sequence[int]) -> list[int]:
        """Token ids of one prompt: the images, then the instruction, in the chat template; not padded.

        Args:
            instruction: The text, already in the form that the model was trained on.
            image_tokens: Number of tokens of each image.

        Raises:
            ValueError: If the instruction is empty, or the prompt is longer than ``length``.
        """
        key = (instruction, tuple(image_tokens))
        if key not in self._cache:
            if not instruction.strip():
                raise ValueError("an instruction is empty; the model would act unprompted")
            ids = self._encode(instruction, image_tokens)
            if self.length is not None and len(ids) > self.length:
                raise ValueError(
                    f"instruction {instruction!r} makes a prompt of {len(ids)} tokens, the policy takes {self.length}: "
                    f"set actor.model.rl_head_config.padding_value to at least {len(ids)}"
                )
            if len(self._cache) >= 4096:
                self._cache.clear()
            self._cache[key] = ids
        return self._cache[key]

    def batch(self, instructions: Sequence[str], image_tokens: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and attention mask of a batch, int64 (B, L) each, padded on the left."""
        if self.length is None:
            self.length = len(self._encode("go", image_tokens)) + 48
        rows = [self.token_ids(text, image_tokens) for text in instructions]
        length = self.length
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (length - len(row)) + row for row in rows])
        mask = torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in rows])
        return ids, mask

    def _encode(self, instruction: str, image_tokens: Sequence[int]) -> list[int]:
        content = [*({"type": "image"} for _ in image_tokens), {"type": "text", "text": instruction}]
        text = self.tokenizer.apply_chat_template([{"role": "user", "content": content}], tokenize=False)
        pieces = text.split("<|image_pad|>")
        if len(pieces) != len(image_tokens) + 1:
            raise ValueError(
                f"the chat template places {len(pieces) - 1} images for {len(image_tokens)}; an instruction must not "
                "contain <|image_pad|>"
            )
        filled = pieces[0]
        for count, piece in zip(image_tokens, pieces[1:], strict=True):
            filled += "<|image_pad|>" * count + piece
        return self.tokenizer(filled, add_special_tokens=False)["input_ids"]
