# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A GR00T N1.7 checkpoint of any size with random bfloat16 weights, written without ever holding it in memory."""

from __future__ import annotations

import json
import math
from pathlib import Path

from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinySizes

_BLOCK = 2**22


def write_random_checkpoint(out: Path, sizes: TinySizes) -> int:
    """Write a checkpoint for the bundled task's robot.

    Args:
        out: Directory to create.
        sizes: How large the network is.

    Returns:
        Number of parameters.
    """
    import torch

    from isaaclab_rlinf.models.gr00t_n1d7.files import BACKBONE_DIR
    from isaaclab_rlinf.models.gr00t_n1d7.modeling import Gr00tN1d7Model, new_config
    from isaaclab_rlinf.models.gr00t_n1d7.prompts import PromptEncoder
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_backbone import write_backbone
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_files import model_config, write_processor
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment
    from isaaclab_rlinf.models.lean_build import parameters_on_meta

    embodiment, backbone = TinyEmbodiment(), out / BACKBONE_DIR
    backbone.mkdir(parents=True)
    write_backbone(backbone, ["touch the red ball"], embodiment, sizes)
    write_processor(out, embodiment, sizes)
    config = model_config(embodiment, sizes)
    (out / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with parameters_on_meta():
        model = Gr00tN1d7Model(new_config(config), backbone, PromptEncoder(backbone).patches)
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    table, end = {}, 0
    for key, shape in shapes.items():
        size = 2 * math.prod(shape)
        table[key] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    block = (0.02 * torch.randn(_BLOCK)).to(torch.bfloat16).view(torch.uint8).numpy().tobytes()
    head = json.dumps(table).encode()
    with (out / "model.safetensors").open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for written in range(0, end, len(block)):
            file.write(block[: end - written])
    return end // 2
