# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Checks of what a policy is: base classes, value head, and the module classes that FSDP wraps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import nn

from isaaclab_rlinf.config.errors import did_you_mean, listing

from .subject import Subject

_CUSTOM_KEYS = ("transformer_layer_cls_to_wrap", "module_classes_to_wrap", "no_split_names")
"""Keys of `wrap_policy` of which any one makes RLinf 0.3.0 leave its defaults aside (fsdp/utils.py)."""


def check_interface(subject: Subject) -> None:
    """Check base classes, the dispatch of forward(), and where the value head is."""
    from rlinf.models.embodiment.base_policy import BasePolicy

    model = base_model(subject.policy)
    if not isinstance(model, BasePolicy):
        subject.fail(
            "interface",
            f"{type(model).__name__} does not derive from BasePolicy",
            "class M(nn.Module, BasePolicy)",
            "from rlinf.models.embodiment.base_policy import BasePolicy, and add it as the last base class",
        )
    if type(model).forward is nn.Module.forward:
        subject.fail(
            "interface",
            "forward() is nn.Module's, which raises NotImplementedError",
            "a call of the policy runs default_forward()",
            "write `forward = BasePolicy.forward` in the class body",
        )
    _check_layout(subject, model)
    if not any(parameter.requires_grad for parameter in subject.policy.parameters()):
        subject.fail("interface", "no parameter requires a gradient", "at least one", "unfreeze what RL is to train")
    if subject.fsdp_config.get("gradient_checkpointing") and not hasattr(model, "gradient_checkpointing_enable"):
        subject.fail(
            "interface",
            "fsdp_config.gradient_checkpointing is true, and there is no gradient_checkpointing_enable()",
            "the method that RLinf calls",
            "define it (PreTrainedModel has it), or set gradient_checkpointing: false",
        )
    _check_value_head(subject, model)


def check_wrap_classes(subject: Subject) -> None:
    """Check that what FSDP is told to wrap is in the model, as RLinf 0.3.0's get_fsdp_wrap_policy resolves it."""
    classes, names, source = wrap_targets(base_model(subject.policy), subject.fsdp_config)
    modules = list(subject.policy.modules())
    present = {type(module).__name__ for module in modules}
    for name in sorted(set(classes) - present):
        subject.fail(
            "wrap_classes",
            f"{source} names class {name!r}, and no module of the model is one",
            f"one of: {listing(sorted(present), 30)}",
            did_you_mean(name, present) or "name the repeated layer's class",
        )
    tags = {module._fsdp_wrap_name for module in modules if hasattr(module, "_fsdp_wrap_name")}
    for name in sorted(set(names) - tags):
        subject.fail(
            "wrap_classes",
            f"{source} names {name!r} in no_split_names, and no module has that _fsdp_wrap_name",
            f"one of: {listing(sorted(tags))}",
            "set module._fsdp_wrap_name in the model's __init__",
        )
    if not classes and not names:
        subject.fail(
            "wrap_classes",
            "nothing is named for FSDP to wrap, which makes RLinf's FSDP2 fail",
            "_no_split_modules on the class, or fsdp_config.wrap_policy",
            'write `_no_split_modules = ["MyLayer"]` in the class body, with the class of the repeated layer',
        )


def base_model(policy: nn.Module) -> Any:
    """Return the policy below a PEFT wrapper, or the policy itself."""
    return policy.get_base_model() if hasattr(policy, "get_base_model") else policy


def wrap_targets(model: Any, fsdp_config: Any) -> tuple[list[str], list[str], str]:
    """Return class names, `_fsdp_wrap_name`s, and where they stand, as RLinf reads them.

    Args:
        model: The policy, without a PEFT wrapper.
        fsdp_config: The ``actor.fsdp_config`` section.
    """
    policy = fsdp_config.get("wrap_policy") or {}
    if any(key in policy for key in _CUSTOM_KEYS):
        classes = [*_names(policy.get(_CUSTOM_KEYS[0])), *_names(policy.get(_CUSTOM_KEYS[1]))]
        return classes, _names(policy.get(_CUSTOM_KEYS[2])), "fsdp_config.wrap_policy"
    names = _names(getattr(model, "_no_split_names", None))
    if hasattr(model, "language_model"):
        classes = _names(getattr(model.language_model, "_no_split_modules", None))
        if hasattr(model, "visual"):
            classes += _names(getattr(model.visual, "_no_split_modules", None))
        return classes, names, "_no_split_modules of language_model and visual"
    return _names(getattr(model, "_no_split_modules", None)), names, "_no_split_modules"


def _names(value: str | Iterable[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _check_layout(subject: Subject, model: Any) -> None:
    """FSDP2 makes an instance one of a new class, which Python allows only when nn.Module is the first base."""
    from torch.distributed.fsdp import FSDPModule

    own = type(model)
    try:
        model.__class__ = type("Sharded", (FSDPModule, own), {})
        model.__class__ = own
    except TypeError as error:
        subject.fail(
            "interface",
            f"FSDP2 cannot shard a {own.__name__}: {error}",
            "class M(nn.Module, BasePolicy), in this order",
            "put BasePolicy, an ABC, last among the base classes",
        )


def _check_value_head(subject: Subject, model: Any) -> None:
    if hasattr(model, "value_head"):
        return
    nested = [name for name, _ in model.named_modules() if name.rpartition(".")[2] == "value_head"]
    if nested:
        subject.fail(
            "interface",
            f"the value head is at {nested[0]!r}",
            "an attribute value_head of the policy itself: RLinf bootstraps time-outs only then",
            "build it there, or make it found: self.value_head = self.inner.value_head in __init__",
            opt_out="nested_value_head",
        )
    elif subject.wants_value_head:
        subject.fail(
            "interface",
            "add_value_head is true in model_cfg, and the policy has no value_head",
            "an attribute value_head",
            'self.value_head = ValueHead(width, activation="relu")  # rlinf.models.embodiment.modules.value_head',
        )
