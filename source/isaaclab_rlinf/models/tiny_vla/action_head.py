# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""DiT action head of tiny_vla: predicts the flow velocity of an action chunk."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from isaaclab_rlinf.models.flow import time_features

from .configuration import TinyVLAConfig
from .layers import TinyVLAActionLayer


class TinyVLAActionHead(nn.Module):
    """Velocity field over action chunks.

    Each layer attends to the context, and is modulated by the flow time and the context's summary token. The context
    does not change between denoising steps, so :meth:`project_context` computes what depends on it once;
    :meth:`forward` runs per step.
    """

    def __init__(self, config: TinyVLAConfig) -> None:
        """Build the head from the model's configuration."""
        super().__init__()
        width = config.hidden_size
        self.width = width
        self.action_in = nn.Linear(config.action_dim, width)
        self.position = nn.Parameter(torch.empty(config.action_horizon, width))
        self.time_mlp = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.summary = nn.Linear(width, width)
        # One matrix for all layers, outside them: a layer's parameters may be used only in its own forward (FSDP2).
        self.context_kv = nn.Linear(width, 2 * width * config.action_layers)
        self.layers = nn.ModuleList(TinyVLAActionLayer(config) for _ in range(config.action_layers))
        self.norm = nn.LayerNorm(width)
        self.action_out = nn.Linear(width, config.action_dim)

    def project_context(self, context: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Project context tokens (B, S, C), the summary token first.

        Returns:
            The condition (B, 1, C), then keys and values (B, S, C) for each layer in turn.
        """
        return (self.summary(context[:, :1]), *self.context_kv(context).chunk(2 * len(self.layers), dim=-1))

    def forward(
        self, actions: torch.Tensor, time: torch.Tensor, context: tuple[torch.Tensor, ...], mask: torch.Tensor
    ) -> torch.Tensor:
        """Predict the velocity.

        Args:
            actions: Noisy normalised actions (B, T, A).
            time: Flow time (B,), or (1,) when all samples share it.
            context: Result of :meth:`project_context`.
            mask: Boolean (B, S), True for context tokens that may be attended.

        Returns:
            float32 (B, T, A).
        """
        dtype = self.position.dtype
        time_embedding = self.time_mlp(time_features(time, self.width).to(dtype)).unsqueeze(1)
        condition = functional.silu(time_embedding + context[0])
        tokens = self.action_in(actions.to(dtype)) + self.position
        key_mask = mask[:, None, None, :]
        for index, layer in enumerate(self.layers):
            tokens = layer(tokens, condition, context[2 * index + 1], context[2 * index + 2], key_mask)
        return self.action_out(self.norm(tokens)).float()
