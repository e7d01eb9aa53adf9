# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A torch platform for machines on which RLinf finds no accelerator.

rlinf 0.3.0 sets ``Worker.torch_platform`` and ``Worker.torch_device_type`` to None for ``NO_ACCEL`` and then calls
the platform in many places (FSDP manager, checkpoint RNG state, memory clean-up). The two look-ups that yield None
are wrapped to answer with :class:`CpuPlatform` and ``"cpu"`` instead. Accelerator types that RLinf knows are passed
through untouched, so nothing here is active on a GPU machine. ``has_accelerator`` stays false: RLinf then keeps to
its gloo code path.
"""

from __future__ import annotations

import contextlib
from typing import Any


class CpuStream:
    """A stream of work that is always finished; ``Tensor.record_stream`` refuses it, as RLinf expects and handles."""

    def synchronize(self) -> None:
        """Return at once."""


class CpuPlatform:
    """The part of the ``torch.cuda`` module interface that RLinf uses, for the CPU.

    Memory figures are zero and synchronisation is a no-op: there is no device to wait for.
    """

    def is_available(self) -> bool:
        """Return True: the CPU can always be used."""
        return True

    def is_initialized(self) -> bool:
        """Return True: weight syncing refuses to start otherwise; streams and events also need an accelerator."""
        return True

    def current_device(self) -> str:
        """Return the device that tensors are to be placed on."""
        return "cpu"

    def device_count(self) -> int:
        """Return the number of CPU devices as torch sees them, always 1."""
        return 1

    def set_device(self, device: Any) -> None:
        """Accept any device index; there is only one CPU device."""

    def synchronize(self, device: Any = None) -> None:
        """Return at once; CPU work is synchronous."""

    def empty_cache(self) -> None:
        """Do nothing; the CPU allocator has no cache to return."""

    def ipc_collect(self) -> None:
        """Do nothing; CPU tensors use no CUDA IPC handles."""

    def memory_allocated(self, device: Any = None) -> int:
        """Return 0 bytes of device memory."""
        return 0

    def memory_reserved(self, device: Any = None) -> int:
        """Return 0 bytes of device memory."""
        return 0

    def get_rng_state(self, device: Any = None) -> Any:
        """Return the state of torch's CPU generator (uint8 tensor)."""
        import torch

        return torch.get_rng_state()

    def set_rng_state(self, state: Any, device: Any = None) -> None:
        """Restore torch's CPU generator from :meth:`get_rng_state`'s answer."""
        import torch

        torch.set_rng_state(state)

    def manual_seed_all(self, seed: int) -> None:
        """Seed torch's CPU generator."""
        import torch

        torch.manual_seed(seed)

    def current_stream(self, device: Any = None) -> Any:
        """Return a stream on which everything is already done."""
        return CpuStream()

    def stream(self, stream: Any) -> contextlib.AbstractContextManager[None]:
        """Return an empty context; the CPU has no streams."""
        return contextlib.nullcontext()


def install_cpu_platform() -> None:
    """Wrap RLinf's platform look-ups for the no-accelerator case. Safe to call repeatedly."""
    from rlinf.scheduler.hardware.accelerators.accelerator import AcceleratorType, AcceleratorUtil
    from rlinf.scheduler.worker.worker import Worker

    if getattr(AcceleratorUtil.get_torch_platform, "handles_no_accel", False):
        return
    platform = CpuPlatform()
    AcceleratorUtil.get_torch_platform = staticmethod(
        _answer_for_no_accel(AcceleratorUtil.get_torch_platform, AcceleratorType.NO_ACCEL, platform)
    )
    AcceleratorUtil.get_device_type = staticmethod(
        _answer_for_no_accel(AcceleratorUtil.get_device_type, AcceleratorType.NO_ACCEL, "cpu")
    )
    # Worker computed its class attributes when it was imported, before the wrappers were in place.
    if Worker.accelerator_type == AcceleratorType.NO_ACCEL:
        Worker.torch_platform = platform
        Worker.torch_device_type = "cpu"


def _answer_for_no_accel(look_up, no_accel, answer):
    """Return ``look_up`` with ``answer`` in place of its answer for the accelerator type ``no_accel``."""

    def wrapped(accelerator_type):
        return answer if accelerator_type == no_accel else look_up(accelerator_type)

    wrapped.handles_no_accel = True
    return wrapped
