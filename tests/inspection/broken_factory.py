# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A simulator that fails before its first reset."""

from contextlib import contextmanager


@contextmanager
def open_broken(spec):
    """Raise, as a task with a mistake in its scene does."""
    raise RuntimeError(f"the lens cap of {spec.task_id} is on")
    yield
