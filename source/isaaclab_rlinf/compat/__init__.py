# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Every place where this package touches a private name of an upstream package, or patches one.

One module per subject; each names the upstream version it was written against and the reason, and has a test under
``tests/compat`` that fails loudly when upstream changes. Nothing is patched by importing this package: the patches
are installed by explicit calls.
"""

from __future__ import annotations


def prepare_worker_imports() -> None:
    """Make RLinf's worker modules importable and usable in this process.

    To be called before any ``rlinf.workers`` import. Safe to call repeatedly.
    """
    from .cpu_platform import install_cpu_platform
    from .transformers_aliases import alias_removed_auto_classes

    alias_removed_auto_classes()
    install_cpu_platform()
