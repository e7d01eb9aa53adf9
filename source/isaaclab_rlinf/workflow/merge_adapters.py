# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""LoRA adapters -> plain weights, wherever in a model they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Merged:
    """A model without adapters.

    Attributes:
        model: The plain model.
        layers: Number of layers that had adapters.
        untied: Weights that were one tensor with another before, and are no longer: their adapters change them alone.
    """

    model: torch.nn.Module
    layers: int = 0
    untied: tuple[str, ...] = ()


def merge_adapters(model: torch.nn.Module) -> Merged:
    """Merge peft's adapters into the weights that they change, in float32 since their products are small.

    RLinf wraps most models as a whole, and only the language model of openpi's.

    Args:
        model: Changed in place; weights that adapters change become float32, others stay as they are.

    Returns:
        The model without adapters, and what happened to it.

    Raises:
        ConfigError: If adapters remain that peft does not know of: a plain checkpoint has no place for them.
    """
    from peft import PeftModel
    from peft.tuners.tuners_utils import BaseTunerLayer

    wrapped = [name for name, module in model.named_modules() if isinstance(module, PeftModel)]
    adapted = {name: module for name, module in model.named_modules() if isinstance(module, BaseTunerLayer)}
    untied = _untie(model, adapted)
    for layer in adapted.values():
        for parameter in layer.parameters():
            parameter.data = parameter.data.float()
    for name in reversed(wrapped):  # inner ones first
        merged = model.get_submodule(name).merge_and_unload()
        parent, _, child = name.rpartition(".")
        if name:
            setattr(model.get_submodule(parent), child, merged)
        else:
            model = merged
    left = sorted(key for key in model.state_dict() if "lora_" in key)
    if left:
        found = f"{len(left)} weights of LoRA adapters cannot be merged, first: {left[0]}"
        raise ConfigError([Issue("--checkpoint", found, "adapters of peft (a PeftModel in the model)")])
    return Merged(model, len(adapted), tuple(untied))


def _untie(model: torch.nn.Module, adapted: Mapping[str, torch.nn.Module]) -> list[str]:
    """Give adapted layers weights of their own where another layer has the same tensor.

    Merged into a shared tensor, an adapter of the output layer would change the embedding as well.
    """
    import torch

    holders = Counter(id(parameter) for _, parameter in model.named_parameters(remove_duplicate=False))
    untied = []
    for name, layer in adapted.items():
        base = layer.get_base_layer()
        for key, parameter in list(base.named_parameters(recurse=False)):
            if holders[id(parameter)] > 1:
                copy = torch.nn.Parameter(parameter.detach().clone(), requires_grad=parameter.requires_grad)
                setattr(base, key, copy)
                untied.append(f"{name}.{key}")
    if untied:
        for module in model.modules():
            _forget_ties(getattr(module, "config", None))
            if getattr(module, "all_tied_weights_keys", None):
                module.all_tied_weights_keys = {}
    return untied


def _forget_ties(config: Any) -> None:
    """Let a transformers configuration say that embedding and output layer are two."""
    for part in (config, getattr(config, "text_config", None)):
        if getattr(part, "tie_word_embeddings", False) is True:
            part.tie_word_embeddings = False
