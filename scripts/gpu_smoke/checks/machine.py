# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``machine``: whether driver, torch and this package see the same GPUs, and nothing needed is missing."""

from __future__ import annotations

import shutil
import subprocess

from gpu_smoke.commands import tool
from gpu_smoke.context import Context
from gpu_smoke.outcome import require


def run(context: Context) -> None:
    """Print what the driver says, count GPUs three ways, and ask the doctor."""
    import torch

    if shutil.which("nvidia-smi"):
        subprocess.run(["nvidia-smi"], check=False)
    seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    counted = _counted()
    context.measured["GPUs"] = seen
    if context.full:
        free, total = torch.cuda.mem_get_info()
        context.measured["memory"] = f"{total / 2**30:.0f} GiB, {free / 2**30:.0f} free"
        torch.ones(8, device="cuda").sum().item()
        require(counted == seen, f"torch sees {seen} GPUs, RLinf will be given {counted}; docs/gpu.md, defect 14")
        require(torch.cuda.is_bf16_supported(), "this GPU has no bf16")
    ended = tool("isaaclab-rlinf", "doctor", cwd=context.work, limit=120)
    require(ended.code == 0, f"the doctor has complaints (exit code {ended.code})\n{ended.out}")


def _counted() -> int | None:
    from isaaclab_rlinf.config.accelerators import count_accelerators

    return count_accelerators()
