# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Transformer layers of tiny_vla: the context layer and the action head's DiT layer.

The layers know nothing of sharding. Everything a layer's parameters compute happens inside its own ``forward``, so
FSDP2 can gather and free each layer on its own.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from transformers.modeling_layers import GradientCheckpointingLayer

from .configuration import TinyVLAConfig


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, heads: int, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Multi-head scaled dot-product attention.

    Args:
        query: Tokens (B, Q, C).
        key: Tokens (B, K, C).
        value: Tokens (B, K, C).
        heads: Number of heads; divides C.
        mask: Boolean (B, 1, 1, K), True where a key may be attended.

    Returns:
        Tokens (B, Q, C).
    """
    split = (t.unflatten(-1, (heads, -1)).transpose(1, 2) for t in (query, key, value))
    out = functional.scaled_dot_product_attention(*split, attn_mask=mask)
    return out.transpose(1, 2).flatten(2)


def feed_forward(width: int, ratio: int) -> nn.Sequential:
    """Two linear maps with a ReLU between (on a CPU, GELU costs as much as the maps), ``width -> width``."""
    return nn.Sequential(nn.Linear(width, ratio * width), nn.ReLU(), nn.Linear(ratio * width, width))


class TinyVLAContextLayer(GradientCheckpointingLayer):
    """Pre-norm self-attention layer over text, state and image tokens."""

    def __init__(self, config: TinyVLAConfig) -> None:
        """Build the layer from the model's configuration."""
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = feed_forward(width, config.context_mlp_ratio)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Map tokens (B, S, C) to (B, S, C); ``mask`` is boolean (B, 1, 1, S)."""
        query, key, value = self.qkv(self.attention_norm(tokens)).chunk(3, dim=-1)
        tokens = tokens + self.out(attend(query, key, value, self.heads, mask))
        return tokens + self.mlp(self.mlp_norm(tokens))


class TinyVLAActionLayer(GradientCheckpointingLayer):
    """DiT layer: self-attention, cross-attention to the context, feed-forward, each modulated by a condition.

    Modulation is adaLN-Zero (Peebles & Xie, "Scalable Diffusion Models with Transformers", 2023): every branch is
    scaled and shifted by, and gated with, linear functions of the condition that start at zero.
    """

    def __init__(self, config: TinyVLAConfig) -> None:
        """Build the layer from the model's configuration."""
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.modulation = nn.Linear(width, 9 * width)
        self.qkv = nn.Linear(width, 3 * width)
        self.self_out = nn.Linear(width, width)
        self.cross_query = nn.Linear(width, width)
        self.cross_out = nn.Linear(width, width)
        self.mlp = feed_forward(width, config.action_mlp_ratio)

    def forward(
        self,
        tokens: torch.Tensor,
        condition: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        """Update the action tokens.

        Args:
            tokens: Action tokens (B, T, C).
            condition: Embedded flow time and context summary (B, 1, C).
            key: This layer's keys of the context (B, S, C).
            value: This layer's values of the context (B, S, C).
            mask: Boolean (B, 1, 1, S).

        Returns:
            Action tokens (B, T, C).
        """
        shift1, scale1, gate1, shift2, scale2, gate2, shift3, scale3, gate3 = self.modulation(condition).chunk(
            9, dim=-1
        )
        q, k, v = self.qkv(self.norm(tokens) * (1 + scale1) + shift1).chunk(3, dim=-1)
        tokens = tokens + gate1 * self.self_out(attend(q, k, v, self.heads))
        query = self.cross_query(self.norm(tokens) * (1 + scale2) + shift2)
        tokens = tokens + gate2 * self.cross_out(attend(query, key, value, self.heads, mask))
        return tokens + gate3 * self.mlp(self.norm(tokens) * (1 + scale3) + shift3)
