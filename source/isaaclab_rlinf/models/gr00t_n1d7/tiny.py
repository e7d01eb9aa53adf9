# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A tiny GR00T N1.7 checkpoint with random weights: NVIDIA's architecture and file layout, a millionth of the training.

Every part is the genuine one, only narrower: Qwen3-VL with its vision tower, DeepStack and interleaved M-RoPE, the
attention over vision-language features, the DiT that alternates between text and image tokens, encoders and decoders
per embodiment. It exists because a real checkpoint is 3 B parameters: tests run on it, and it learns small tasks on a
CPU.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .files import BACKBONE_DIR

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


@dataclass(frozen=True)
class TinySizes:
    """Widths and depths; the defaults make 1.75 M parameters and 16 tokens per 64x64 image.

    Attributes:
        width: Width of language and vision-language features.
        vision_width: Width inside the vision tower.
        vision_layers: Blocks of the vision tower.
        language_layers: Layers of the language model that are kept (``select_layer``).
        action_width: Width of the DiT.
        action_layers: Blocks of the DiT; of four, one attends to text, one to images, two to the actions themselves.
        heads: Attention heads everywhere.
        patch: Side of an image patch in pixels.
        merge: Patches per side that make a token; released backbones have 2, which costs a tiny one more than it gives.
        embodiments: Number of projectors.
        max_state_dim: Width of the padded state.
        max_action_dim: Width of the padded action.
    """

    width: int = 96
    vision_width: int = 96
    vision_layers: int = 2
    language_layers: int = 2
    action_width: int = 96
    action_layers: int = 4
    heads: int = 4
    patch: int = 16
    merge: int = 1
    embodiments: int = 11
    max_state_dim: int = 16
    max_action_dim: int = 8


@dataclass(frozen=True)
class TinyEmbodiment:
    """What the checkpoint is for; the defaults are the bundled task's.

    Attributes:
        tag: Embodiment tag.
        embodiment_id: Projector index.
        state: State groups and their widths.
        action: Action groups and their widths.
        relative: Action group -> state group that it is relative to.
        views: Video keys.
        image_size: Side of the square images in pixels.
        horizon: Actions per chunk.
        language_key: Key of the instruction.
        limit: Statistics say that all values lie in [-limit, limit], until a training replaces them.
    """

    tag: str = "new_embodiment"
    embodiment_id: int = 10
    state: Mapping[str, int] = field(default_factory=lambda: {"joint_pos": 3, "joint_vel": 3})
    action: Mapping[str, int] = field(default_factory=lambda: {"joint_target": 3})
    relative: Mapping[str, str] = field(default_factory=dict)
    views: Sequence[str] = ("front_view", "wrist_view")
    image_size: int = 64
    horizon: int = 8
    language_key: str = "annotation.human.action.task_description"
    limit: float = math.pi


def make_tiny_checkpoint(
    out_dir: str | Path,
    instructions: Sequence[str],
    embodiment: TinyEmbodiment | None = None,
    sizes: TinySizes | None = None,
    seed: int = 0,
) -> Path:
    """Write a checkpoint directory.

    Args:
        out_dir: Directory to create.
        instructions: Texts on which the tokenizer is trained.
        embodiment: What the checkpoint is for.
        sizes: How large the network is.
        seed: Seed of the weights.

    Returns:
        The directory.

    Raises:
        FileExistsError: If it exists and is not empty.
    """
    import torch

    from .modeling import Gr00tN1d7Model, new_config
    from .prompts import PromptEncoder

    out = Path(out_dir)
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} exists and is not empty; a checkpoint is never overwritten. Choose another.")
    embodiment, sizes = embodiment or TinyEmbodiment(), sizes or TinySizes()
    backbone = out / BACKBONE_DIR
    backbone.mkdir(parents=True)
    _write_backbone(backbone, instructions, embodiment, sizes)
    write_processor(out, embodiment, sizes)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also reseed every GPU
        model = Gr00tN1d7Model(new_config(model_config(embodiment, sizes)), backbone, PromptEncoder(backbone).patches)
        _randomise(model)
    model.save_pretrained(out)
    return out


_BRANCH_ENDS = ("attn.proj", "linear_fc2", "o_proj", "down_proj", "to_out.0", "ff.net.2")
"""Last linear layer of each residual branch: vision blocks, language layers, DiT and vision-language attention."""
_MODULATION = ("norm1.linear", "proj_out_1")
"""What shifts and scales by the flow time."""


def _randomise(model: Any) -> None:
    """Scale random weights so that a small network trains quickly; the released scheme suits widths of thousands.

    Weights follow their fan-in, residual branches start small, and modulation by the flow time starts at nothing.
    """
    import torch
    from torch import nn

    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if name.endswith(_BRANCH_ENDS):
                    module.weight.mul_(0.3)
                elif name.endswith(_MODULATION):
                    module.weight.zero_()
            elif type(module).__name__ == "CategorySpecificLinear":
                module.W.normal_(std=module.W.shape[1] ** -0.5)
            elif isinstance(module, nn.Embedding):
                module.weight.normal_(std=0.3)
            elif isinstance(module, nn.Conv3d):
                module.weight.normal_(std=(module.weight[0].numel()) ** -0.5)
        model.action_head.action_decoder.layer2.W.mul_(0.1)


