# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Names and shapes of a tiny_vla's weights, from its ``config.json`` alone. No torch: for checks before it is loaded.

Outside :mod:`isaaclab_rlinf.models.tiny_vla`, which loads transformers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from isaaclab_rlinf.models.weight_files import Shapes

VALUE_HEAD = "value_head."
"""Beginning of the critic's weights, which a base has or has not."""


def expected_shapes(config: Mapping[str, Any]) -> Shapes:
    """Return the weights of the model that a configuration describes, without the critic.

    Args:
        config: Contents of ``config.json``.

    Raises:
        KeyError: If a size is missing.
    """
    return _context_encoder(config) | _action_head(config)


def _context_encoder(config: Mapping[str, Any]) -> Shapes:
    width, views = config["hidden_size"], len(config["image_views"])
    factors, widths = [config["patch_size"], *config["merge_factors"]], [3, *config["patch_widths"], width]
    tokens = (config["image_size"] // math.prod(factors)) ** 2
    keypoints = 3 * config["keypoints_per_view"]
    inner = config["context_mlp_ratio"] * width
    shapes: Shapes = {
        "text_encoder.embedding.weight": (config["vocab_size"], width),
        "text_encoder.position": (config["max_text_length"], width),
        "image_encoder.position": (tokens, width),
        "image_encoder.view": (views, 1, width),
        **_linear("image_encoder.film", width, 2 * config["patch_widths"][0]),
        **_linear("image_encoder.keypoints", config["patch_widths"][0], keypoints),
        **_linear("summary_encoder.0", config["state_dim"] + keypoints * views, 2 * width),
        **_linear("summary_encoder.2", 2 * width, width),
        **_norm("norm", width),
    }
    for index, factor in enumerate(factors):
        shapes |= _linear(f"image_encoder.projections.{index}", factor**2 * widths[index], widths[index + 1])
    for index in range(config["context_layers"]):
        layer = f"layers.{index}"
        shapes |= _norm(f"{layer}.attention_norm", width) | _norm(f"{layer}.mlp_norm", width)
        shapes |= _linear(f"{layer}.qkv", width, 3 * width) | _linear(f"{layer}.out", width, width)
        shapes |= _linear(f"{layer}.mlp.0", width, inner) | _linear(f"{layer}.mlp.2", inner, width)
    return {f"context_encoder.{name}": shape for name, shape in shapes.items()}


def _action_head(config: Mapping[str, Any]) -> Shapes:
    width, layers, inner = config["hidden_size"], config["action_layers"], config["action_mlp_ratio"]
    inner *= width
    shapes: Shapes = {
        "position": (config["action_horizon"], width),
        **_linear("action_in", config["action_dim"], width),
        **_linear("action_out", width, config["action_dim"]),
        **_linear("context_kv", width, 2 * width * layers),
        **_linear("summary", width, width),
        **_linear("time_mlp.0", width, width),
        **_linear("time_mlp.2", width, width),
        **_norm("norm", width),
    }
    for index in range(layers):
        layer = f"layers.{index}"
        shapes |= _linear(f"{layer}.modulation", width, 9 * width) | _linear(f"{layer}.qkv", width, 3 * width)
        for name in ("self_out", "cross_query", "cross_out"):
            shapes |= _linear(f"{layer}.{name}", width, width)
        shapes |= _linear(f"{layer}.mlp.0", width, inner) | _linear(f"{layer}.mlp.2", inner, width)
    return {f"action_head.{name}": shape for name, shape in shapes.items()}


def _linear(name: str, inputs: int, outputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> Shapes:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}
