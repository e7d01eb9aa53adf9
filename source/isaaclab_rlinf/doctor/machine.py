# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What the machine has: processors, memory, GPUs, Ray's surroundings, video tools. No GPU context is created."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.accelerators import VISIBLE, count_accelerators, visible_gpus, visible_value
from isaaclab_rlinf.config.placement import ranks_text
from isaaclab_rlinf.doctor.finding import Finding
from isaaclab_rlinf.doctor.software import torch_cuda_major, version

MIN_MEMORY_GB = 8.0
"""Below this the bundled CPU run swaps: Ray, RLinf's workers and a simulator hold about 6 GB together."""
MIN_SHARED_MEMORY_GB = 2.0
"""Ray's object store falls back to files on disk below this; containers have 64 MB unless told otherwise."""


def machine_findings() -> list[Finding]:
    """Return a line for each part of the machine that a run depends on."""
    return [_processors(), _memory(), _shared_memory(), *_gpus(), *_visible(), _ray_address(), _video(), *_preload()]


def _processors() -> Finding:
    usable, total = len(os.sched_getaffinity(0)), os.cpu_count()
    fix = "give the process at least two cores; start-up takes minutes with one" if usable < 2 else ""
    text = f"{usable} of {total} cores usable, {platform.machine()}"
    return Finding("CPU", "warn" if usable < 2 else "ok", text, "2 or more", fix)


def _memory() -> Finding:
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines())
    total, free = (int(fields[key].split()[0]) / 2**20 for key in ("MemTotal", "MemAvailable"))
    text, good = f"{total:.0f} GB, {free:.0f} GB available", f"{MIN_MEMORY_GB:.0f} GB available"
    if free >= MIN_MEMORY_GB:
        return Finding("memory", "ok", text, good)
    return Finding("memory", "warn", text, good, "end other programs, or lower env.*.total_num_envs")


def _shared_memory() -> Finding:
    try:
        usage = shutil.disk_usage("/dev/shm")
    except OSError as error:
        return Finding("/dev/shm", "fail", str(error), fix="mount a tmpfs there: Ray and the simulators share memory")
    text, good = f"{usage.free / 1e9:.1f} GB free of {usage.total / 1e9:.1f} GB", f"{MIN_SHARED_MEMORY_GB:.0f} GB free"
    if usage.free >= MIN_SHARED_MEMORY_GB * 1e9:
        return Finding("/dev/shm", "ok", text, good)
    return Finding("/dev/shm", "warn", text, good, "docker run --shm-size 16g, or remount /dev/shm with a larger size")


