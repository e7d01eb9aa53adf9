# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Shared-memory tensors between the simulator process and the environment worker.

The child allocates them once, after the first reset has shown every shape, and both sides reuse them for every chunk.
They are ordinary CPU shared memory even when the simulator is on a GPU: RLinf's ``EnvOutput`` moves every observation
to the CPU anyway, so one device-to-host copy in the child (into page-locked memory) is all that is needed, and the
worker needs no CUDA context of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import torch

from isaaclab_rlinf.env.metrics import METRIC_DTYPES

OBSERVATION = "obs."
FINAL = "final."
METRIC = "metric."

BufferSpecs = dict[str, tuple[tuple[int, ...], torch.dtype]]


def buffer_specs(
    observation: Mapping[str, tuple[tuple[int, ...], torch.dtype]], num_envs: int, chunk: int, action_dim: int
) -> BufferSpecs:
    """Lists every shared tensor.

    Args:
        observation: Shapes and dtypes of the mapped observation.
        num_envs: B.
        chunk: T.
        action_dim: Width of the environment's actions.
    """
    specs: BufferSpecs = {
        "actions": ((num_envs, chunk, action_dim), torch.float32),
        "rewards": ((num_envs, chunk), torch.float32),
        "terminations": ((num_envs, chunk), torch.bool),
        "truncations": ((num_envs, chunk), torch.bool),
        "finished": ((num_envs,), torch.bool),
    }
    for name, shape_dtype in observation.items():
        specs[OBSERVATION + name] = shape_dtype
        specs[FINAL + name] = shape_dtype
    for name, dtype in METRIC_DTYPES.items():
        specs[METRIC + name] = ((num_envs,), dtype)
    return specs


def allocate(specs: BufferSpecs) -> dict[str, torch.Tensor]:
    """Allocates the tensors in shared memory, zeroed.

    Args:
        specs: From :func:`buffer_specs`.
    """
    return {name: torch.zeros(shape, dtype=dtype).share_memory_() for name, (shape, dtype) in specs.items()}


def page_lock(buffers: Mapping[str, torch.Tensor]) -> str | None:
    """Registers the memory with CUDA, for fast copies from a GPU simulator. Without it copies are only slower.

    Returns:
        What to tell the user when CUDA refuses; what has been registered by then stays so.
    """
    runtime = torch.cuda.cudart()
    for tensor in buffers.values():
        code = int(runtime.cudaHostRegister(tensor.data_ptr(), tensor.numel() * tensor.element_size(), 0))
        if code:
            _forget_last_error()
            return (
                f"shared memory cannot be page-locked (cudaHostRegister: error {code}); copies from the simulator's "
                "GPU take longer, and nothing else changes. A container may need `--ulimit memlock=-1`."
            )
    return None


def _forget_last_error() -> None:
    """Takes a failed call's error from the CUDA runtime: the next kernel launch would raise it as its own."""
    with contextlib.suppress(RuntimeError):
        torch.ones(1, device="cuda")
    torch.ones(1, device="cuda")  # An error that is still there is no failed registration's.


def select(buffers: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """Returns the tensors whose name starts with ``prefix``, under the rest of their name."""
    return {name[len(prefix) :]: tensor for name, tensor in buffers.items() if name.startswith(prefix)}
