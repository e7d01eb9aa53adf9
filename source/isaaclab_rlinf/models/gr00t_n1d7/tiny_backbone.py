# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The tiny checkpoint's backbone: a narrow Qwen3-VL's configuration, tokenizer and image processor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .tiny_spec import TinyEmbodiment, TinySizes

SPECIAL_TOKENS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
)
"""The part of Qwen3-VL's template that one user message with images and text uses."""


def write_backbone(out: Path, instructions: Sequence[str], embodiment: TinyEmbodiment, sizes: TinySizes) -> None:
    """Write ``config.json``, tokenizer and image processor of the backbone into an existing directory."""
    from transformers import Qwen2VLImageProcessor

    tokenizer = build_tokenizer(instructions)
    tokenizer.save_pretrained(out)
    Qwen2VLImageProcessor(
        patch_size=sizes.patch,
        merge_size=sizes.merge,
        temporal_patch_size=2,
        size={"shortest_edge": (sizes.merge * sizes.patch) ** 2, "longest_edge": 2**24},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    ).save_pretrained(out)
    config = _backbone_config(tokenizer, embodiment, sizes)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def build_tokenizer(texts: Sequence[str]) -> Any:
    """Train a byte-level BPE tokenizer with Qwen's special tokens and chat template.

    Args:
        texts: Sentences; anything else is spelled in bytes.

    Returns:
        transformers.PreTrainedTokenizerFast.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*texts, "user\n", "assistant\n"], trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        additional_special_tokens=list(SPECIAL_TOKENS[3:]),
        padding_side="left",
    )
    made.chat_template = CHAT_TEMPLATE
    return made


def _backbone_config(tokenizer: Any, embodiment: TinyEmbodiment, sizes: TinySizes) -> dict[str, Any]:
    head = sizes.width // sizes.heads
    token = tokenizer.convert_tokens_to_ids
    return {
        "model_type": "qwen3_vl",
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "image_token_id": token("<|image_pad|>"),
        "video_token_id": token("<|video_pad|>"),
        "vision_start_token_id": token("<|vision_start|>"),
        "vision_end_token_id": token("<|vision_end|>"),
        "tie_word_embeddings": True,
        "text_config": {
            "model_type": "qwen3_vl_text",
            "vocab_size": len(tokenizer),
            "pad_token_id": tokenizer.pad_token_id,
            "hidden_size": sizes.width,
            "intermediate_size": 2 * sizes.width,
            "num_hidden_layers": sizes.language_layers,
            "num_attention_heads": sizes.heads,
            "num_key_value_heads": max(1, sizes.heads // 2),
            "head_dim": head,
            "max_position_embeddings": 4096,
            # Time, row and column share the head's frequencies: an eighth, a quarter and a quarter as in Qwen3-VL.
            "rope_scaling": {
                "rope_type": "default",
                "mrope_interleaved": True,
                "mrope_section": [head // 2 - 2 * (head // 6), head // 6, head // 6],
            },
            "rope_theta": 10000,
            "tie_word_embeddings": True,
        },
        "vision_config": {
            "model_type": "qwen3_vl",
            "depth": sizes.vision_layers,
            "hidden_size": sizes.vision_width,
            "intermediate_size": 2 * sizes.vision_width,
            "num_heads": sizes.heads,
            "num_position_embeddings": (embodiment.image_size // sizes.patch) ** 2,
            "out_hidden_size": sizes.width,
            "patch_size": sizes.patch,
            "spatial_merge_size": sizes.merge,
            "temporal_patch_size": 2,
            "in_channels": 3,
            "deepstack_visual_indexes": [0],
        },
    }
