# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The GPU lane: what a machine with GPUs has to show, one file per check, for ``gpu_smoke.sh`` and ``pytest -m gpu``.

:mod:`.plan` lists the checks. :mod:`.runner` starts a process per group of checks, which :mod:`.worker` runs in it;
:mod:`.outcome` is what they say of each other. Every check also runs with ``--device cpu``, in small, so that its first
use on a GPU does not fail by a slip.
"""
