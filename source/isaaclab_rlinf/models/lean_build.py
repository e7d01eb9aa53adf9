# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Building a network whose weights come from files, in the memory of these weights alone.

Every process of a run builds the model once. A network that is first made with random float32 weights, then loaded and
then cast takes three times the memory of bfloat16 weights, and a minute for three billion random numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import nn


@contextmanager
def parameters_on_meta() -> Iterator[None]:
    """Give parameters that modules register in the block a shape and no memory, until :func:`set_weight`.

    Buffers are computed as always, so that those which no file holds are right. A parameter that two modules share
    stays shared.
    """
    from torch import nn

    register = nn.Module.register_parameter

    def register_without_memory(module: nn.Module, name: str, param: nn.Parameter | None) -> None:
        if param is not None and param.device.type != "meta":
            param = nn.Parameter(param.detach().to("meta"), requires_grad=param.requires_grad)
        register(module, name, param)

    nn.Module.register_parameter = register_without_memory
    try:
        yield
    finally:
        nn.Module.register_parameter = register


def set_weights(
    model: nn.Module, weights: Iterable[tuple[str, torch.Tensor]], dtype: torch.dtype | None = None
) -> None:
    """Give a network its weights, one after another; a parameter without memory gets it.

    Args:
        model: Built under :func:`parameters_on_meta`, or as usual.
        weights: State-dict key and value, of the network's shapes; no value is kept.
        dtype: Of the parameters that get memory; None keeps that of the network. Buffers keep theirs.
    """
    import torch
    from torch import nn

    own = model.state_dict(keep_vars=True)
    places: dict[int, list[tuple[nn.Module, str]]] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            places.setdefault(id(parameter), []).append((module, name))
    done: dict[int, nn.Parameter] = {}
    with torch.no_grad():
        for key, value in weights:
            target = done.get(id(own[key]), own[key])
            if target.device.type != "meta":
                target.copy_(value)
                continue
            memory = torch.empty(value.shape, dtype=dtype or target.dtype).copy_(value)
            done[id(target)] = nn.Parameter(memory, requires_grad=target.requires_grad)
            for module, name in places[id(target)]:
                setattr(module, name, done[id(target)])


def read_weights(directory: Path) -> Iterator[tuple[str, torch.Tensor]]:
    """Read a checkpoint's safetensors, one file or shards.

    Args:
        directory: The checkpoint.

    Yields:
        Key and value; the value lies in the mapped file, and is to be copied before the next is asked for.
    """
    from safetensors import safe_open

    from isaaclab_rlinf.models.weight_files import shard_names

    for name in shard_names(directory):
        with safe_open(directory / name, framework="pt") as file:
            keys = list(file.keys())
        for key in keys:
            # opened anew each time: what was read stays in this process's memory until its mapping is closed
            with safe_open(directory / name, framework="pt") as file:
                value = file.get_tensor(key)
                yield key, value
                del value
