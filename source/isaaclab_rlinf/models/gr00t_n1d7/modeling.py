# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The GR00T N1.7 network: lerobot's, taken apart into what depends on the observation and the velocity field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from isaaclab_rlinf.compat.lerobot_groot import groot_n1d7
from isaaclab_rlinf.compat.qwen3_vl_vision import precomputed_positions, speed_up

from .images import PatchSettings
from .weights import UNUSED_KEYS

_GROOT = groot_n1d7()
# The blocks that FSDP2 shards one by one: language layers, vision blocks, DiT and vision-language attention blocks.
BLOCKS = ("Qwen3VLTextDecoderLayer", "Qwen3VLVisionBlock", "BasicTransformerBlock")
_BLOCK = "BasicTransformerBlock"


@dataclass(frozen=True)
class Context:
    """What the velocity field knows of the observations.

    Attributes:
        features: Vision-language features (B, L, C).
        mask: Boolean (B, L), False for padding.
        image_mask: Boolean (B, L), True for image tokens.
        state: State features (B, 1, H).
        embodiment_id: int64 (B,).
    """

    features: torch.Tensor
    mask: torch.Tensor
    image_mask: torch.Tensor
    state: torch.Tensor
    embodiment_id: torch.Tensor


class Gr00tN1d7Model(_GROOT.GR00TN17):
    """lerobot's ``GR00TN17`` with the same weights, under the same names.

    Three things differ in how it is run. Padding is masked in the attention over vision-language features, so that the
    result does not depend on how far a batch is padded: it equals NVIDIA's for a single, unpadded observation. The
    language model's output layer, which N1.7 never uses, is left out. And what the files ask for in precision and
    attention is not followed: ``load_bf16``, or bfloat16 in the backbone's configuration, would round weights that
    are wanted in float32, and flash-attn refuses float32. PyTorch's attention takes every dtype, and is the same in
    a bfloat16 rollout and in an actor with float32 weights and bfloat16 compute.
    """

    def __init__(self, config: Any, backbone_dir: Path, patches: PatchSettings) -> None:
        """Build the network with fresh weights.

        Args:
            config: ``GR00TN17Config``.
            backbone_dir: Directory with the backbone's ``config.json``.
            patches: How images are cut.
        """
        replaced = {"model_name": str(backbone_dir), "load_bf16": False, "use_flash_attention": False}
        given = {key: getattr(config, key) for key in replaced}
        vars(config).update(replaced)
        super().__init__(config, {"local_files_only": True, "dtype": torch.float32}, load_backbone_weights=False)
        vars(config).update(given)  # what is saved again says what the checkpoint said
        self.patches = patches
        del self.backbone.model.lm_head
        speed_up(self.backbone.visual)
        self.all_tied_weights_keys = self.backbone.model.all_tied_weights_keys = {}
        self._no_split_modules = list(BLOCKS)

    def disable_dropout(self) -> None:
        """Make train and eval mode compute the same, as PPO's ratio needs."""
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
            if isinstance(getattr(module, "attention_dropout", None), float):
                module.attention_dropout = 0.0

    def set_trainable(self, *, llm: bool, visual: bool, projector: bool, diffusion: bool, vlln: bool) -> None:
        """Choose which parts have gradients.

        Args:
            llm: The language model.
            visual: The vision tower.
            projector: State encoder, action encoder and decoder, position embedding.
            diffusion: The DiT.
            vlln: Normalisation and attention over the vision-language features.
        """
        self.backbone.set_trainable_parameters(tune_llm=llm, tune_visual=visual)
        self.action_head.set_trainable_parameters(
            tune_projector=projector, tune_diffusion_model=diffusion, tune_vlln=vlln
        )

    @property
    def weight_dtype(self) -> torch.dtype:
        """Dtype in which the network computes (inside FSDP2's forward, its compute dtype)."""
        return self.action_head.state_encoder.layer1.W.dtype

    @property
    def input_device(self) -> torch.device:
        """Where inputs have to be."""
        return self.action_head.state_encoder.layer1.W.device

    def encode(
        self,
        images: torch.Tensor,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        state: torch.Tensor,
        embodiment_id: torch.Tensor,
    ) -> Context:
        """Run backbone and state encoder.

        Args:
            images: uint8 (B, V, h, w, 3).
            input_ids: int64 (B, L).
            attention_mask: int64 (B, L).
            state: Normalised, (B, 1, max_state_dim).
            embodiment_id: int64 (B,).
        """
        mask = attention_mask == 1
        # A frozen backbone needs no graph; LoRA and tuning flags are looked up here because both change later.
        trained = any(parameter.requires_grad for parameter in self.backbone.parameters())
        with torch.set_grad_enabled(torch.is_grad_enabled() and trained):
            features = self._backbone_features(images, input_ids, attention_mask)
        head = self.action_head
        features = head.vlln(features.to(self.weight_dtype))
        for block in getattr(head.vl_self_attention, "transformer_blocks", ()):
            features = block(features, attention_mask=mask)
        encoded = head.state_encoder(state.to(self.weight_dtype), embodiment_id)
        image_mask = input_ids == self.backbone.model.config.image_token_id
        return Context(features, mask, image_mask, encoded, embodiment_id)

    def velocity(self, sample: torch.Tensor, bucket: torch.Tensor, context: Context) -> torch.Tensor:
        """Predict the flow's velocity.

        Args:
            sample: Noisy normalised actions (B, T, max_action_dim).
            bucket: Discretised flow time, int64 (B,) in [0, num_timestep_buckets).
            context: Result of :meth:`encode`.

        Returns:
            float32 (B, T, max_action_dim).
        """
        head = self.action_head
        tokens = head.action_encoder(sample.to(self.weight_dtype), bucket, context.embodiment_id)
        if self.config.add_pos_embed:
            tokens = tokens + head.position_embedding(torch.arange(tokens.shape[1], device=tokens.device))
        masks = {}
        if self.config.use_alternate_vl_dit:
            masks = {"image_mask": context.image_mask, "backbone_attention_mask": context.mask}
        output = head.model(
            hidden_states=torch.cat([context.state, tokens], dim=1),
            encoder_hidden_states=context.features,
            timestep=bucket,
            **masks,
        )
        return head.action_decoder(output, context.embodiment_id)[:, -sample.shape[1] :].float()

    def flow_loss(
        self, context: Context, actions: torch.Tensor, mask: torch.Tensor, noise: torch.Tensor, time: torch.Tensor
    ) -> torch.Tensor:
        """Rectified-flow loss: mean squared error of the velocity where ``mask`` is 1.

        Args:
            context: Result of :meth:`encode`.
            actions: Normalised targets (B, T, max_action_dim).
            mask: Same shape, 0 for padded steps and dimensions.
            noise: Standard normal, same shape.
            time: Flow times (B,).
        """
        weight = time[:, None, None]
        bucket = (time * self.config.num_timestep_buckets).long()
        velocity = self.velocity((1.0 - weight) * noise + weight * actions, bucket, context)
        return ((velocity - (actions - noise)) ** 2 * mask).sum() / mask.sum()

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs: dict[str, Any] | None = None) -> None:
        """Recompute activations of every block in the backward pass.

        Args:
            gradient_checkpointing_kwargs: ``use_reentrant`` is the only one that RLinf passes; it is always False
                here, since re-entrant checkpointing drops gradients of blocks whose inputs have none.
        """
        self.backbone.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        for block in self._action_blocks():
            if "forward" not in vars(block):
                block.forward = _Checkpointed(block)

    def gradient_checkpointing_disable(self) -> None:
        """Undo :meth:`gradient_checkpointing_enable`."""
        self.backbone.model.gradient_checkpointing_disable()
        for block in self._action_blocks():
            vars(block).pop("forward", None)

    def _action_blocks(self) -> list[nn.Module]:
        # FSDP2 renames the class of what it shards: "FSDPBasicTransformerBlock".
        return [module for module in self.action_head.modules() if type(module).__name__.endswith(_BLOCK)]

    def _backbone_features(
        self, images: torch.Tensor, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> torch.Tensor:
        """Output (B, L, C) of the last language layer, before the final norm, as N1.7's action head expects it."""
        qwen = self.backbone.model.model
        batch, views, height, width, _ = images.shape
        flat = self.patches.patchify(images.flatten(0, 1))
        grid = torch.tensor([[1, height // self.patches.patch, width // self.patches.patch]], device=images.device)
        captured: list[torch.Tensor] = []
        layer = qwen.language_model.layers[-1]
        hook = layer.register_forward_hook(lambda _module, _inputs, output: captured.append(output))
        try:
            qwen(
                input_ids=input_ids,
                attention_mask=attention_mask,
                position_ids=self._position_ids(input_ids, attention_mask, grid.repeat(views, 1)),
                pixel_values=flat.flatten(0, 1).to(self.weight_dtype),
                image_grid_thw=grid.repeat(batch * views, 1),
                use_cache=False,
                **precomputed_positions(grid, batch * views, qwen.visual),
            )
        finally:
            hook.remove()
        return captured[0] if isinstance(captured[0], torch.Tensor) else captured[0][0]

    def _position_ids(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        """Text, time, row and column of every token, int64 (4, B, L); Qwen's own, computed once per distinct prompt.

        The first row is the temporal one again, as lerobot's backbone passes it.
        """
        qwen = self.backbone.model.model
        rows, index = torch.unique(torch.cat([input_ids, attention_mask], dim=1), dim=0, return_inverse=True)
        ids, mask = rows.chunk(2, dim=1)
        positions, _ = qwen.get_rope_index(
            ids,
            mm_token_type_ids=(ids == qwen.config.image_token_id).int(),
            image_grid_thw=grid.repeat(len(ids), 1),
            attention_mask=mask,
        )
        positions = positions[:, index]
        return torch.cat([positions[:1], positions])


class _Checkpointed:
    """A block's forward that keeps no activations."""

    def __init__(self, block: nn.Module) -> None:
        self.forward = type(block).forward
        self.block = block

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return self.forward(self.block, *args, **kwargs)
        return checkpoint(self.forward, self.block, *args, use_reentrant=False, **kwargs)


def new_config(settings: dict[str, Any]) -> Any:
    """Return a ``GR00TN17Config`` from the contents of a ``config.json``."""
    return _GROOT.GR00TN17Config(**settings)


def is_unused(key: str) -> bool:
    """Whether a saved weight belongs to a part that N1.7 does not use."""
    return key.startswith(UNUSED_KEYS)
