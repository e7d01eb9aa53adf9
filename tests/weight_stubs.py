# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Weight files with the right headers and no meaning, written without torch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943\nsize 123\n"


def write_safetensors(file: Path, shapes: Mapping[str, Iterable[int]]) -> Path:
    """Write a float32 file of zeros."""
    table, end = {}, 0
    for key, shape in shapes.items():
        size = 4 * math.prod(shape)
        table[key] = {"dtype": "F32", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    head = json.dumps(table).encode()
    with file.open("wb") as stream:
        stream.write(len(head).to_bytes(8, "little") + head)
        stream.truncate(8 + len(head) + end)  # sparse
    return file


def n1d7_shapes(config: Mapping) -> dict[str, tuple[int, ...]]:
    """Return as few weights as a GR00T N1.7 may have for its ``config.json``, as far as headers are compared."""
    from isaaclab_rlinf.models.gr00t_n1d7.weights import decided_shapes

    stacks = {
        "action_head.model": config.get("diffusion_model_cfg", {}).get("num_layers", 1),
        "action_head.vl_self_attention": config.get("vl_self_attention_cfg", {}).get("num_layers", 1),
    }
    layers = {
        f"{stack}.transformer_blocks.{index}.norm1.bias": (1,)
        for stack, count in stacks.items()
        for index in range(count)
    }
    return decided_shapes(config) | layers
