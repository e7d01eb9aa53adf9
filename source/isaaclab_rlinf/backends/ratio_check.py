# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Before any update of a step, actor and rollout hold the same weights, so PPO's probability ratio must be 1.

Where it is not, the gradient estimate is wrong from the first minibatch on, and nothing else in the curves says so.
"""

from __future__ import annotations

from collections.abc import Mapping

INITIAL_RATIO_ERROR = "actor/initial_ratio_error"
"""Metric of the actor: mean ``|ratio - 1|`` over the first minibatch of a step, before its first update."""

TOLERANCE = 1e-2


def ratio_warning(metrics: Mapping[str, float]) -> str | None:
    """Return a warning when the ratio before a step's first update is not 1.

    Args:
        metrics: Metrics of one step as RLinf reports them (``train/`` before the actor's names).

    Returns:
        The warning, or None when the ratio is within ``TOLERANCE`` of 1 or was not measured (algorithms without a
        ratio).
    """
    error = metrics.get(f"train/{INITIAL_RATIO_ERROR}")
    if error is None or error <= TOLERANCE:
        return None
    return (
        f"[WARN] PPO's ratio is off before any update: mean |ratio - 1| = {error:.3g} over the first minibatch, "
        f"expected at most {TOLERANCE:g}. Training goes on, on a wrong gradient. Likely causes:\n"
        "       - default_forward() does not repeat predict_action_batch(): dropout or batch norm in training mode, "
        "other image augmentation, noise drawn anew instead of taken from forward_inputs\n"
        "       - actor and rollout compute in different precisions: rollout.model.precision against "
        "actor.fsdp_config.mixed_precision.param_dtype, where that is null actor.model.precision; or "
        "actor.fsdp_config.amp_autocast, in which the rollout has no part\n"
        "       - records rounded by FSDP: with param_dtype bf16 or fp16 every float in forward_inputs is cast, but "
        "for prev_logprobs, sample_before, sample_after and what the model names in its attribute exact_inputs\n"
        "       - weights rounded on their way (weight_syncer.bucket.bucket_dtype) or not sent: frozen parameters "
        "loaded from another model_path, non-persistent buffers\n"
        "       - log-probabilities computed in 16 bits, or of an action that was changed after sampling (clipping, "
        "added noise)\n"
        "       `isaaclab_rlinf.testing.check_policy` finds the first kind in a model's own tests; a training with "
        "float32 in all of them tells whether it is precision."
    )
