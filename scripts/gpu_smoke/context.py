# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a check is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Context:
    """Device, size and places of one check.

    Attributes:
        device: ``cuda`` or ``cpu``.
        work: Directory of the check's group, kept between checks and calls.
        measured: Numbers for the table; the check adds to them.
    """

    device: str
    work: Path
    measured: dict[str, Any] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether to run at the size that is meant for GPUs; on a CPU everything is small."""
        return self.device == "cuda"

    @property
    def torch_device(self) -> str:
        """The device on which tensors are."""
        return "cuda:0" if self.full else "cpu"

    def size(self, full: int, small: int) -> int:
        """Return a size for this device."""
        return full if self.full else small