def _gpus() -> list[Finding]:
    """Return a line per GPU from NVML, which RLinf asks too; or one that says there is none."""
    if importlib.util.find_spec("pynvml") is None:
        return [Finding("GPU", "info", "unknown: nvidia-ml-py is not installed", fix="pip install nvidia-ml-py")]
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return [Finding("GPU", "info", f"none ({error}): runs go on the CPU, which suits tiny models only")]
    try:
        lines = [_gpu(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
        return [*lines, _driver(pynvml)] if lines else [Finding("GPU", "info", "none")]
    except pynvml.NVMLError as error:
        return [Finding("GPU", "warn", f"NVML does not say how many ({error})", fix="see whether nvidia-smi works")]
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _gpu(pynvml, index: int) -> Finding:
    """Return a GPU's name and memory; machines with unified memory, and MIG's parents, do not tell theirs."""
    subject = f"GPU {index}"
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    except pynvml.NVMLError as error:
        return Finding(subject, "warn", f"cannot be reached ({error})", fix="see whether nvidia-smi lists it")
    name = _ask(pynvml, pynvml.nvmlDeviceGetName, handle) or "name unknown"
    memory = _ask(pynvml, pynvml.nvmlDeviceGetMemoryInfo, handle)
    if memory is None:
        return Finding(subject, "ok", f"{name}, memory unknown")
    return Finding(subject, "ok", f"{name}, {memory.free / 2**30:.0f} of {memory.total / 2**30:.0f} GiB free")


def _ask(pynvml, query: Callable[..., Any], *args: Any) -> Any:
    """Return NVML's answer, None where it has none."""
    try:
        return query(*args)
    except pynvml.NVMLError:
        return None


def _driver(pynvml) -> Finding:
    """Return whether the driver is new enough for the CUDA that torch was built for."""
    name = _ask(pynvml, pynvml.nvmlSystemGetDriverVersion) or "version unknown"
    cuda = _ask(pynvml, pynvml.nvmlSystemGetCudaDriverVersion)
    if cuda is None:
        return Finding("GPU driver", "info", f"{name}; NVML does not say which CUDA it knows")
    supported, wanted = cuda // 1000, torch_cuda_major()
    text = f"{name}, up to CUDA {supported}"
    if wanted is None:
        fix = "install a torch with CUDA, or run with --device cpu"
        return Finding("GPU driver", "warn", f"{text}, but torch has no CUDA", "", fix)
    if supported < wanted:
        fix = f"update the NVIDIA driver, or install a torch built for CUDA {supported}"
        return Finding("GPU driver", "fail", text, f"CUDA {wanted}, as torch was built for", fix)
    return Finding("GPU driver", "ok", text, f"CUDA {wanted} or newer")


def _visible() -> list[Finding]:
    """Return a line where the environment hides GPUs, which RLinf takes no notice of."""
    value, count = visible_value(), count_accelerators()
    if value is None or not count:
        return []
    gpus = visible_gpus(value, count)
    text = f"{value!r} leaves {'parts of GPUs' if gpus is None else f'GPU {ranks_text(gpus)}' if gpus else 'no GPU'}"
    if gpus is not None and len(gpus) == count:
        return [Finding(VISIBLE, "ok", text)]
    fix = "cluster.component_placement chooses the GPUs of a run; one that takes others than these is refused"
    return [Finding(VISIBLE, "info", text, fix=fix)]


def _ray_address() -> Finding:
    address = os.environ.get("RAY_ADDRESS", "")
    if address in ("", "local"):
        return Finding("Ray cluster", "ok", "each run starts its own (RAY_ADDRESS is not set)")
    text = f"RAY_ADDRESS={address}: runs join that cluster, whose machines need this environment too"
    return Finding("Ray cluster", "info", text, fix="unset RAY_ADDRESS to run on this machine alone")


def _video() -> Finding:
    """Return what writes videos (imageio's ffmpeg) and reads LeRobot's (PyAV)."""
    av, bundled = version("av"), version("imageio-ffmpeg")
    system = shutil.which("ffmpeg")
    text = (
        f"PyAV {av or 'not installed'}; ffmpeg: {system or ('from imageio-ffmpeg ' + bundled if bundled else 'none')}"
    )
    if av and (system or bundled):
        return Finding("video", "ok", text)
    return Finding("video", "warn", text, "PyAV and ffmpeg", "install isaaclab[video,rlinf], or do without --video")


def _preload() -> list[Finding]:
    """Return a line where LD_PRELOAD matters: aarch64 must load OpenMP first, x86_64 must not name its library."""
    preload = os.environ.get("LD_PRELOAD", "")
    if platform.machine() != "aarch64":
        wrong = "aarch64" in preload
        return [Finding("LD_PRELOAD", "fail", preload, "not set", "unset LD_PRELOAD")] if wrong else []
    if "libgomp" in preload:
        return [Finding("LD_PRELOAD", "ok", preload)]
    fix = "export LD_PRELOAD=/lib/aarch64-linux-gnu/libgomp.so.1 (the installers' activate.sh does)"
    return [Finding("LD_PRELOAD", "warn", preload or "not set", "libgomp.so.1, loaded before torch", fix)]
