# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""From a training checkpoint to a self-contained directory in Hugging Face format."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.workflow.export_files import copy_base_files, correct_config, is_value_head, write_weights
from isaaclab_rlinf.workflow.merge_adapters import merge_adapters

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.checkpoints import ResolvedCheckpoint
    from isaaclab_rlinf.workers.weights import LoadReport

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
RESOLVED = Path("params", "resolved.yaml")
SUMMARY_FILENAME = "export.json"


@dataclass(frozen=True)
class ExportSettings:
    """What to write.

    Attributes:
        dtype: ``fp32``, ``bf16`` or ``fp16``; None keeps the dtype that training used.
        drop_value_head: Leave the critic out; a policy that only acts does not need it.
        model_path: Base checkpoint, when it is no longer where training found it.
        max_shard_size: Largest weight file.
        verify: Build the model from the exported directory and compare every weight.
    """

    dtype: str | None = None
    drop_value_head: bool = False
    model_path: Path | None = None
    max_shard_size: str = "5GB"
    verify: bool = True


@dataclass(frozen=True)
class ExportReport:
    """What was written.

    Attributes:
        out: The directory.
        loaded: How many weights came from which file.
        tensors: Number of tensors exported.
        dtype: Of the weights, as ``config.json`` names it.
        value_head: ``kept``, ``dropped`` or ``none``.
        lora_merged: Whether adapters were merged into the weights.
        copied: Files taken from the base checkpoint.
        verified: Number of weights that a new build from the directory gave back; 0 when not verified.
    """

    out: Path
    loaded: LoadReport
    tensors: int
    dtype: str
    value_head: str
    lora_merged: bool
    copied: tuple[str, ...]
    verified: int


def find_run_config(weights: Path) -> Path:
    """Return ``params/resolved.yaml`` of the run that a weights file lies in.

    Raises:
        ConfigError: If no directory above it has one.
    """
    for parent in weights.absolute().parents:
        if (parent / RESOLVED).is_file():
            return parent / RESOLVED
    found = f"no directory above {str(weights)!r} has {RESOLVED}, which says what model it belongs to"
    raise ConfigError([Issue("--checkpoint", found, "weights inside their run directory", f"--config DIR/{RESOLVED}")])


