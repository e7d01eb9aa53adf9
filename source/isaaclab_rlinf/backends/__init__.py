# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab train`` and ``isaaclab play`` with ``--rl_library rlinf``: one module each, with a ``run(argv)``."""
