# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Entry point of the group ``isaaclab.tasks``: registers our tasks and routes the ``rlinf`` library to our backends.

Isaac Lab imports this module in every command and in every simulator process, unguarded. It therefore imports nothing
heavy (no torch, RLinf, Kit) and never raises: what fails prints one line, and the command goes on without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

BACKENDS = {"train": "isaaclab_rlinf.backends.train", "play": "isaaclab_rlinf.backends.play"}
"""Action of ``isaaclab ACTION --rl_library rlinf`` -> the module whose ``run(argv)`` does it."""


def _register_tasks() -> None:
    import isaaclab_rlinf.tasks  # noqa: F401  registers the bundled tasks with gymnasium


def _route_backends() -> None:
    from isaaclab_rlinf.compat.isaaclab_dispatch import route_backends

    route_backends("rlinf", BACKENDS)


def _attempt(what: str, step: Callable[[], None]) -> None:
    """Run one step; a failure costs its function and nothing else."""
    try:
        step()
    except Exception as error:
        reason = " ".join(str(error).split()) or "no message"
        print(f"[isaaclab-rlinf] WARNING: cannot {what}: {type(error).__name__}: {reason}", file=sys.stderr)


_attempt("register the bundled tasks", _register_tasks)
_attempt("route --rl_library rlinf to isaaclab-rlinf", _route_backends)
