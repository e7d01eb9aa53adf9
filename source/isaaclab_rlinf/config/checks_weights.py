# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the weights of a training run against the base model's, by names and shapes, before either is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.models.torch_file import check_distributed, read_state_dict
from isaaclab_rlinf.models.weight_files import Shapes, differences, read_shapes

if TYPE_CHECKING:
    from isaaclab_rlinf.checkpoints import ResolvedCheckpoint

_COMPARED = {"tiny_vla": ("value_head.",)}
"""Model types whose state dict has the names of their files -> beginnings of names that only one of the two may have.
GR00T N1.7 on lerobot's network is one more, see :func:`_optional`."""
_WRAPPED, _BASE_LAYER = "base_model.model.", ".base_layer."
"""What peft puts around names."""


def check_trained_weights(
    checkpoint: ResolvedCheckpoint, model: Mapping[str, Any], where: str, *, for_resume: bool = False
) -> None:
    """Refuse weights that are damaged, or that are not those of the base model.

    Args:
        checkpoint: Resolved.
        model: ``actor.model`` or ``rollout.model``, with an absolute ``model_path``.
        where: Flag or key that names the checkpoint.
        for_resume: Whether training goes on from it, so that the state beside the weights is read too.

    Raises:
        ConfigError: If they cannot be used.
    """
    try:
        saved = read_state_dict(checkpoint.weights)
        if for_resume:
            check_distributed(checkpoint.step_dir / "actor" / "dcp_checkpoint")
    except ValueError as error:
        allowed = "a complete checkpoint of a training run"
        raise ConfigError([Issue(where, str(error), allowed, "use an earlier checkpoint")]) from None
    lora = {key for key in saved if "lora_" in key}
    _check_adapters(checkpoint, saved, lora, model, where)
    optional = _optional(model)
    if optional is None:
        return
    try:
        base = read_shapes(Path(str(model["model_path"])).expanduser())
    except ValueError:
        return  # the base's own check tells
    plain = {_plain_name(key): shape for key, shape in saved.items() if key not in lora}
    if problems := differences(plain, base, optional=optional):
        found = f"{checkpoint.weights} does not fit the base model {model['model_path']}: {problems}"
        fix = "give the --model_path that it was trained from (params/resolved.yaml of its run names it)"
        raise ConfigError([Issue(where, found, "weights trained from this base model", fix)])


def _check_adapters(
    checkpoint: ResolvedCheckpoint, saved: Shapes, lora: set[str], model: Mapping[str, Any], where: str
) -> None:
    """LoRA must be on if and only if the weights were trained with it, with the same rank."""
    asked = bool(model.get("is_lora", False))
    ranks = {saved[key][0] for key in lora if "lora_A." in key and saved[key]}
    rank = None if model.get("lora_path", None) else model.get("lora_rank", None)
    if bool(lora) != asked:
        found = f"{checkpoint.weights} holds {f'{len(lora)} weights of LoRA adapters' if lora else 'no LoRA adapters'}"
        fix = f"set actor.model.is_lora: {str(bool(lora)).lower()}" + (f" and lora_rank: {max(ranks)}" if ranks else "")
        raise ConfigError([Issue(where, f"{found}, but is_lora is {str(asked).lower()}", "weights of this model", fix)])
    if asked and rank is not None and ranks and int(rank) not in ranks:
        found = f"{checkpoint.weights} holds LoRA adapters of rank {max(ranks)}, but lora_rank is {rank}"
        raise ConfigError([Issue(where, found, "weights of this model", f"set actor.model.lora_rank: {max(ranks)}")])


def _plain_name(key: str) -> str:
    """Return the name that a weight has without peft."""
    return key.removeprefix(_WRAPPED).replace(_BASE_LAYER, ".")


def _optional(model: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return beginnings of names that need not agree; None for models whose names differ between file and memory."""
    kind = str(model.get("model_type", ""))
    if kind == "gr00t_n1d7":
        from isaaclab_rlinf.models.gr00t_n1d7.implementation import choose
        from isaaclab_rlinf.models.gr00t_n1d7.weights import UNUSED_KEYS, VALUE_HEADS

        try:
            by_lerobot = choose(str(model.get("implementation", None) or "auto")) == "lerobot"
        except ValueError:
            by_lerobot = False
        return (*VALUE_HEADS, *UNUSED_KEYS) if by_lerobot else None
    return _COMPARED.get(kind)
