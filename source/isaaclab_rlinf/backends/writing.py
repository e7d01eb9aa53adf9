# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a run writes, when the disk does not take it: one clear cause in place of a traceback."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

FULL_BYTES = 4 * 1024**2
"""Less free space than this is called a full disk: what can still be written there is of no use to a run."""


class CannotWriteError(RuntimeError):
    """A file of the run could not be written; the message names it and the system's reason."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` of the body into one that names the file that was to be written.

    Args:
        path: The file or directory that the body writes.

    Raises:
        CannotWriteError: In place of any ``OSError`` but an existing file.
    """
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotWriteError(f"cannot write {path}: {reason}") from error


def full_disk(place: Path) -> str:
    """Return a sentence when the disk below a directory is full, else an empty text.

    A worker that fails for this reason often says something else: torch's writer speaks of an unexpected position.

    Args:
        place: Directory on the disk in question.
    """
    try:
        free = shutil.disk_usage(place).free
    except OSError:
        return ""
    return f"The disk of {place} is full: {free // 1024} KiB are left" if free < FULL_BYTES else ""
