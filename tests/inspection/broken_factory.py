# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Simulators that fail before their first reset."""

import os
from contextlib import contextmanager


@contextmanager
def open_broken(spec, report):
    """Raise, as a task with a mistake in its scene does."""
    raise RuntimeError(f"the lens cap of {spec.task_id} is on")
    yield


@contextmanager
def open_vanishing(spec, report):
    """End the process without a word to the parent, as a crash in native code does."""
    print(f"the lens cap of {spec.task_id} is on", flush=True)
    os._exit(5)
    yield
