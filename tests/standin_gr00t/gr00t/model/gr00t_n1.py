# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: the model around backbone and action head."""

import json
from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors.torch import load_file
from torch import nn
from transformers.feature_extraction_utils import BatchFeature

from gr00t.model.action_head.flow_matching_action_head import FlowmatchingActionHead, FlowmatchingActionHeadConfig
from gr00t.model.transforms import IMAGE_TOKEN


class GR00T_N1_5_Config:  # noqa: N801 - the real name
    """The content of ``config.json``."""

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)


class Eagle2_5_VLForConditionalGeneration(nn.Module):  # noqa: N801 - the real name
    """16 x 16 patch colours and letters, averaged; named as the real one's, for wrapping policies."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.vision_model = nn.Linear(3, width)
        self.language_model = nn.Embedding(512, width)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, pixel_values: torch.Tensor) -> Any:
        patches = nn.functional.adaptive_avg_pool2d(pixel_values, 16).flatten(2).transpose(1, 2)
        tokens = self.language_model(input_ids)
        image = input_ids == IMAGE_TOKEN
        assert image.sum() == patches.shape[0] * patches.shape[1], "image tokens and images differ"
        tokens = tokens.masked_scatter(image[..., None], self.vision_model(patches).to(tokens.dtype))
        weight = attention_mask[..., None].to(tokens.dtype)
        return tokens + (tokens * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True)


class EagleBackbone(nn.Module):
    """Vision and language tower."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.eagle_model = Eagle2_5_VLForConditionalGeneration(width)

    def forward(self, vl_input: BatchFeature) -> BatchFeature:
        inputs = {key.removeprefix("eagle_"): value for key, value in vl_input.items() if key.startswith("eagle_")}
        del inputs["image_sizes"]  # must be there
        features = self.eagle_model(**inputs)
        return BatchFeature({"backbone_features": features, "backbone_attention_mask": inputs["attention_mask"]})


class GR00T_N1_5(nn.Module):  # noqa: N801 - the real name
    """A :class:`transformers.PreTrainedModel` in the real package."""

    config_class: ClassVar[type] = GR00T_N1_5_Config

    def __init__(self, config: GR00T_N1_5_Config, local_model_path: str) -> None:
        super().__init__()
        head = FlowmatchingActionHeadConfig(**config.action_head_cfg)
        self.config, self.local_model_path = config, local_model_path
        self.backbone = EagleBackbone(head.backbone_embedding_dim)
        self.action_head = FlowmatchingActionHead(head)
        self.action_horizon, self.action_dim = config.action_horizon, config.action_dim

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def prepare_input(self, inputs: dict[str, Any]) -> tuple[BatchFeature, BatchFeature]:
        def cast(value: torch.Tensor) -> torch.Tensor:
            return value.to(self.device, self.action_head.dtype if value.is_floating_point() else value.dtype)

        moved = {key: cast(value) for key, value in inputs.items()}
        return BatchFeature(dict(moved)), BatchFeature(dict(moved))

    def validate_data(self, action_head_outputs: Any, backbone_outputs: Any, is_training: bool) -> None:
        assert isinstance(backbone_outputs, BatchFeature) and "backbone_features" in backbone_outputs
        shape = action_head_outputs["action_pred"].shape
        assert isinstance(action_head_outputs, BatchFeature) and shape[1:] == (self.action_horizon, self.action_dim)

    @classmethod
    def from_pretrained(
        cls, path: str, torch_dtype: Any = None, tune_visual: bool = True, tune_llm: bool = False, **kwargs: Any
    ) -> Any:
        assert Path(path).is_absolute(), f"{path!r} would be looked for on the Hugging Face hub"
        config = GR00T_N1_5_Config(**json.loads((Path(path) / "config.json").read_text()))
        model = cls(config, local_model_path=str(path), **kwargs)
        missing, unexpected = model.load_state_dict(load_file(Path(path) / "model.safetensors"), strict=False)
        assert not unexpected, f"unexpected weights: {unexpected}"
        own = dict(model.named_parameters())
        for name in missing:
            own[name].data.fill_(float("nan"))
        model.backbone.eagle_model.vision_model.requires_grad_(tune_visual)
        model.backbone.eagle_model.language_model.requires_grad_(tune_llm)
        model.to(torch_dtype)
        model.eval()
        return model
