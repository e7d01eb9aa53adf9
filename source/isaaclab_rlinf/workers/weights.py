# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Loading a checkpoint over base weights, with a report of what was loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isaaclab_rlinf.models.torch_file import read_state_dict
from isaaclab_rlinf.models.torch_tensors import read_tensors
from isaaclab_rlinf.models.weight_files import differences

if TYPE_CHECKING:
    import torch


_PART_BYTES = 2**26


@dataclass(frozen=True)
class LoadReport:
    """What a checkpoint gave to a model."""

    file: str
    matched: int
    """Number of state-dict keys taken from the file."""
    total: int
    """Number of keys the model has."""


def load_full_weights(model: torch.nn.Module, file: str) -> LoadReport:
    """Load ``full_weights.pt`` into a model, all keys or none.

    Args:
        model: The model, built from its base checkpoint.
        file: Path of a plain state dict as RLinf's actor saves it.

    Returns:
        The number of matched keys and where they came from.

    Raises:
        ValueError: If the file holds no state dict, or a key is missing, unexpected, or has another shape; the message
            counts and names them, and the model is unchanged. If numbers are damaged, which shows only while they are
            read: the model is then of no use.
    """
    shapes = read_state_dict(Path(file))
    own = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    if problems := differences(shapes, own):
        matched = sum(shapes.get(key) == shape for key, shape in own.items())
        raise ValueError(
            f"checkpoint {file} does not fit the model: {matched} of {len(own)} keys match; {problems}. "
            "Was it trained from another --model_path or model_type?"
        )
    for part in _parts(Path(file)):
        model.load_state_dict(part, strict=False)  # all keys together are the model's
        part.clear()  # before the next is read
    return LoadReport(file=file, matched=len(own), total=len(own))


def _parts(file: Path) -> Iterator[dict[str, torch.Tensor]]:
    """Read a state dict in parts of some size: a part is in memory beside the model, never the whole."""
    part: dict[str, torch.Tensor] = {}
    size = 0
    for key, value in read_tensors(file):
        part[key], size = value, size + value.nbytes
        if size >= _PART_BYTES:
            yield part
            part, size = {}, 0
    yield part


def build_and_load(cfg: Any, build: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """Build an actor's model and, when ``runner.ckpt_path`` is set, load that checkpoint over the base weights.

    Args:
        cfg: The worker's config.
        build: RLinf's way to build it.

    Raises:
        ValueError: As :func:`load_full_weights`.
    """
    with without_checkpoint(cfg) as checkpoint:
        model = build()
    if checkpoint:
        load_full_weights(model, checkpoint)
    return model


@contextmanager
def without_checkpoint(cfg: Any) -> Iterator[str | None]:
    """Hide ``runner.ckpt_path`` from RLinf, whose own loading ends in torch's text when something does not fit.

    Args:
        cfg: The worker's config; as before when the context ends.

    Yields:
        The path, None when there is none.
    """
    from omegaconf import open_dict

    checkpoint = cfg.runner.get("ckpt_path", None)
    with open_dict(cfg):
        cfg.runner.ckpt_path = None
    try:
        yield checkpoint or None
    finally:
        with open_dict(cfg):
            cfg.runner.ckpt_path = checkpoint
