# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: importing its config loads torch's compiler, for one function of the Megatron path."""

import sys
import time

import torch

start = time.perf_counter()
import rlinf.config  # noqa: F401

print(f"{time.perf_counter() - start:.1f} s; torch._dynamo loaded: {'torch._dynamo' in sys.modules}")
if not hasattr(torch, "_dynamo") or "torch._inductor" not in sys.modules:
    raise SystemExit("gone: the compiler is not loaded")
