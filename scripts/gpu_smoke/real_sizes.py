# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.7 at its real size with random weights: NVIDIA's architecture and widths, nothing of its training.

The widths are those of lerobot 0.6.1 (``GR00T_N1_7_DEFAULTS`` and its copy of Cosmos-Reason2-2B's configuration). The
tokenizer is the tiny checkpoint's: its words fill a corner of the vocabulary, whose size is the real one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .context import Context
from .outcome import NeedsGpus, require
from .policies import INSTRUCTIONS

if TYPE_CHECKING:
    import torch

TEXT = {
    "vocab_size": 151936,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 16,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 262144,
    "rope_theta": 5000000,
    "rope_scaling": {"mrope_interleaved": True, "mrope_section": [24, 20, 20], "rope_type": "default"},
}
VISION = {
    "depth": 24,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_heads": 16,
    "num_position_embeddings": 2304,
    "out_hidden_size": 2048,
    "deepstack_visual_indexes": [5, 11, 17],
}
HEAD = {
    "backbone_embedding_dim": 2048,
    "select_layer": 16,
    "hidden_size": 1024,
    "input_embedding_dim": 1536,
    "max_seq_len": 1024,
    "max_num_embodiments": 32,
    "max_state_dim": 132,
    "max_action_dim": 132,
}
DIFFUSION = {"num_layers": 32, "num_attention_heads": 32, "attention_head_dim": 48, "output_dim": 1024}
SELF_ATTENTION = {"num_layers": 4, "num_attention_heads": 32, "attention_head_dim": 64}
PROMPT_LENGTH = 192
"""Tokens per prompt: 64 for each of two views, the rest for the instruction."""
SHARD_BYTES = 2**31


def real_checkpoint(context: Context) -> Path:
    """Return the checkpoint's directory, written when it is not there yet; on a CPU a small one.

    Raises:
        NeedsGpus: If the GPU or the disk is too small.
    """
    directory = context.work / "n1d7_real"
    if (directory / "complete").is_file():
        return directory
    shutil.rmtree(directory, ignore_errors=True)
    if context.full and (free := shutil.disk_usage(context.work).free / 2**30) < 12:
        raise NeedsGpus(f"needs 12 GiB of disk below {context.work}, {free:.0f} are free")
    need_memory(context, 20)
    write_checkpoint(directory, context.full, context.torch_device)
    (directory / "complete").touch()
    return directory


def need_memory(context: Context, gib: float) -> None:
    """Raise unless the GPU has so much free memory; on a CPU everything is small.

    Raises:
        NeedsGpus: With what there is.
    """
    if not context.full:
        return
    import torch

    free = torch.cuda.mem_get_info()[0] / 2**30
    if free < gib:
        raise NeedsGpus(f"needs {gib:.0f} GiB of GPU memory, {free:.0f} are free")


def write_checkpoint(directory: Path, full: bool, device: str) -> None:
    """Write configuration, processor and random bf16 weights in shards.

    Args:
        directory: To create.
        full: Whether in the real size.
        device: Where random numbers are drawn: three billion take a minute on a CPU.
    """
    from safetensors.torch import save_file

    shapes = weight_shapes(directory, full)
    shards = list(_shards(shapes))
    weight_map = {}
    for number, names in enumerate(shards, start=1):
        file = f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        save_file({name: _random(name, shapes[name], device) for name in names}, directory / file, {"format": "pt"})
        weight_map |= dict.fromkeys(names, file)
    index = {"metadata": {}, "weight_map": weight_map}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def weight_shapes(directory: Path, full: bool) -> dict[str, tuple[int, ...]]:
    """Write the configuration files into a new directory, and return name and shape of every weight, without memory."""
    import torch

    from isaaclab_rlinf.models.gr00t_n1d7.modeling import Gr00tN1d7Model, new_config
    from isaaclab_rlinf.models.gr00t_n1d7.prompts import PromptEncoder

    config = _write_configuration(directory, full)
    backbone = directory / "backbone"
    with torch.device("meta"):
        model = Gr00tN1d7Model(new_config(config), backbone, PromptEncoder(backbone).patches)
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def parameter_counts(shapes: dict[str, tuple[int, ...]]) -> dict[str, int]:
    """Return the number of parameters in all, and of those that are trained by default (the action head's)."""
    import math

    trained = sum(math.prod(shape) for name, shape in shapes.items() if name.startswith("action_head."))
    return {"all": sum(map(math.prod, shapes.values())), "trained": trained}


def _write_configuration(directory: Path, full: bool) -> dict[str, Any]:
    """Write the JSON files; returns the contents of ``config.json``."""
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_backbone import write_backbone
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_files import model_config, write_processor
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment, TinySizes

    embodiment = TinyEmbodiment(image_size=256 if full else 64)
    sizes = TinySizes(patch=16, merge=2)
    backbone = directory / "backbone"
    backbone.mkdir(parents=True)
    write_backbone(backbone, INSTRUCTIONS, embodiment, sizes)
    config = model_config(embodiment, sizes)
    if full:
        sizes = TinySizes(patch=16, merge=2, max_state_dim=HEAD["max_state_dim"], max_action_dim=HEAD["max_action_dim"])
        config |= HEAD
        config["diffusion_model_cfg"] |= DIFFUSION
        config["vl_self_attention_cfg"] |= SELF_ATTENTION
        qwen = json.loads((backbone / "config.json").read_text(encoding="utf-8"))
        qwen["text_config"] |= TEXT
        qwen["vision_config"] |= VISION
        (backbone / "config.json").write_text(json.dumps(qwen, indent=2) + "\n", encoding="utf-8")
    write_processor(directory, embodiment, sizes)
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return config


def _shards(shapes: dict[str, tuple[int, ...]]) -> Iterator[list[str]]:
    import math

    names: list[str] = []
    size = 0
    for name, shape in shapes.items():
        size += 2 * math.prod(shape)
        names.append(name)
        if size >= SHARD_BYTES:
            yield names
            names, size = [], 0
    if names:
        yield names


def _random(name: str, shape: tuple[int, ...], device: str) -> torch.Tensor:
    """Weights of a size at which activations stay finite through every layer."""
    import torch

    if len(shape) <= 1:
        return (torch.ones if name.endswith("weight") else torch.zeros)(shape, dtype=torch.bfloat16)
    return (0.02 * torch.randn(shape, device=device, dtype=torch.bfloat16)).cpu()


def require_sizes(context: Context, parameters: int) -> None:
    """Book the number of parameters; at full size it must be that of a released checkpoint, about three billion."""
    context.measured["parameters"] = f"{parameters / 1e6:.1f} M"
    require(not context.full or 2.8e9 < parameters < 3.6e9, f"{parameters} parameters; a released N1.7 has about 3 B")
