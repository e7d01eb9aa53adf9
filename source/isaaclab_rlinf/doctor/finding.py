# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "info", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """What was found about one thing."""

    subject: str
    """Package or part of the machine."""
    status: Status
    """``info`` is neither good nor bad; ``fail`` makes the exit code 1."""
    found: str
    good: str = ""
    """What is known to work; empty when there is no such thing."""
    fix: str = ""
    """Command or step that repairs it; set for ``warn`` and ``fail``."""
