# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Whether the weight files of a GR00T N1.7 checkpoint are those of the model in its ``config.json``. No torch.

The whole list of names needs the network of lerobot and transformers, and is compared when it is built. Here are the
sizes that ``config.json`` decides, and the completeness of every stack of layers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.weight_files import Shapes, differences, read_shapes

VALUE_HEADS = ("value_head.", "action_head.value_head.")
"""Beginnings of a critic's weights, ours and RLinf's."""
UNUSED_KEYS = ("backbone.model.lm_head.",)
"""Weights that a released checkpoint has and N1.7 does not use."""
_LAYER = re.compile(r"(.+?\.(?:layers|blocks|transformer_blocks|deepstack_merger_list))\.(\d+)\.(.+)")
_COUNTED = {
    "action_head.model.transformer_blocks": "diffusion_model_cfg",
    "action_head.vl_self_attention.transformer_blocks": "vl_self_attention_cfg",
}


def check_weights(path: Path, config: Mapping[str, Any]) -> None:
    """Compare the headers of the weight files with the configuration.

    Args:
        path: The checkpoint directory.
        config: Contents of its ``config.json``.

    Raises:
        ValueError: If files are absent, cut short or contradict each other or the configuration.
    """
    shapes = read_shapes(path)
    expected = decided_shapes(config)
    problems = [differences({key: shapes[key] for key in expected if key in shapes}, expected)]
    problems += _layer_problems(shapes, config)
    if any(problems):
        raise ValueError(
            f"the weights in {path} do not fit the model that its config.json describes: "
            f"{'; '.join(filter(None, problems))}"
        )


def decided_shapes(config: Mapping[str, Any]) -> Shapes:
    """Return the weights whose shape follows from ``config.json``; defaults are those of lerobot's network."""

    def size(key: str, default: int) -> int:
        return int(config.get(key, default))

    embodiments, width = size("max_num_embodiments", 32), size("hidden_size", 1024)
    state = size("max_state_dim", 132) * size("state_history_length", 1)
    action, tokens = size("max_action_dim", 132), size("input_embedding_dim", 1536)
    return {
        "action_head.state_encoder.layer1.W": (embodiments, state, width),
        "action_head.state_encoder.layer2.W": (embodiments, width, tokens),
        "action_head.action_encoder.W1.W": (embodiments, action, tokens),
        "action_head.action_decoder.layer2.W": (embodiments, width, action),
    }


def _layer_problems(shapes: Shapes, config: Mapping[str, Any]) -> list[str]:
    """A stack of layers has as many as the configuration says, and each of them every weight."""
    stacks: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for key in shapes:
        if match := _LAYER.fullmatch(key):
            stacks[match[1]][int(match[2])].add(match[3])
    problems = []
    for stack, layers in sorted(stacks.items()):
        names = set().union(*layers.values())
        gaps = [f"{stack}.{index}.{name}" for index in range(max(layers) + 1) for name in names - layers[index]]
        if gaps:
            problems.append(f"{len(gaps)} missing (first: {min(gaps)})")
    for stack, section in _COUNTED.items():
        asked = (config.get(section) or {}).get("num_layers")
        found = len(stacks.get(stack, ()))
        if asked is not None and found != asked:
            problems.append(f"{stack} has {found} layers, {section}.num_layers is {asked}")
    return problems
