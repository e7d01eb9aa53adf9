# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A word now and then while something takes long, so that waiting and hanging can be told apart."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

WORD_SECONDS = 15.0


@contextlib.contextmanager
def waiting(doing: str, tell: Callable[[str], None], limit: float | None = None) -> Iterator[None]:
    """Say every :data:`WORD_SECONDS` that the body is still going, from a thread of its own.

    Args:
        doing: What the body does, as in ``"starting the simulator"``.
        tell: Takes the line.
        limit: Seconds after which the body gives up by itself, if it does.
    """
    started, over = time.monotonic(), threading.Event()
    until = f" of at most {limit:.0f} s" if limit is not None else " s"

    def repeat() -> None:
        while not over.wait(WORD_SECONDS):
            tell(f"Still {doing}: {time.monotonic() - started:.0f}{until}")

    thread = threading.Thread(target=repeat, daemon=True, name="waiting")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
