# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's config module: imported without torch's compiler, its compiled function unharmed."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import torch
original = torch.compile
from isaaclab_rlinf.compat import prepare_worker_imports
prepare_worker_imports()
assert torch.compile is original
assert "torch._inductor" not in sys.modules, "rlinf.config loads torch's compiler again: see compat/rlinf_config.py"
import rlinf.config
assert callable(rlinf.config.squared_relu) and rlinf.config.jit_fuser is not original
"""


def test_importing_rlinf_config_leaves_the_compiler_alone():
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr


def test_a_deferred_function_is_compiled_once_when_called():
    from isaaclab_rlinf.compat.rlinf_config import _compile_when_called

    compiled = []

    def compile_function(function):
        compiled.append(function)
        return lambda x: function(x) + 1

    deferred = _compile_when_called(compile_function, lambda x: 2 * x)
    assert not compiled
    assert (deferred(3), deferred(4)) == (7, 9)
    assert len(compiled) == 1
