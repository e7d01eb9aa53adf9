# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Our subclasses of RLinf's workers.

Ray unpickles a worker class by importing its module, before anything of RLinf's worker start-up runs. That is what
makes a subclass in a module of ours the place to prepare a process (see :mod:`isaaclab_rlinf.compat`). Each worker
has its own module so that a process imports only what its role needs: start-up is import-bound.
"""
