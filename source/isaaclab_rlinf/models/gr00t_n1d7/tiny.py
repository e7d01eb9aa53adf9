# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A tiny GR00T N1.7 checkpoint with random weights: NVIDIA's architecture and file layout, a millionth of the training.

Every part is the genuine one, only narrower: Qwen3-VL with its vision tower, DeepStack and interleaved M-RoPE, the
attention over vision-language features, the DiT that alternates between text and image tokens, encoders and decoders
per embodiment. It exists because a real checkpoint is 3 B parameters: tests run on it, and it learns small tasks on a
CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.seeding import seeded

from .files import BACKBONE_DIR
from .tiny_backbone import write_backbone
from .tiny_files import model_config, write_processor
from .tiny_spec import TinyEmbodiment, TinySizes


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
    from .modeling import Gr00tN1d7Model, new_config
    from .prompts import PromptEncoder

    out = Path(out_dir)
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} exists and is not empty; a checkpoint is never overwritten. Choose another.")
    embodiment, sizes = embodiment or TinyEmbodiment(), sizes or TinySizes()
    backbone = out / BACKBONE_DIR
    backbone.mkdir(parents=True)
    write_backbone(backbone, instructions, embodiment, sizes)
    write_processor(out, embodiment, sizes)
    with seeded(seed):
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