def _write_backbone(out: Path, instructions: Sequence[str], embodiment: TinyEmbodiment, sizes: TinySizes) -> None:
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


def model_config(embodiment: TinyEmbodiment, sizes: TinySizes) -> dict[str, Any]:
    """Return the contents of ``config.json``."""
    heads = {"num_attention_heads": sizes.heads, "dropout": 0.0, "final_dropout": True, "positional_embeddings": None}
    return {
        "model_type": "Gr00tN1d7",
        "architectures": ["Gr00tN1d7"],
        "model_name": "Qwen/Qwen3-VL-tiny",
        "backbone_model_type": "qwen",
        "model_dtype": "float32",
        "dtype": "float32",
        "backbone_embedding_dim": sizes.width,
        "select_layer": sizes.language_layers,
        "tune_llm": True,
        "tune_visual": True,
        "image_crop_size": None,
        "image_target_size": [embodiment.image_size] * 2,
        "max_state_dim": sizes.max_state_dim,
        "max_action_dim": sizes.max_action_dim,
        "action_horizon": embodiment.horizon,
        "hidden_size": sizes.action_width,
        "input_embedding_dim": sizes.action_width,
        "max_num_embodiments": sizes.embodiments,
        "max_seq_len": 64,
        "attn_dropout": 0.0,
        "state_dropout_prob": 0.0,
        "diffusion_model_cfg": {
            **heads,
            "num_layers": sizes.action_layers,
            "attention_head_dim": sizes.action_width // sizes.heads,
            "norm_type": "ada_norm",
            "output_dim": sizes.action_width,
            "interleave_self_attention": True,
        },
        "vl_self_attention_cfg": {**heads, "num_layers": 1, "attention_head_dim": sizes.width // sizes.heads},
    }


def write_processor(out: Path, embodiment: TinyEmbodiment, sizes: TinySizes) -> None:
    """Write ``processor_config.json``, ``statistics.json`` and ``embodiment_id.json`` into a directory."""
    modality = lambda keys, steps, **extra: {  # noqa: E731
        "delta_indices": list(range(steps)),
        "modality_keys": list(keys),
        "sin_cos_embedding_keys": None,
        "mean_std_embedding_keys": None,
        "action_configs": None,
        **extra,
    }
    configs = [
        {
            "rep": "RELATIVE" if key in embodiment.relative else "ABSOLUTE",
            "type": "NON_EEF",
            "format": "DEFAULT",
            "state_key": embodiment.relative.get(key),
        }
        for key in embodiment.action
    ]
    kwargs = {
        "modality_configs": {
            embodiment.tag: {
                "video": modality(embodiment.views, 1),
                "state": modality(embodiment.state, 1),
                "action": modality(embodiment.action, embodiment.horizon, action_configs=configs),
                "language": modality([embodiment.language_key], 1),
            }
        },
        "image_crop_size": [embodiment.image_size] * 2,
        "image_target_size": [embodiment.image_size] * 2,
        "use_albumentations": False,
        "random_rotation_angle": None,
        "color_jitter_params": None,
        "shortest_image_edge": None,
        "crop_fraction": None,
        "letter_box_transform": False,
        "model_name": "Qwen/Qwen3-VL-tiny",
        "model_type": "qwen",
        "formalize_language": True,
        "max_state_dim": sizes.max_state_dim,
        "max_action_dim": sizes.max_action_dim,
        "max_action_horizon": embodiment.horizon,
        "use_percentiles": False,
        "use_mean_std": False,
        "clip_outliers": True,
        "apply_sincos_state_encoding": False,
        "use_relative_action": bool(embodiment.relative),
        "exclude_state": False,
        "state_dropout_prob": 0.0,
    }
    bounds = lambda widths: {key: _uniform_statistics(width, embodiment.limit) for key, width in widths.items()}  # noqa: E731
    statistics = {"state": bounds(embodiment.state), "action": bounds(embodiment.action)}
    if embodiment.relative:
        statistics["relative_action"] = bounds({key: embodiment.action[key] for key in embodiment.relative})
    contents = {
        "processor_config.json": {"processor_class": "Gr00tN1d7Processor", "processor_kwargs": kwargs},
        "statistics.json": {embodiment.tag: statistics},
        "embodiment_id.json": {embodiment.tag: embodiment.embodiment_id},
    }
    for name, content in contents.items():
        (out / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _uniform_statistics(width: int, limit: float) -> dict[str, list[float]]:
    values = {"min": -limit, "max": limit, "mean": 0.0, "std": limit / math.sqrt(3), "q01": -limit, "q99": limit}
    return {name: [value] * width for name, value in values.items()}
