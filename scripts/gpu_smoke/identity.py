# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which code ran on which machine: what a remembered result holds for. No torch."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_CODE = ("source", "scripts/gpu_smoke")


def identity(device: str) -> dict[str, str]:
    """Return commit, device and GPUs, as text.

    Args:
        device: ``cuda`` or ``cpu``.
    """
    gpus = gpu_names() if device == "cuda" else []
    return {"commit": commit(), "device": device, "gpus": describe(gpus)}


def details() -> dict[str, str]:
    """Return what else a reader of the table wants to know of the machine."""
    packages = ("torch", "isaaclab", "rlinf", "newton", "warp-lang", "transformers", "flash-attn")
    found = {name: version for name in packages if (version := _version(name))}
    driver = _output("nvidia-smi", "--query-gpu=driver_version,memory.total", "--format=csv,noheader").split("\n")[0]
    return {"driver, memory": driver or "no nvidia-smi", "python": platform.python_version(), **found}


def commit() -> str:
    """Return the commit, with a digest of what was changed since; without git a digest of all the code."""
    head = _output("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD")
    if not head:
        return f"no git, code {_digest(_all_code())}"
    changed = _output("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=all", "--", *_CODE)
    return f"{head}+{_digest(_all_code())}" if changed else head


def gpu_names() -> list[str]:
    """Return the name of each GPU that the driver lists."""
    return [
        line.strip() for line in _output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").split("\n") if line
    ]


def describe(names: list[str]) -> str:
    """Return GPUs in words, ``2 x NAME``."""
    return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names)) or "none"


def _all_code() -> bytes:
    files = sorted(file for place in _CODE for file in (ROOT / place).rglob("*") if file.suffix in (".py", ".yaml"))
    return b"\0".join(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() for file in files)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
