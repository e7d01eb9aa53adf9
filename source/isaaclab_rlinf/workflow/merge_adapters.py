# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""LoRA adapters -> plain weights, wherever in a model they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isaaclab_rlinf.config.errors import ConfigError, Issue

if TYPE_CHECKING:
    import torch


def merge_adapters(model: torch.nn.Module) -> tuple[torch.nn.Module, bool]:
    """Merge peft's adapters into the weights that they change.

    RLinf wraps most models as a whole, and only the language model of openpi's.

    Args:
        model: Cast to float32 in place when it has adapters.

    Returns:
        The model without adapters, and whether it had any.

    Raises:
        ConfigError: If adapters remain that peft does not know of: a plain checkpoint has no place for them.
    """
    from peft import PeftModel

    wrapped = [name for name, module in model.named_modules() if isinstance(module, PeftModel)]
    if wrapped:
        model = model.float()
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
    return model, bool(wrapped)
