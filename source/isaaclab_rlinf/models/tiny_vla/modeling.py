# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The tiny_vla model in Hugging Face form."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers import initialization as init

from isaaclab_rlinf.models.flow import flow_step

from .action_head import TinyVLAActionHead
from .configuration import TinyVLAConfig
from .encoders import TinyVLAContextEncoder, TinyVLAImageEncoder, TinyVLATextEncoder, sinusoidal_grid
from .layers import TinyVLAActionLayer


class TinyVLAModel(PreTrainedModel):
    """Images, instruction and state in, a chunk of normalised actions out.

    A batch of observations is the four tensors that
    :class:`~isaaclab_rlinf.models.tiny_vla.processing.TinyVLAProcessor` returns:

    - ``pixel_values`` uint8 (B, V, H, W, 3), views in the order of ``config.image_views``;
    - ``input_ids`` int64 (B, L) and ``attention_mask`` int64 (B, L);
    - ``state`` float32 (B, D), normalised to [-1, 1].
    """

    config_class = TinyVLAConfig
    base_model_prefix = ""
    main_input_name = "pixel_values"
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    # The layers that FSDP2 shards one by one.
    _no_split_modules = ["TinyVLAContextLayer", "TinyVLAActionLayer"]  # noqa: RUF012
    # A checkpoint saved by the RL policy also serves as a plain model.
    _keys_to_ignore_on_load_unexpected = [r"^value_head\."]  # noqa: RUF012

    def __init__(self, config: TinyVLAConfig) -> None:
        """Build the model with fresh weights."""
        super().__init__(config)
        self.context_encoder = TinyVLAContextEncoder(config)
        self.action_head = TinyVLAActionHead(config)
        self.post_init()

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Initialise one module; children come before their parents."""
        std = self.config.initializer_range
        if isinstance(module, nn.Linear):
            init.xavier_uniform_(module.weight)
            if module.bias is not None:
                init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm) and module.weight is not None:
            init.ones_(module.weight)
            init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            init.normal_(module.weight, std=1.0)
        elif isinstance(module, TinyVLAImageEncoder):
            init.copy_(module.position, sinusoidal_grid(math.isqrt(module.position.shape[0]), module.position.shape[1]))
            init.normal_(module.view, std=std)
        elif isinstance(module, TinyVLATextEncoder):
            init.normal_(module.position, std=std)
        elif isinstance(module, TinyVLAActionLayer):
            init.zeros_(module.modulation.weight)
        elif isinstance(module, TinyVLAActionHead):
            init.normal_(module.position, std=std)
            init.zeros_(module.action_out.weight)

    def encode(
        self, pixel_values: torch.Tensor, input_ids: torch.Tensor, attention_mask: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Context tokens (B, S, C) and their boolean mask (B, S)."""
        return self.context_encoder(pixel_values, input_ids, attention_mask, state)

    def forward(
        self,
        pixel_values: torch.Tensor,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        state: torch.Tensor,
        actions: torch.Tensor,
        noise: torch.Tensor,
        time: torch.Tensor,
    ) -> torch.Tensor:
        """Rectified-flow loss: mean squared error of the velocity at the given times.

        Args:
            pixel_values: See the class.
            input_ids: See the class.
            attention_mask: See the class.
            state: See the class.
            actions: Normalised target chunk (B, T, A).
            noise: Standard normal (B, T, A).
            time: Flow times (B,).

        Returns:
            Scalar loss, float32.
        """
        context, mask = self.encode(pixel_values, input_ids, attention_mask, state)
        weight = time[:, None, None]
        noisy = (1.0 - weight) * noise + weight * actions
        velocity = self.action_head(noisy, time, self.action_head.project_context(context), mask)
        return functional.mse_loss(velocity, (actions - noise).float())

    @torch.no_grad()
    def generate_actions(
        self,
        pixel_values: torch.Tensor,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        state: torch.Tensor,
        noise: torch.Tensor | None = None,
        num_steps: int | None = None,
    ) -> torch.Tensor:
        """Integrate the flow with Euler's method.

        Args:
            pixel_values: See the class.
            input_ids: See the class.
            attention_mask: See the class.
            state: See the class.
            noise: Start (B, T, A); default zeros, the mean of the noise, which makes the result deterministic.
            num_steps: Number of steps; default ``config.num_denoising_steps``.

        Returns:
            Normalised actions, float32 (B, T, A).
        """
        context, mask = self.encode(pixel_values, input_ids, attention_mask, state)
        projected = self.action_head.project_context(context)
        steps = num_steps or self.config.num_denoising_steps
        shape = (state.shape[0], self.config.action_horizon, self.config.action_dim)
        sample = torch.zeros(shape, device=state.device) if noise is None else noise
        for index in range(steps):
            step = torch.full((1,), index, device=state.device)
            velocity = self.action_head(sample, step / steps, projected, mask)
            sample, _ = flow_step(sample, velocity, step, steps, 0.0)
        return sample
