# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Encoders of tiny_vla: instruction, images and state become one sequence of context tokens."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from .configuration import TinyVLAConfig
from .layers import TinyVLAContextLayer

# Factor on the keypoint scores. Near-uniform softmax weights hide a small object among 256 positions: with factor 1,
# learning waits 150-250 steps on a plateau before the instruction is used; with 8 there is none.
_SHARPNESS = 8.0


def sinusoidal_grid(side: int, width: int) -> torch.Tensor:
    """Sinusoidal embedding of a ``side x side`` grid, row by row.

    Position embeddings start from this, at the scale of the token contents: starting from small noise, the model
    takes very long to find out where things are.

    Args:
        side: Cells along each axis.
        width: Embedding width, a multiple of 4; one half for each axis.

    Returns:
        float32 (side * side, width).
    """
    axis = torch.linspace(-1.0, 1.0, side)
    frequencies = 0.5 * torch.pi * torch.logspace(0.0, 1.0, width // 4, base=float(side))
    angles = axis[:, None] * frequencies
    line = torch.cat([angles.sin(), angles.cos()], dim=-1)
    rows = line[:, None].expand(side, side, -1)
    columns = line[None, :].expand(side, side, -1)
    return torch.cat([rows, columns], dim=-1).flatten(0, 1)


def merge_patches(grid: torch.Tensor, factor: int) -> torch.Tensor:
    """Concatenate each ``factor x factor`` block of a feature grid.

    Args:
        grid: (N, H, W, C) with H and W multiples of ``factor``.
        factor: Side of a block.

    Returns:
        (N, H / factor, W / factor, factor * factor * C).
    """
    n, height, width, channels = grid.shape
    blocks = grid.reshape(n, height // factor, factor, width // factor, factor, channels).transpose(2, 3)
    return blocks.reshape(n, height // factor, width // factor, factor * factor * channels)


def expected_positions(maps: torch.Tensor) -> torch.Tensor:
    """Where each score map is high: the spatial soft-argmax, refined by predicted offsets.

    Finn et al., "Deep Spatial Autoencoders for Visuomotor Learning", 2016, section IV: the expectation of the
    coordinates under the softmax over positions. Each position also says how far from its centre the object is.

    Args:
        maps: (N, H, W, 3 K): K scores, K offsets in x and K offsets in y, the latter in cells.

    Returns:
        float32 (N, 3 K): K x and K y in about [-1, 1], and K highest probabilities as a measure of presence.
    """
    _, height, width, _ = maps.shape
    scores, *offsets = maps.float().flatten(1, 2).chunk(3, dim=-1)
    weights = (_SHARPNESS * scores).softmax(dim=1)
    y, x = torch.meshgrid(
        torch.linspace(-1.0, 1.0, height, device=maps.device),
        torch.linspace(-1.0, 1.0, width, device=maps.device),
        indexing="ij",
    )
    found = [
        (weights * (centres.reshape(-1, 1) + offset * (2.0 / cells))).sum(dim=1)
        for centres, offset, cells in ((x, offsets[0], width), (y, offsets[1], height))
    ]
    return torch.cat([*found, weights.amax(dim=1)], dim=-1)


class TinyVLAImageEncoder(nn.Module):
    """Patch encoder that all views share.

    Small patches are projected, modulated by the instruction (FiLM, Perez et al. 2018), then merged with a
    non-linearity between. The fine grid also gives keypoints: positions of what the instruction makes salient. They
    carry the spatial precision that few, large tokens learn only slowly.
    """

    def __init__(self, config: TinyVLAConfig) -> None:
        """Build the encoder from the model's configuration."""
        super().__init__()
        self.factors = [config.patch_size, *config.merge_factors]
        widths = [3, *config.patch_widths, config.hidden_size]
        self.projections = nn.ModuleList(
            nn.Linear(factor * factor * w_in, w_out)
            for factor, w_in, w_out in zip(self.factors, widths[:-1], widths[1:], strict=True)
        )
        self.film = nn.Linear(config.hidden_size, 2 * config.patch_widths[0])
        self.keypoints = nn.Linear(config.patch_widths[0], 3 * config.keypoints_per_view)
        self.position = nn.Parameter(torch.empty(config.tokens_per_view, config.hidden_size))
        self.view = nn.Parameter(torch.empty(len(config.image_views), 1, config.hidden_size))

    def forward(self, pixel_values: torch.Tensor, instruction: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Encode images.

        Args:
            pixel_values: uint8 (B, V, H, W, 3).
            instruction: Pooled text features (B, C).

        Returns:
            Tokens (B, V * tokens_per_view, C) and keypoints (B, V * keypoints_per_view * 3), both in the dtype of
            the weights.
        """
        batch, views = pixel_values.shape[:2]
        grid = pixel_values.flatten(0, 1).to(self.view.dtype) / 127.5 - 1.0
        grid = functional.relu(self.projections[0](merge_patches(grid, self.factors[0])))
        scale, shift = self.film(instruction).repeat_interleave(views, dim=0)[:, None, None].chunk(2, dim=-1)
        grid = grid * (1.0 + scale) + shift
        keypoints = expected_positions(self.keypoints(grid)).to(grid.dtype)
        for factor, projection in zip(self.factors[1:], self.projections[1:], strict=True):
            grid = projection(merge_patches(functional.relu(grid), factor))
        tokens = grid.flatten(1, 2).unflatten(0, (batch, views))
        return (tokens + self.position + self.view).flatten(1, 2), keypoints.reshape(batch, -1)


class TinyVLATextEncoder(nn.Module):
    """Token and position embeddings; the joint context layers do the rest."""

    def __init__(self, config: TinyVLAConfig) -> None:
        """Build the encoder from the model's configuration."""
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position = nn.Parameter(torch.empty(config.max_text_length, config.hidden_size))

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Embed token ids (B, L) as tokens (B, L, C)."""
        return self.embedding(input_ids) + self.position


class TinyVLAContextEncoder(nn.Module):
    """Joint encoder: summary, text and image tokens attend to each other.

    The summary token is made from the state and the keypoints of all views. It comes first, so that its output can
    be found by position.
    """

    def __init__(self, config: TinyVLAConfig) -> None:
        """Build the encoder from the model's configuration."""
        super().__init__()
        width = config.hidden_size
        summary_dim = config.state_dim + 3 * config.keypoints_per_view * len(config.image_views)
        self.text_encoder = TinyVLATextEncoder(config)
        self.image_encoder = TinyVLAImageEncoder(config)
        self.summary_encoder = nn.Sequential(nn.Linear(summary_dim, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.layers = nn.ModuleList(TinyVLAContextLayer(config) for _ in range(config.context_layers))
        self.norm = nn.LayerNorm(width)

    def forward(
        self, pixel_values: torch.Tensor, input_ids: torch.Tensor, attention_mask: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Encode one observation batch.

        Args:
            pixel_values: uint8 (B, V, H, W, 3).
            input_ids: int64 (B, L).
            attention_mask: (B, L), non-zero for real tokens.
            state: Normalised state (B, D).

        Returns:
            Context tokens (B, 1 + L + V * tokens_per_view, C) and their boolean mask (B, 1 + L + ...).
        """
        text = self.text_encoder(input_ids)
        text_mask = attention_mask.bool()
        weight = text_mask.to(text.dtype).unsqueeze(-1)
        instruction = (text * weight).sum(dim=1) / weight.sum(dim=1)
        images, keypoints = self.image_encoder(pixel_values, instruction)
        summary = self.summary_encoder(torch.cat([state.to(images.dtype), keypoints], dim=-1)).unsqueeze(1)
        tokens = torch.cat([summary, text, images], dim=1)
        always = text_mask.new_ones(text_mask.shape[0], 1)
        mask = torch.cat([always, text_mask, always.expand(-1, images.shape[1])], dim=1)
        for layer in self.layers:
            tokens = layer(tokens, mask[:, None, None, :])
        return self.norm(tokens), mask