def export_checkpoint(
    checkpoint: ResolvedCheckpoint, config: Path, out: Path, settings: ExportSettings
) -> ExportReport:
    """Write a directory from which ``--model_path`` and ``from_pretrained`` load the trained model.

    Args:
        checkpoint: The weights.
        config: ``params/resolved.yaml`` of the run.
        out: Directory to create.
        settings: What to write.

    Raises:
        ConfigError: If the model cannot be built, the weights do not fit it, or the export does not read back.
        FileExistsError: If ``out`` exists and is not empty.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out} exists and is not empty; a checkpoint is never overwritten. Choose another --out")
    model_cfg, extensions = _read_config(config, settings.model_path)
    model, loaded = _load(model_cfg, extensions, checkpoint, config)
    model, dtype, lora_merged = _convert(model, settings.dtype)
    partial = out.parent / f".{out.name}.{os.getpid()}.partial"
    partial.mkdir(parents=True)
    try:
        base = Path(model_cfg["model_path"])
        tensors = write_weights(
            model, partial, drop_value_head=settings.drop_value_head, max_shard_size=settings.max_shard_size
        )
        copied = copy_base_files(base, partial)
        correct_config(base, partial, dtype)
        verified = _verify(model, model_cfg, extensions, partial, dtype, settings) if settings.verify else 0
        report = ExportReport(
            out, loaded, tensors, dtype, _value_head(model, settings), lora_merged, tuple(copied), verified
        )
        _write_summary(partial, checkpoint, base, report)
        os.replace(partial, out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return report


def _read_config(config: Path, model_path: Path | None) -> tuple[dict[str, Any], list[str]]:
    from omegaconf import OmegaConf

    where = "--config"
    try:
        plain = OmegaConf.to_container(OmegaConf.load(config), resolve=True)
        model_cfg = dict(plain["actor"]["model"])
    except Exception as error:
        found = f"{config} has no readable actor.model: {type(error).__name__}: {error}"
        raise ConfigError([Issue(where, found, f"{RESOLVED} of a training run")]) from error
    base = model_path or Path(str(model_cfg.get("model_path") or ""))
    if not base.is_dir() or base == Path():
        found = f"the base checkpoint {str(base)!r} (actor.model.model_path of {config}) is not a directory"
        raise ConfigError(
            [Issue("--model_path", found, "the directory that training started from", "--model_path DIR")]
        )
    model_cfg |= {"model_path": str(base.absolute()), "load_to_device": False}
    return model_cfg, [str(name) for name in plain.get("extensions") or ()]


def _load(
    model_cfg: Mapping[str, Any], extensions: list[str], checkpoint: ResolvedCheckpoint, config: Path
) -> tuple[torch.nn.Module, LoadReport]:
    from isaaclab_rlinf.models.build import build_registered
    from isaaclab_rlinf.workers.weights import load_full_weights

    kind = model_cfg.get("model_type")
    try:
        model = build_registered(model_cfg, extensions)
    except Exception as error:
        found = f"{kind!r} of {config} cannot be built: {type(error).__name__}: {error}"
        raise ConfigError([Issue("--config", found, "what training used", "install what the model needs")]) from error
    try:
        return model, load_full_weights(model, str(checkpoint.weights))
    except ValueError as error:
        raise ConfigError(
            [Issue("--checkpoint", str(error), "weights of this run", "--config DIR/params/resolved.yaml")]
        ) from error


def _convert(model: torch.nn.Module, dtype: str | None) -> tuple[torch.nn.Module, str, bool]:
    """Merge adapters, in float32 since their products are small, and cast."""
    import torch

    target = getattr(torch, DTYPES[dtype]) if dtype else _dtype(model)
    model, merged = merge_adapters(model)
    if dtype or merged:
        model = model.to(target)
    return model, str(target).removeprefix("torch."), merged


def _dtype(model: torch.nn.Module) -> torch.dtype:
    """Return the dtype that most weights have."""
    counts: dict[torch.dtype, int] = {}
    for parameter in model.parameters():
        if parameter.is_floating_point():
            counts[parameter.dtype] = counts.get(parameter.dtype, 0) + parameter.numel()
    return max(counts, key=counts.__getitem__)


def _verify(
    model: torch.nn.Module,
    model_cfg: Mapping[str, Any],
    extensions: list[str],
    out: Path,
    dtype: str,
    settings: ExportSettings,
) -> int:
    """Build from the exported directory and compare; return the number of equal weights."""
    import torch

    from isaaclab_rlinf.models.build import build_registered

    precision = next(name for name, value in DTYPES.items() if value == dtype)
    changes = {"model_path": str(out), "is_lora": False, "lora_path": None, "precision": precision}
    again = build_registered({**model_cfg, **changes}, extensions).state_dict()
    expected = model.state_dict()
    if settings.drop_value_head:
        again = {key: value for key, value in again.items() if not is_value_head(key)}
        expected = {key: value for key, value in expected.items() if not is_value_head(key)}
    wrong = sorted(again.keys() ^ expected.keys())
    wrong += [
        key for key in again.keys() & expected.keys() if not torch.equal(again[key].float(), expected[key].float())
    ]
    if wrong:
        found = (
            f"{len(wrong)} of {len(expected)} weights do not come back from the exported directory, first: {wrong[0]}"
        )
        fix = "let the builder load every weight from model_path; --no_verify writes the directory all the same"
        raise ConfigError(
            [Issue("--out", found, f"model_type {model_cfg['model_type']!r} reads what it is given", fix)]
        )
    return len(expected)


def _value_head(model: torch.nn.Module, settings: ExportSettings) -> str:
    if not any(is_value_head(key) for key in model.state_dict()):
        return "none"
    return "dropped" if settings.drop_value_head else "kept"


def _write_summary(out: Path, checkpoint: ResolvedCheckpoint, base: Path, report: ExportReport) -> None:
    """Record where the weights came from, without paths of this machine."""
    summary = {
        "checkpoint": checkpoint.step_dir.name,
        "step": checkpoint.step,
        "base": base.name,
        "dtype": report.dtype,
        "value_head": report.value_head,
        "lora_merged": report.lora_merged,
    }
    (out / SUMMARY_FILENAME).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
