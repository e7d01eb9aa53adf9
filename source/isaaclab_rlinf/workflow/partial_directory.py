# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""An output directory that appears when it is whole: written under a hidden name beside its place, then renamed."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isaaclab_rlinf.config.errors import Issue

SUFFIX = ".partial"


def output_issues(out: Path, flag: str = "--out") -> list[Issue]:
    """Return why a directory cannot be created, for a report before anything starts.

    Args:
        out: Directory to create.
        flag: What named it.
    """
    if _taken(out):
        found = f"{out} exists and is not an empty directory; nothing is overwritten"
        return [Issue(flag, found, "a directory that does not exist", f"choose another {flag}")]
    above = next(parent for parent in out.absolute().parents if os.path.lexists(parent))
    if not above.is_dir():
        return [Issue(flag, f"{above} is not a directory", "a place below a directory")]
    if not os.access(above, os.W_OK | os.X_OK):
        return [Issue(flag, f"no permission to write in {above}", "a place that you may write to")]
    return []


def leftovers(out: Path) -> list[Path]:
    """Return hidden directories of the same output: runs that were killed, or are still going."""
    return sorted(out.parent.glob(f".{glob.escape(out.name)}.*{SUFFIX}"))


def refuse_taken(out: Path) -> None:
    """Refuse a place where something is.

    Raises:
        FileExistsError: Unless ``out`` does not exist or is an empty directory.
    """
    if _taken(out):
        raise FileExistsError(f"{out} exists and is not empty; what is there is never overwritten. Choose another.")


@contextmanager
def partial_directory(out: Path) -> Iterator[Path]:
    """Yield an empty hidden directory beside ``out`` that takes its name when the body ends, and goes when it fails.

    Its name is new each time, so that what a killed process left blocks nobody.

    Args:
        out: Directory to create; an empty one that exists is replaced.

    Raises:
        FileExistsError: If ``out`` exists; if it came into being meanwhile, the result stays in the hidden directory.
    """
    refuse_taken(out)
    partial = out.parent / f".{out.name}.{os.getpid()}-{secrets.token_hex(3)}{SUFFIX}"
    partial.mkdir(parents=True)
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    try:
        os.replace(partial, out)
    except OSError as error:
        raise FileExistsError(f"{out} cannot be created ({error.strerror}); the result is in {partial}") from error


def _taken(out: Path) -> bool:
    return os.path.lexists(out) and (out.is_symlink() or not out.is_dir() or any(out.iterdir()))
