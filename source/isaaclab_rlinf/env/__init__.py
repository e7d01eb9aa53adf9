# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The environment side: a simulator in its own process, stepped one action chunk at a time.

:mod:`.protocol` holds the contract, :mod:`.generic_env` what RLinf sees, :mod:`.simulator` the parent's handle,
:mod:`.simulator_process` the child. Import-light on purpose: the child configures itself before torch is imported.
"""
