# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Configuration of the bundled vision-language-action model."""

from __future__ import annotations

from transformers import PretrainedConfig

MODEL_TYPE = "tiny_vla"


class TinyVLAConfig(PretrainedConfig):
    """Hyper-parameters of :class:`~isaaclab_rlinf.models.tiny_vla.modeling.TinyVLAModel`.

    The defaults give about 1.6 M parameters and 16 tokens per 64x64 image.

    Attributes:
        action_dim: Width A of one action.
        action_horizon: Number T of actions that one call predicts.
        state_dim: Width D of the proprioceptive state.
        image_views: Names of the images in the order the model sees them (``main_images``, ``wrist_images``,
            ``extra_view_images_0``, ...).
        image_size: Height and width of every image in pixels.
        patch_size: Side of the first, finest patches in pixels.
        patch_widths: Feature width after the first patch projection and after each merge but the last.
        merge_factors: Each entry merges ``f x f`` neighbouring patches into one; the last gives ``hidden_size``.
        keypoints_per_view: Number of positions read from each image by the spatial soft-argmax.
        vocab_size: Number of token ids.
        pad_token_id: Id of the padding token.
        max_text_length: Fixed number L of text tokens.
        hidden_size: Width of all tokens.
        num_attention_heads: Heads of every attention.
        context_layers: Transformer layers over text, state and image tokens.
        action_layers: DiT layers of the action head.
        context_mlp_ratio: Feed-forward expansion in the context layers.
        action_mlp_ratio: Feed-forward expansion in the action layers.
        num_denoising_steps: Default number of integration steps at inference.
        initializer_range: Standard deviation of position and view embeddings at initialisation.
    """

    model_type = MODEL_TYPE

    action_dim: int = 3
    action_horizon: int = 8
    state_dim: int = 3
    image_views: list[str] | None = None
    image_size: int = 64
    patch_size: int = 4
    patch_widths: list[int] | None = None
    merge_factors: list[int] | None = None
    keypoints_per_view: int = 16
    vocab_size: int = 32
    pad_token_id: int = 0
    max_text_length: int = 8
    hidden_size: int = 128
    num_attention_heads: int = 2
    context_layers: int = 2
    action_layers: int = 3
    context_mlp_ratio: int = 4
    action_mlp_ratio: int = 2
    num_denoising_steps: int = 4
    initializer_range: float = 0.5
    tie_word_embeddings: bool = False

    def __post_init__(self, **kwargs) -> None:
        """Fill in list defaults and check that the numbers fit together.

        Raises:
            ValueError: If sizes are inconsistent; the message shows them.
        """
        self.image_views = list(self.image_views or ["main_images", "wrist_images"])
        self.patch_widths = list(self.patch_widths or [48, 96])
        self.merge_factors = list(self.merge_factors or [2, 2])
        super().__post_init__(**kwargs)
        if len(self.patch_widths) != len(self.merge_factors):
            raise ValueError(
                f"patch_widths {self.patch_widths} and merge_factors {self.merge_factors} must have the same length"
            )
        if self.image_size % self.token_pixels:
            raise ValueError(
                f"image_size {self.image_size} is not a multiple of one image token's side "
                f"({self.token_pixels} = patch_size {self.patch_size} x merge_factors {self.merge_factors})"
            )
        if self.hidden_size % (2 * self.num_attention_heads):
            raise ValueError(
                f"hidden_size {self.hidden_size} must be a multiple of twice num_attention_heads "
                f"({self.num_attention_heads})"
            )
        if len(set(self.image_views)) != len(self.image_views):
            raise ValueError(f"image_views {self.image_views} names a view twice")

    @property
    def token_pixels(self) -> int:
        """Side in pixels of the square that one image token covers."""
        side = self.patch_size
        for factor in self.merge_factors:
            side *= factor
        return side

    @property
    def tokens_per_view(self) -> int:
        """Number of image tokens of one view."""
        return (self.image_size // self.token_pixels) ** 2
