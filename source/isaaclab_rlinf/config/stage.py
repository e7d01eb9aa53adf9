# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The stage of a command that only imports, composes and checks, without Python's cyclic garbage collector.

It makes many objects and hardly any garbage. The collector would walk through all of torch again and again, and once
more when the process ends: together about a third of what a config error costs beyond the host command's own start.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from isaaclab_rlinf.config.errors import ConfigError


@contextlib.contextmanager
def config_stage() -> Iterator[None]:
    """Pause the collector; after a :class:`ConfigError` also spare the process's end its last walk.

    Raises:
        ConfigError: As raised in the body.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    except ConfigError:
        gc.freeze()  # the command ends with this error: nothing made so far is worth looking through again
        raise
    finally:
        if was_enabled:
            gc.enable()
