# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Files of an exported checkpoint: weights, ``config.json``, and everything else the base checkpoint holds."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".gguf", ".onnx")
_NOT_COPIED = ("__pycache__", "events.out.tfevents")


def write_weights(model: torch.nn.Module, out: Path, *, drop_value_head: bool, max_shard_size: str) -> int:
    """Write a model's weights, and its configuration where it knows how to.

    A model with ``save_pretrained`` writes itself, so that key names and tied weights are those that its
    ``from_pretrained`` expects. A plain module's state dict is written under its own names; tied weights are written
    under each of them, so that a strict load finds every key.

    Args:
        model: On the CPU, in the dtype to write.
        out: Existing, empty directory.
        drop_value_head: Leave out weights whose name has ``value_head`` in it.
        max_shard_size: Largest file, e.g. ``"5GB"``.

    Returns:
        Number of tensors handed over.
    """
    state = {key: value.detach() for key, value in model.state_dict().items()}
    if drop_value_head:
        state = {key: value for key, value in state.items() if not is_value_head(key)}
    count = len(state)  # save_pretrained may empty what it is given
    if hasattr(model, "save_pretrained"):
        model.save_pretrained(out, state_dict=state, max_shard_size=max_shard_size)
    else:
        _write_plain(state, out, max_shard_size)
    return count


def is_value_head(key: str) -> bool:
    """Whether a weight belongs to the critic; RLinf tells by the same part of the name."""
    return "value_head" in key


def copy_base_files(base: Path, out: Path) -> list[str]:
    """Copy what a checkpoint directory holds besides weights: tokenizer, processor, chat template, statistics, code.

    A file that is in ``out`` already stays as it is. Links are followed (the Hub's cache is made of them); hidden
    files, bytecode and TensorBoard events are left out.

    Args:
        base: The checkpoint that training started from.
        out: Directory of the export.

    Returns:
        Names of the copied files, relative and sorted.
    """
    copied = []
    for folder, folders, files in os.walk(base, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith((".", *_NOT_COPIED))]
        for name in files:
            source = Path(folder, name)
            target = out / source.relative_to(base)
            if name.startswith((".", *_NOT_COPIED)) or is_weight_file(name) or target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            copied.append(str(source.relative_to(base)))
    return sorted(copied)


def is_weight_file(name: str) -> bool:
    """Whether a file of a checkpoint directory holds weights, or says which file holds which."""
    return name.endswith((*WEIGHT_SUFFIXES, ".index.json"))


def correct_config(base: Path, out: Path, dtype: str) -> None:
    """Let ``config.json`` name the dtype of the weights, and the architecture that the base names.

    The RL class that wrote the weights is a detail of training: the base's class reads them.

    Args:
        base: The checkpoint that training started from.
        out: Directory of the export; nothing is done without a ``config.json``.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
    """
    file, former = out / "config.json", base / "config.json"
    if not file.is_file():
        return
    config = json.loads(file.read_text(encoding="utf-8"))
    of_base: dict[str, Any] = json.loads(former.read_text(encoding="utf-8")) if former.is_file() else {}
    if "architectures" in of_base:
        config["architectures"] = of_base["architectures"]
    config["dtype"] = dtype
    if "torch_dtype" in of_base or "torch_dtype" in config:  # the name before transformers 5, still read by older ones
        config["torch_dtype"] = dtype
    file.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _write_plain(state: dict[str, torch.Tensor], out: Path, max_shard_size: str) -> None:
    from huggingface_hub import split_torch_state_dict_into_shards
    from safetensors.torch import save_file

    seen: set[int] = set()
    for key, value in state.items():
        tied = value.untyped_storage().data_ptr() in seen
        seen.add(value.untyped_storage().data_ptr())
        state[key] = value.clone().contiguous() if tied else value.contiguous()
    plan = split_torch_state_dict_into_shards(state, max_shard_size=max_shard_size)
    for name, keys in plan.filename_to_tensors.items():
        save_file({key: state[key] for key in keys}, out / name, metadata={"format": "pt"})
    if plan.is_sharded:
        index = {"metadata": plan.metadata, "weight_map": plan.tensor_to_filename}
        (out / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
