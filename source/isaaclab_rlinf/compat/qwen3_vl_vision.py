# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Qwen3-VL's vision tower on many images of one size: the same numbers, without a Python loop over images.

The tower of transformers 5.10.4 is made for images of different sizes. Without flash-attn it attends to one image after
the other, and it computes positions image by image; a rollout has hundreds, all alike. The class of two kinds of module
is exchanged, instance by instance; ``tests/compat/test_lerobot_groot.py`` compares the result with the tower as it is.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLVisionAttention, apply_rotary_pos_emb_vision
from transformers.utils.generic import is_flash_attention_requested
from transformers.vision_utils import get_vision_bilinear_indices_and_weights, get_vision_position_ids


def speed_up(visual: nn.Module) -> None:
    """Exchange the forward of patch embedding and attention, in place; weights and their names stay.

    Args:
        visual: ``Qwen3VLVisionModel``.
    """
    visual.patch_embed.proj.__class__ = _PatchProjection
    for block in visual.blocks:
        block.attn.__class__ = _EqualImagesAttention


def precomputed_positions(grid: torch.Tensor, count: int, visual: nn.Module) -> dict[str, torch.Tensor]:
    """Positions of the patches of equal images, as keyword arguments of ``Qwen3VLModel``.

    Args:
        grid: Time, height and width of one image in patches, int64 (1, 3).
        count: Number of images.
        visual: ``Qwen3VLVisionModel``.
    """
    indices, weights = get_vision_bilinear_indices_and_weights(
        grid, num_grid_per_side=visual.num_grid_per_side, spatial_merge_size=visual.spatial_merge_size
    )
    return {
        "image_bilinear_indices": indices.repeat(1, count),
        "image_bilinear_weights": weights.repeat(1, count),
        "image_position_ids": get_vision_position_ids(grid, visual.spatial_merge_size).repeat(count, 1),
    }


class _PatchProjection(nn.Conv3d):
    """The patch embedding, a convolution over inputs of exactly its kernel's size: one matrix product."""

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        """Project (N, 3, t, p, p) to (N, C, 1, 1, 1)."""
        flat = nn.functional.linear(patches.flatten(1), self.weight.flatten(1), self.bias)
        return flat[..., None, None, None]


class _EqualImagesAttention(Qwen3VLVisionAttention):
    """Attention within each image, all images at once."""

    def forward(
        self,
        hidden_states: torch.Tensor,
        cu_seqlens: torch.Tensor,
        position_embeddings: tuple[torch.Tensor, torch.Tensor] | None = None,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Attend within each image.

        Args:
            hidden_states: Patches of all N images, (N P, C).
            cu_seqlens: Where images begin, int32 (N + 1,).
            position_embeddings: Cosine and sine of the rotary embedding, (N P, head width) each.
            **kwargs: For flash-attn, which is left to do its own.
        """
        if is_flash_attention_requested(self.config):
            return super().forward(hidden_states, cu_seqlens, position_embeddings, **kwargs)
        images = len(cu_seqlens) - 1
        query, key, value = self.qkv(hidden_states).unflatten(-1, (3, self.num_heads, -1)).unbind(1)
        query, key = apply_rotary_pos_emb_vision(query, key, *position_embeddings)
        query, key, value = (part.unflatten(0, (images, -1)).transpose(1, 2) for part in (query, key, value))
        output = nn.functional.scaled_dot_product_attention(query, key, value, scale=self.scaling)
        return self.proj(output.transpose(1, 2).flatten(2).flatten(0, 1))
