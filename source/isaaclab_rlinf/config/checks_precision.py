# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Check the precisions of weights, compute and rollout against each other.

Three settings meet: ``actor.model.precision`` is the dtype of the weights that the optimizer updates,
``actor.fsdp_config.mixed_precision.param_dtype`` (when set) the one in which the actor computes, and
``rollout.model.precision`` the rollout's. PPO compares log-probabilities of the last two, so they have to be equal.
"""

from __future__ import annotations

from typing import Any

from isaaclab_rlinf.config.context import Context
from isaaclab_rlinf.config.errors import show

_MIXED = "actor.fsdp_config.mixed_precision"
_AUTOCAST = "actor.fsdp_config.amp_autocast"
_RECOMMENDED = (
    f"recommended where there is an accelerator: actor.model.precision fp32, rollout.model.precision bf16, {_MIXED} "
    "param_dtype bf16 and reduce_dtype fp32"
)
_NAMES = {
    "bf16": ("bf16", "bf16-mixed", "bfloat16"),
    "fp16": ("fp16", "16", "16-mixed", "float16"),
    "fp32": ("fp32", "32", "32-true", "float32"),
}
_OWN = "the model's own"
_OF_NULL = {"tiny_vla": "fp32", "gr00t_n1d7": "fp32", "gr00t": "bf16"}
"""What builders make of a null precision; others keep what their checkpoint or their code says."""


def check_precision(ctx: Context) -> None:
    """Check that rollout and actor compute alike, and that small updates are not lost; nothing when only evaluating.

    Args:
        ctx: The validation in progress.
    """
    if not ctx.training:
        return
    weights = _precision(ctx, "actor.model.precision")
    _check_weights(ctx, weights)
    if ctx.get("algorithm.loss_type", None) != "embodied_sac":  # it has no ratio
        rollout = _precision(ctx, "rollout.model.precision")
        _check_ratio(ctx, weights, rollout)
        _check_transport(ctx, rollout)


def _precision(ctx: Context, path: str) -> str | None:
    """Return one of the three names, or ``_OWN``; None for a value that its own check refuses."""
    value = ctx.get(path, None)
    if value in (None, "null"):
        return _OF_NULL.get(str(ctx.get("actor.model.model_type", None)), _OWN)
    return _canonical(value)


def _canonical(value: Any) -> str | None:
    return next((name for name, aliases in _NAMES.items() if str(value) in aliases), None)


def _check_weights(ctx: Context, weights: str | None) -> None:
    where = "actor.model.precision"
    scaled = ctx.get("actor.fsdp_config.grad_scaler.enabled", False) is True
    if weights == "fp16":
        found = "fp16: Adam's second moment of such weights underflows to zero, and the update is divided by it"
        ctx.issue(where, found, "fp32 or bf16", _RECOMMENDED)
    elif weights == "bf16":
        ctx.notices.append(f"{where}: bf16 weights lose every update of less than 0.2 % of a weight; {_RECOMMENDED}")
    if _compute(ctx, weights)[0] == "fp16" and weights != "fp16" and not scaled:
        found = "fp16, but actor.fsdp_config.grad_scaler.enabled is not true: small gradients become zero"
        ctx.issue(_compute(ctx, weights)[1], found, "bf16, or grad_scaler.enabled: true")


def _autocasts(ctx: Context) -> bool:
    """Return whether RLinf autocasts; checks_effects.py refuses it without an accelerator, where it would not."""
    return ctx.get(f"{_AUTOCAST}.enabled", False) is True and ctx.num_accelerators != 0


def _compute(ctx: Context, weights: str | None) -> tuple[str | None, str]:
    """Return the precision in which the actor computes, and the key that decides it."""
    if _autocasts(ctx):
        return _canonical(ctx.get(f"{_AUTOCAST}.precision", "bf16")), f"{_AUTOCAST}.precision"
    if (param := ctx.get(f"{_MIXED}.param_dtype", None)) is not None:
        return _canonical(param), f"{_MIXED}.param_dtype"
    return weights, "actor.model.precision"


def _check_ratio(ctx: Context, weights: str | None, rollout: str | None) -> None:
    if _autocasts(ctx):
        ctx.notices.append(
            f"{_AUTOCAST}.enabled: the rollout does not autocast, so that PPO's ratio is only nearly 1 before an "
            f"update; {_RECOMMENDED}"
        )
    compute, where = _compute(ctx, weights)
    if compute is None or rollout is None or compute == rollout:
        return
    value, other = show(ctx.get(where, None)), show(ctx.get("rollout.model.precision", None))
    found = (
        f"{value}, so the actor computes in {compute}, but the rollout in {rollout} (rollout.model.precision: "
        f"{other}): PPO's ratio would not be 1 before an update"
    )
    if rollout == _OWN:
        allowed = f"null in {_MIXED}: the rollout keeps the dtypes that the model chooses for its parts"
        ctx.issue(where, found, allowed)
    else:
        ctx.issue(where, found, f"{rollout} in both", f"or rollout.model.precision: {compute}; {_RECOMMENDED}")


def _check_transport(ctx: Context, rollout: str | None) -> None:
    """Weights that travel in 16 bits arrive rounded, which only a rollout in the same 16 bits does not notice."""
    where = "weight_syncer.bucket.bucket_dtype"
    value = ctx.get(where, None)
    sent = _canonical(value) if value is not None and ctx.get("weight_syncer.type", None) == "bucket" else None
    if sent in (None, "fp32", rollout) or rollout is None:
        return
    found = f"{show(value)} rounds the weights on their way to a rollout in {rollout}: it would act with others"
    ctx.issue(where, found, "null, which sends them as they are")
