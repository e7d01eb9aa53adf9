# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The values in a Qwen3-VL's JSON files that decide its network and its images: kinds, ranges, agreement. No torch.

transformers 5 checks the kinds when the network is built, minutes after everything has started, and names a field
without its section; a size that is not that of the weights shows later still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from isaaclab_rlinf.models.weight_files import Shapes

ACTIVATIONS = ("silu", "swish", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu", "relu")
ROPE_TYPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return (_whole(value) or isinstance(value, float)) and math.isfinite(value)


Rule = tuple[Callable[[Any], bool], str]
"""Whether a value may stand there, and what may."""
_SIZE: Rule = (lambda value: _whole(value) and value > 0, "a whole number >= 1")
_ID: Rule = (lambda value: _whole(value) and value >= 0, "a whole number >= 0")
_FLAG: Rule = (lambda value: isinstance(value, bool), "true or false")
_POSITIVE: Rule = (lambda value: _number(value) and value > 0, "a number > 0")
_RATE: Rule = (lambda value: _number(value) and 0 <= value < 1, "a number >= 0 and < 1")
_MAP: Rule = (lambda value: isinstance(value, dict), "a mapping")
_IDS: Rule = (lambda value: isinstance(value, list) and all(map(_ID[0], value)), "a list of whole numbers >= 0")
_TEXTS: Rule = (
    lambda value: isinstance(value, list) and all(isinstance(entry, str) for entry in value),
    "a list of texts",
)
_COLOR: Rule = (lambda value: isinstance(value, list) and len(value) == 3 and all(map(_number, value)), "three numbers")
_SPREAD: Rule = (lambda value: _COLOR[0](value) and all(entry > 0 for entry in value), "three numbers > 0")


def _one_of(*names: str) -> Rule:
    return lambda value: isinstance(value, str) and value in names, f"one of {', '.join(names)}"


def _or_null(rule: Rule) -> Rule:
    return lambda value: value is None or rule[0](value), f"{rule[1]}, or null"


_ROPE = {
    "rope_type": _one_of(*ROPE_TYPES),
    "type": _one_of(*ROPE_TYPES),
    "mrope_section": (lambda value: _IDS[0](value) and len(value) == 3, "three whole numbers >= 0"),
    "rope_theta": _POSITIVE,
}
CONFIG: dict[str, dict[str, Rule]] = {
    "": {
        "model_type": _one_of("qwen3_vl"),
        "architectures": _or_null(_TEXTS),
        **dict.fromkeys(("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id"), _ID),
        "tie_word_embeddings": _FLAG,
        "text_config": _MAP,
        "vision_config": _MAP,
    },
    "text_config": {
        **dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"), _SIZE),
        **dict.fromkeys(("num_attention_heads", "head_dim", "max_position_embeddings"), _SIZE),
        "num_key_value_heads": _or_null(_SIZE),
        "hidden_act": _one_of(*ACTIVATIONS),
        **dict.fromkeys(("rms_norm_eps", "initializer_range", "rope_theta"), _POSITIVE),
        **dict.fromkeys(("attention_bias", "use_cache"), _FLAG),
        "attention_dropout": _RATE,
        "pad_token_id": _or_null(_ID),
        **dict.fromkeys(("rope_scaling", "rope_parameters"), _or_null(_MAP)),
    },
    "text_config.rope_scaling": _ROPE,
    "text_config.rope_parameters": _ROPE,
    "vision_config": {
        **dict.fromkeys(("depth", "hidden_size", "intermediate_size", "num_heads", "in_channels"), _SIZE),
        **dict.fromkeys(("patch_size", "spatial_merge_size", "temporal_patch_size"), _SIZE),
        **dict.fromkeys(("out_hidden_size", "num_position_embeddings"), _SIZE),
        "hidden_act": _one_of(*ACTIVATIONS),
        "initializer_range": _POSITIVE,
        "deepstack_visual_indexes": _IDS,
    },
}
"""Section of ``config.json`` -> its keys; one that is absent has transformers' default."""
IMAGES: dict[str, dict[str, Rule]] = {
    "": {
        **dict.fromkeys(("patch_size", "merge_size", "temporal_patch_size"), _SIZE),
        **dict.fromkeys(("min_pixels", "max_pixels"), _or_null(_SIZE)),
        "image_mean": _COLOR,
        "image_std": _SPREAD,
        "size": _or_null(_MAP),
    },
    "size": dict.fromkeys(("shortest_edge", "longest_edge"), _SIZE),
}
"""The same for ``preprocessor_config.json``."""

_TEXT, _VISION = "text_config", "vision_config"
_DIMENSIONS: dict[str, tuple[str, ...]] = {
    "language_model.embed_tokens.weight": (f"{_TEXT}.vocab_size", f"{_TEXT}.hidden_size"),
    "language_model.layers.0.mlp.gate_proj.weight": (f"{_TEXT}.intermediate_size", f"{_TEXT}.hidden_size"),
    "language_model.layers.0.self_attn.q_proj.weight": (f"{_TEXT}.num_attention_heads * {_TEXT}.head_dim",),
    "language_model.layers.0.self_attn.k_proj.weight": (f"{_TEXT}.num_key_value_heads * {_TEXT}.head_dim",),
    "language_model.layers.0.self_attn.q_norm.weight": (f"{_TEXT}.head_dim",),
    "visual.patch_embed.proj.weight": tuple(
        f"{_VISION}.{key}" for key in ("hidden_size", "in_channels", "temporal_patch_size", "patch_size", "patch_size")
    ),
    "visual.blocks.0.mlp.linear_fc1.weight": (f"{_VISION}.intermediate_size", f"{_VISION}.hidden_size"),
    "visual.pos_embed.weight": (f"{_VISION}.num_position_embeddings", f"{_VISION}.hidden_size"),
    "visual.merger.linear_fc1.weight": (
        f"{_VISION}.hidden_size * {_VISION}.spatial_merge_size * {_VISION}.spatial_merge_size",
    ),
    "visual.merger.linear_fc2.weight": (f"{_VISION}.out_hidden_size",),
}
"""Weight below ``backbone.model.model`` -> what decides its first dimensions."""


def value_problems(content: Mapping[str, Any], rules: Mapping[str, Mapping[str, Rule]]) -> Iterator[str]:
    """Yield one text for each value that cannot stand where it stands, with its key path.

    Args:
        content: A JSON file's.
        rules: :data:`CONFIG` or :data:`IMAGES`.
    """
    for section, keys in rules.items():
        values = _at(content, section)
        for key, (fits, allowed) in keys.items() if isinstance(values, Mapping) else ():
            if key in values and not fits(values[key]):
                path = f"{section}.{key}" if section else key
                yield f"{path} is {values[key]!r}, not {allowed}"


def agreement_problems(config: Mapping[str, Any], shapes: Shapes) -> Iterator[str]:
    """Yield one text for each value that contradicts another one or the checkpoint's weights.

    Args:
        config: A ``config.json`` without :func:`value_problems`.
        shapes: Shapes of the checkpoint's weights.
    """
    text, vision = config[_TEXT], config[_VISION]
    heads = text.get("num_attention_heads")
    if text.get("num_key_value_heads", heads) is None:  # as transformers reads it
        text = {**text, "num_key_value_heads": heads}
        config = {**config, _TEXT: text}
    groups = text.get("num_key_value_heads")
    if heads and groups and heads % groups:
        yield f"{_TEXT}.num_attention_heads is {heads}, not a multiple of num_key_value_heads {groups}"
    if vision.get("hidden_size", 0) % vision.get("num_heads", 1):
        yield f"{_VISION}.hidden_size is {vision['hidden_size']}, not a multiple of num_heads {vision['num_heads']}"
    beyond = [index for index in vision.get("deepstack_visual_indexes", ()) if index >= vision.get("depth", math.inf)]
    if beyond:
        yield f"{_VISION}.deepstack_visual_indexes has {beyond[0]}, but depth is {vision['depth']}"
    told = set()
    for weight, dimensions in _DIMENSIONS.items():
        shape = shapes.get(f"backbone.model.model.{weight}", ())
        for keys, found in zip(dimensions, shape, strict=False):
            factors = [_at(config, key) for key in keys.split(" * ")]
            if None not in factors and math.prod(factors) != found and keys not in told:
                told.add(keys)
                yield f"{keys} is {math.prod(factors)}, but the checkpoint's weights have {found}"
    blocks = _count(shapes, "visual.blocks")
    if blocks and vision.get("depth", blocks) != blocks:
        yield f"{_VISION}.depth is {vision['depth']}, but the checkpoint has {blocks} vision blocks"
    mergers, indexes = _count(shapes, "visual.deepstack_merger_list"), vision.get("deepstack_visual_indexes")
    if blocks and indexes is not None and len(indexes) != mergers:
        yield f"{_VISION}.deepstack_visual_indexes has {len(indexes)} entries, the checkpoint {mergers}"
    layers, asked = _count(shapes, "language_model.layers"), text.get("num_hidden_layers")
    if asked is not None and asked < layers:  # more are normal: GR00T cuts the upper ones off
        yield f"{_TEXT}.num_hidden_layers is {asked}, but the checkpoint has {layers} language layers"


def _count(shapes: Shapes, stack: str) -> int:
    """Return the number of layers of a stack."""
    prefix = f"backbone.model.model.{stack}."
    return len({key.removeprefix(prefix).partition(".")[0] for key in shapes if key.startswith(prefix)})


def _at(content: Mapping[str, Any], path: str) -> Any:
    node: Any = content
    for key in path.split(".") if path else ():
        node = node.get(key) if isinstance(node, Mapping) else None
    return node
