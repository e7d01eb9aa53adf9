# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a check can end in, and the file in which its end is remembered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

PASSED, FAILED = "passed", "FAILED"
NEEDS_CUDA, NEEDS_GPUS, NOT_RUN = "needs CUDA", "needs GPUs", "not run"
"""``not run``: a check that it needs has not passed."""


class CheckFailed(Exception):  # noqa: N818  a verdict
    """What was checked is not as it should be."""


class NeedsCuda(Exception):  # noqa: N818  a verdict
    """What could be done without a GPU was done; the rest makes sense on one only."""


class NeedsGpus(Exception):  # noqa: N818  a verdict
    """What could be done here was done; the rest needs more GPUs, or larger ones."""


def require(condition: object, otherwise: str) -> None:
    """Raise :class:`CheckFailed` unless a condition holds.

    Args:
        condition: What should hold.
        otherwise: What is wrong if it does not; its first line is shown in the table.
    """
    if not condition:
        raise CheckFailed(otherwise)


@dataclass(frozen=True)
class Result:
    """The end of one check.

    Attributes:
        name: The check's.
        status: One of the constants of this module.
        seconds: How long it took.
        reason: Why it did not pass; the table shows the first line.
        measured: Numbers worth knowing.
        where: Identity of code and machine, see :func:`gpu_smoke.identity.identity`.
        kept: Whether it is from an earlier call.
    """

    name: str
    status: str
    seconds: float = 0.0
    reason: str = ""
    measured: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    kept: bool = False

    @property
    def note(self) -> str:
        """The last column of the table."""
        if self.status == PASSED:
            return ", ".join(f"{key} {value}" for key, value in self.measured.items())
        return self.reason.strip().split("\n")[0]


def verdict(error: BaseException) -> tuple[str, str]:
    """Return status and reason for what a check raised."""
    for kind, status in ((NeedsCuda, NEEDS_CUDA), (NeedsGpus, NEEDS_GPUS), (CheckFailed, FAILED)):
        if isinstance(error, kind):
            return status, str(error)
    text = str(error).strip()
    return FAILED, f"{type(error).__name__}: {text}" if text else type(error).__name__


def write_result(directory: Path, result: Result) -> None:
    """Write ``NAME.json``, whole or not at all."""
    target = directory / f"{result.name}.json"
    temporary = target.with_suffix(".json.part")
    temporary.write_text(json.dumps(asdict(result), indent=2) + "\n", encoding="utf-8")
    temporary.replace(target)


def read_result(directory: Path, name: str) -> Result | None:
    """Return a check's last result; None without one that can be read."""
    try:
        return Result(**json.loads((directory / f"{name}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def kept_result(directory: Path, name: str, where: Mapping[str, str]) -> Result | None:
    """Return a check's result if it passed with the same code on the same machine, else None."""
    result = read_result(directory, name)
    if result is None or result.status != PASSED or dict(result.where) != dict(where):
        return None
    return replace(result, kept=True)
