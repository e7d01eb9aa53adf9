# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``refusals``: settings that cannot work on a GPU machine are refused, all in one report, before anything starts."""

from __future__ import annotations

from gpu_smoke import policies
from gpu_smoke.context import Context
from gpu_smoke.outcome import require

MISTAKES = ("env.train.init_params.device", "env.train.enable_offload")
"""Keys that the report has to name."""
MISMATCH = ("actor.model.precision=bf16", "rollout.model.precision=bf16")
"""Weights and rollout in bf16 with the YAML's compute in fp32: the trainer would not repeat the rollout."""


def run(context: Context) -> None:
    """Make the mistakes, and look for each in what is said."""
    found = told("+env.train.init_params.device=cuda:1", "+env.train.enable_offload=true")
    missed = [key for key in MISTAKES if not any(key in text for text in found)]
    require(not missed, f"not refused: {', '.join(missed)}")
    told_of_precision = [text for text in told(*MISMATCH) if "param_dtype" in text or "mixed_precision" in text]
    require(told_of_precision, "bf16 weights and rollout with compute in fp32 pass without a word")
    context.measured["named"] = f"{len(MISTAKES)} keys and the precision"


def told(*overrides: str) -> list[str]:
    """Return the issues, or where there are none the notices, of the bundled YAML with overrides; without --device."""
    from isaaclab_rlinf.backends.cli_args import parse_train_args
    from isaaclab_rlinf.backends.prepare import prepare_train
    from isaaclab_rlinf.config.errors import ConfigError

    args = parse_train_args(["--config_name", policies.TINY_VLA_YAML, *overrides])
    with policies.every_gpu_visible():
        try:
            found = list(prepare_train(args).notices)
        except ConfigError as error:
            found = [str(issue) for issue in error.issues]
    print("\n".join(found))
    return found
