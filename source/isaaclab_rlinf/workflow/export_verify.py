# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Build a model from an exported directory, and compare it with the trained one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.workflow.export_files import is_value_head
from isaaclab_rlinf.workflow.export_outputs import Outputs, compare_outputs

if TYPE_CHECKING:
    import torch

_PRECISIONS = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


@dataclass(frozen=True)
class Trained:
    """The trained model, as far as the exported one is held against it.

    Attributes:
        outputs: What it did, or why it could not act on an example.
        dtypes: Dtypes that the two models compute with.
        changed: Whether weights were cast or merged on the way.
        keeps_values: Whether the critic was exported.
    """

    outputs: Outputs | str
    dtypes: set[str]
    changed: bool
    keeps_values: bool


@dataclass(frozen=True)
class Verification:
    """What was compared.

    Attributes:
        verified: Number of weights that came back.
        outputs: Largest differences of outputs, by name.
        not_compared: Why outputs were not compared, empty when they were.
    """

    verified: int
    outputs: Mapping[str, float] = field(default_factory=dict)
    not_compared: str = ""


def verify(
    model: torch.nn.Module,
    trained: Trained,
    model_cfg: Mapping[str, Any],
    extensions: list[str],
    out: Path,
    dtype: str,
) -> Verification:
    """Build from the exported directory as training and play do, and compare weights and outputs.

    Args:
        model: As it was written: merged and cast.
        trained: What the model did before.
        model_cfg: The ``actor.model`` section of the run.
        extensions: The run's extensions.
        out: The exported directory.
        dtype: Of the exported weights, as ``config.json`` names it.

    Raises:
        ConfigError: If the new model cannot be built, lacks weights or acts differently.
    """
    from isaaclab_rlinf.models.build import build_registered

    changes = {"model_path": str(out), "is_lora": False, "lora_path": None, "precision": _PRECISIONS[dtype]}
    try:
        again = build_registered({**model_cfg, **changes}, extensions)
    except Exception as error:
        found = f"the exported directory cannot be built from: {type(error).__name__}: {error}"
        raise _refused(found, model_cfg) from error
    verified = _compare_weights(again, model, model_cfg, trained)
    if isinstance(trained.outputs, str):
        return Verification(verified, not_compared=trained.outputs)
    try:
        measured, wrong = compare_outputs(
            again, trained.outputs, dtypes=trained.dtypes, changed=trained.changed, values=trained.keeps_values
        )
    except Exception as error:
        found = f"the exported model does not act where the trained one does: {type(error).__name__}: {error}"
        raise _refused(found, model_cfg) from error
    if wrong:
        raise _refused(f"the exported model does not act as the trained one: {'; '.join(wrong)}", model_cfg)
    return Verification(verified, measured)


def _compare_weights(
    again: torch.nn.Module, model: torch.nn.Module, model_cfg: Mapping[str, Any], trained: Trained
) -> int:
    """Compare every weight and buffer; return their number. A buffer may have the dtype that the builder gives it."""
    import torch

    ours, expected = again.state_dict(), model.state_dict()
    if not trained.keeps_values:
        ours = {key: value for key, value in ours.items() if not is_value_head(key)}
        expected = {key: value for key, value in expected.items() if not is_value_head(key)}
    wrong = sorted(ours.keys() ^ expected.keys())
    wrong += [
        key for key in ours.keys() & expected.keys() if not torch.equal(ours[key], expected[key].to(ours[key].dtype))
    ]
    if wrong:
        found = f"{len(wrong)} of {len(expected)} weights do not come back from the exported directory"
        raise _refused(f"{found}, first: {wrong[0]}", model_cfg)
    return len(expected)


def _refused(found: str, model_cfg: Mapping[str, Any]) -> ConfigError:
    fix = "let the builder load every weight from model_path; --no_verify writes the directory all the same"
    return ConfigError([Issue("--out", found, f"model_type {model_cfg['model_type']!r} reads what it is given", fix)])
