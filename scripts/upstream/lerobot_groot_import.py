# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""lerobot 0.6.1: importing one policy's network imports every policy, data sets and environments."""

import sys
import time

import transformers  # noqa: F401 - needed by the network itself

start, before = time.perf_counter(), set(sys.modules)
import lerobot.policies.groot.groot_n1_7  # noqa: F401

others = {name for name in set(sys.modules) - before if name.startswith("lerobot.") and "groot" not in name}
print(f"{time.perf_counter() - start:.1f} s, {len(others)} other modules of lerobot, such as {sorted(others)[:4]}")
if not any(name.startswith("lerobot.policies.") for name in others):
    raise SystemExit("gone: it comes alone")
