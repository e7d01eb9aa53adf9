# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Import ``rlinf.config`` without loading torch's compiler.

rlinf 0.3.0 decorates an activation function of its Megatron path with ``torch.compile`` at import time, which loads
torch's dynamo and inductor: about half of a worker's import time, in every process, for a function that no
vision-language-action model calls. Here the function is compiled when it is first called.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def import_rlinf_config() -> None:
    """Import ``rlinf.config`` with its ``torch.compile`` decorations deferred; does nothing the second time."""
    if "rlinf.config" in sys.modules:
        return
    import torch

    original = torch.compile
    torch.compile = functools.partial(_compile_when_called, original)
    try:
        import rlinf.config  # noqa: F401
    finally:
        torch.compile = original


def _compile_when_called(compile_function: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function``, compiled by ``compile_function`` at the first call."""
    compiled: list[Callable[..., Any]] = []

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not compiled:
            compiled.append(compile_function(function))
        return compiled[0](*args, **kwargs)

    return call
