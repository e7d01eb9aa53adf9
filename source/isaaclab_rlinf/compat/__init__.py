# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Every place where this package touches a private name of an upstream package, or patches one.

One module per subject; each names the upstream version it was written against and the reason, and has a test under
``tests/compat`` that fails loudly when upstream changes. Nothing is patched by importing this package: the patches
are installed by explicit calls.
"""

from __future__ import annotations


def prepare_worker_imports() -> None:
    """Make RLinf's workers usable in this process, on machines without an accelerator too.

    To be called before any ``rlinf.workers`` import. Safe to call repeatedly. The actor's module also needs
    :func:`.transformers_aliases.alias_removed_auto_classes`; it is left out here because it loads seconds' worth of
    transformers that environment workers never use.
    """
    from .cpu_platform import install_cpu_platform
    from .rlinf_config import import_rlinf_config

    install_cpu_platform()
    import_rlinf_config()
