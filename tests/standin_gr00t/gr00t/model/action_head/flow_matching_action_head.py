# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: N1.5's action head by interface and widths."""

import math
from typing import Any

import torch
from torch import nn
from transformers.feature_extraction_utils import BatchFeature


class FlowmatchingActionHeadConfig:
    """Defaults of N1.5, overridden by ``action_head_cfg``. There is no ``num_steps``."""

    def __init__(self, **values: Any) -> None:
        self.add_pos_embed, self.hidden_size = True, 64
        self.input_embedding_dim, self.backbone_embedding_dim = 1536, 2048
        self.max_num_embodiments, self.max_state_dim, self.max_seq_len = 32, 64, 64
        self.num_timestep_buckets, self.num_target_vision_tokens = 1000, 4
        for name, value in values.items():
            setattr(self, name, value)


class CategorySpecificMLP(nn.Module):
    """A network whose bias depends on the embodiment (in the real one, all weights do)."""

    def __init__(self, categories: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)
        self.bias = nn.Embedding(categories, outputs)

    def forward(self, x: torch.Tensor, cat_ids: torch.Tensor) -> torch.Tensor:
        assert cat_ids.shape == x.shape[:1], f"{cat_ids.shape=}"
        return self.layer(x) + self.bias(cat_ids)[:, None]


class MultiEmbodimentActionEncoder(nn.Module):
    """Actions and time."""

    def __init__(self, categories: int, inputs: int, outputs: int) -> None:
        super().__init__()
        self.action = CategorySpecificMLP(categories, inputs, outputs)

    def forward(self, actions: torch.Tensor, timesteps: torch.Tensor, cat_ids: torch.Tensor) -> torch.Tensor:
        assert timesteps.shape == actions.shape[:1], f"{timesteps.shape=}"
        embedded = self.action(actions, cat_ids)
        return embedded + (timesteps.to(embedded.dtype) / 1000 * math.pi).sin()[:, None, None]


class TimestepEmbedding(nn.Linear):
    """Named as the real one's, for wrapping policies."""


class TimestepEncoder(nn.Module):
    """Named as the real one's, for wrapping policies."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.timestep_embedder = TimestepEmbedding(1, width)

    def forward(self, timestep: torch.Tensor) -> torch.Tensor:
        # features in float32 and cast afterwards, as the real one
        return self.timestep_embedder((timestep[:, None] / 1000).to(self.timestep_embedder.weight.dtype))


class DiT(nn.Module):
    """One cross-attention, with dropout."""

    def __init__(self, inputs: int, context: int, outputs: int) -> None:
        super().__init__()
        self.timestep_encoder = TimestepEncoder(outputs)
        self.query, self.key, self.value = (nn.Linear(n, outputs) for n in (inputs, context, context))
        self.skip, self.dropout = nn.Linear(inputs, outputs), nn.Dropout(0.2)

    def forward(
        self, hidden_states: torch.Tensor, encoder_hidden_states: torch.Tensor, timestep: torch.Tensor
    ) -> torch.Tensor:
        scores = self.query(hidden_states) @ self.key(encoder_hidden_states).transpose(1, 2)
        mixed = scores.div(8).softmax(-1) @ self.value(encoder_hidden_states)
        return self.dropout(torch.tanh(mixed + self.skip(hidden_states) + self.timestep_encoder(timestep)[:, None]))


class FlowmatchingActionHead(nn.Module):
    """State, action and future tokens through the DiT."""

    def __init__(self, config: FlowmatchingActionHeadConfig) -> None:
        super().__init__()
        width, count = config.input_embedding_dim, config.max_num_embodiments
        self.config, self.hidden_size, self.input_embedding_dim = config, config.hidden_size, width
        self.action_dim, self.action_horizon = config.action_dim, config.action_horizon
        self.num_inference_timesteps = config.num_inference_timesteps
        self.num_timestep_buckets = config.num_timestep_buckets
        self.model = DiT(width, config.backbone_embedding_dim, config.hidden_size)
        self.state_encoder = CategorySpecificMLP(count, config.max_state_dim, width)
        self.action_encoder = MultiEmbodimentActionEncoder(count, config.action_dim, width)
        self.action_decoder = CategorySpecificMLP(count, config.hidden_size, config.action_dim)
        self.future_tokens = nn.Embedding(config.num_target_vision_tokens, width)
        self.position_embedding = nn.Embedding(config.max_seq_len, width)
        self.vlln = nn.LayerNorm(config.backbone_embedding_dim)

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    def process_backbone_output(self, backbone_output: BatchFeature) -> BatchFeature:
        backbone_output["backbone_features"] = self.vlln(backbone_output["backbone_features"])
        return backbone_output
