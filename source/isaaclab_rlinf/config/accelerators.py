# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""How many GPUs this machine has, by NVIDIA's management library (NVML), and which of them an environment allows.

RLinf counts by NVML as well, so both speak of the same GPUs. The library is asked directly: it belongs to the driver,
its Python packages need not be installed, and neither CUDA nor torch is started.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

VISIBLE = "CUDA_VISIBLE_DEVICES"
_LIBRARY = "libnvidia-ml.so.1"
_NO_ERROR = 0
_UUID_BYTES = 96


def count_accelerators() -> int | None:
    """Return how many NVIDIA GPUs this machine has, None when the run joins a cluster that is already there.

    NVML ignores ``CUDA_VISIBLE_DEVICES``, and lists what a container was given rather than what its host has.
    """
    if joins_cluster():
        return None
    return _with_nvml(_count) or 0


def joins_cluster() -> bool:
    """Return whether ``RAY_ADDRESS`` names a cluster that a run joins."""
    return os.environ.get("RAY_ADDRESS", "local") not in ("", "local")


def visible_value() -> str | None:
    """Return ``CUDA_VISIBLE_DEVICES`` as it is set, None when it is not."""
    return os.environ.get(VISIBLE)


def visible_gpus(value: str, count: int) -> tuple[int, ...] | None:
    """Return the GPUs that a value of ``CUDA_VISIBLE_DEVICES`` leaves, as CUDA reads it.

    Args:
        value: Indices or UUIDs of GPUs, joined by commas; the first that is neither ends the list.
        count: The number of GPUs.

    Returns:
        Indices; None when the value names parts of a GPU (MIG), which have no index.
    """
    names: list[str] | None = None
    gpus: list[int] = []
    for entry in (part.strip() for part in value.split(",")):
        if entry.startswith("MIG-"):
            return None
        if entry.startswith("GPU-"):
            names = (_with_nvml(_uuids) or []) if names is None else names
            found = [index for index, name in enumerate(names) if name.startswith(entry)]
        else:
            found = [int(entry)] if entry.isdecimal() and int(entry) < count else []
        if len(found) != 1:
            break
        gpus.extend(found)
    return tuple(dict.fromkeys(gpus))


def _with_nvml(query: Callable[[Any], Any]) -> Any:
    """Return what a query answers, None where there is no driver or it does not answer."""
    try:
        nvml = ctypes.CDLL(_LIBRARY)
        if nvml.nvmlInit_v2() != _NO_ERROR:
            return None
    except (OSError, AttributeError):  # no library, or none with this function
        return None
    try:
        return query(nvml)
    except AttributeError:
        return None
    finally:
        with suppress(AttributeError):
            nvml.nvmlShutdown()


def _count(nvml: Any) -> int | None:
    count = ctypes.c_uint()
    return count.value if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == _NO_ERROR else None


def _uuids(nvml: Any) -> list[str]:
    """Return the UUID of each GPU, an empty text for one that does not tell."""
    uuids = []
    for index in range(_count(nvml) or 0):
        device, text = ctypes.c_void_p(), ctypes.create_string_buffer(_UUID_BYTES)
        known = (
            nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(device)) == _NO_ERROR
            and nvml.nvmlDeviceGetUUID(device, text, ctypes.c_uint(_UUID_BYTES)) == _NO_ERROR
        )
        uuids.append(text.value.decode(errors="replace") if known else "")
    return uuids
