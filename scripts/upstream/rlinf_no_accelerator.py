# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: without an accelerator the torch platform is None, and is used all the same."""

import os

os.environ["ACCELERATOR_TYPE"] = "NO_ACCEL"  # what RLinf sets in the workers of such a machine

from rlinf.scheduler.worker.worker import Worker

print("torch_platform:", Worker.torch_platform, " torch_device_type:", Worker.torch_device_type)
if Worker.torch_platform is not None:
    raise SystemExit("gone: there is a platform")
