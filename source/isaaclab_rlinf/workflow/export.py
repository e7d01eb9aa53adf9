# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""From a training checkpoint to a self-contained directory in Hugging Face format."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.config.checks_weights import check_trained_weights
from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.workflow.export_files import copy_base_files, correct_config, is_value_head, write_weights
from isaaclab_rlinf.workflow.export_outputs import record_outputs
from isaaclab_rlinf.workflow.export_verify import Trained, verify
from isaaclab_rlinf.workflow.merge_adapters import Merged, merge_adapters

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
        verify: Build the model from the exported directory and compare its weights, and its outputs with the trained
            model's.
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
        untied: Weights that were shared with another layer before adapters were merged into them.
        copied: Files taken from the base checkpoint.
        verified: Number of weights that a new build from the directory gave back; 0 when not verified.
        outputs: Largest differences between the outputs of that build and the trained model's, by name.
        not_compared: Why outputs were not compared, empty when they were or nothing was verified.
    """

    out: Path
    loaded: LoadReport
    tensors: int
    dtype: str
    value_head: str
    lora_merged: bool
    untied: tuple[str, ...]
    copied: tuple[str, ...]
    verified: int = 0
    outputs: Mapping[str, float] = field(default_factory=dict)
    not_compared: str = ""


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
    model_cfg, extensions, env = _read_config(config, settings.model_path)
    _check_base(model_cfg)
    check_trained_weights(checkpoint, model_cfg, "--checkpoint")
    model, loaded = _load(model_cfg, extensions, checkpoint, config)
    trained_dtype = _name(_dtype(model))
    outputs = record_outputs(model, model_cfg, env) if settings.verify else "not asked for"
    merged, dtype = _convert(model, settings.dtype)
    model = merged.model
    partial = out.parent / f".{out.name}.{os.getpid()}.partial"
    partial.mkdir(parents=True)
    try:
        base = Path(model_cfg["model_path"])
        tensors = write_weights(
            model, partial, drop_value_head=settings.drop_value_head, max_shard_size=settings.max_shard_size
        )
        copied = copy_base_files(base, partial)
        correct_config(base, partial, dtype)
        report = ExportReport(
            out=out,
            loaded=loaded,
            tensors=tensors,
            dtype=dtype,
            value_head=_value_head(model, settings),
            lora_merged=merged.layers > 0,
            untied=merged.untied,
            copied=tuple(copied),
        )
        if settings.verify:
            changed = bool(merged.layers) or dtype != trained_dtype
            trained = Trained(outputs, {dtype, trained_dtype}, changed, keeps_values=report.value_head == "kept")
            checked = verify(model, trained, model_cfg, extensions, partial, dtype)
            report = replace(report, **vars(checked))
        _write_summary(partial, checkpoint, base, report)
        os.replace(partial, out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return report


def _read_config(config: Path, model_path: Path | None) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
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
    env = (plain.get("env") or {}).get("train") or {}
    return model_cfg, [str(name) for name in plain.get("extensions") or ()], env


def _check_base(model_cfg: Mapping[str, Any]) -> None:
    """Check the files of the base checkpoint, which are read or copied, before anything is built."""
    from isaaclab_rlinf.models.base import check_base_files

    try:
        check_base_files(model_cfg)
    except ValueError as error:
        raise ConfigError([Issue("--model_path", str(error), "the directory that training started from")]) from None


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


def _convert(model: torch.nn.Module, dtype: str | None) -> tuple[Merged, str]:
    """Merge adapters and cast weights. Buffers (limits of a normalisation, counters) keep their dtype and value."""
    import torch

    own = {_plain_name(name): parameter.dtype for name, parameter in model.named_parameters()}
    target = getattr(torch, DTYPES[dtype]) if dtype else _dtype(model)
    merged = merge_adapters(model)
    for name, parameter in merged.model.named_parameters():
        if parameter.is_floating_point():
            parameter.data = parameter.data.to(target if dtype else own.get(name, target))
    return merged, _name(target)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _plain_name(name: str) -> str:
    """Return the name that a weight has after peft's adapters are merged, wherever in the model they are."""
    return name.replace("base_model.model.", "").replace(".base_layer.", ".")


def _dtype(model: torch.nn.Module) -> torch.dtype:
    """Return the dtype that most weights have."""
    counts: dict[torch.dtype, int] = {}
    for parameter in model.parameters():
        if parameter.is_floating_point():
            counts[parameter.dtype] = counts.get(parameter.dtype, 0) + parameter.numel()
    return max(counts, key=counts.__getitem__)


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
        "untied": list(report.untied),
        "outputs": {name: float(f"{value:.3g}") for name, value in report.outputs.items()},
    }
    (out / SUMMARY_FILENAME).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
