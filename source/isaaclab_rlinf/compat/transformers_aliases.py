# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Names that rlinf 0.3.0 imports from transformers and that transformers 5 removed.

``rlinf.hybrid_engines.fsdp.fsdp_model_manager`` imports ``AutoModelForVision2Seq``; transformers 5 (seen with 5.10.4)
kept the class only under its newer name ``AutoModelForImageTextToText``.
"""

from __future__ import annotations

REMOVED_AUTO_CLASSES = {"AutoModelForVision2Seq": "AutoModelForImageTextToText"}
"""Removed name -> the class that took its place."""


def alias_removed_auto_classes() -> None:
    """Give the removed auto classes back to ``transformers``, leaving those that still exist alone."""
    import transformers

    for removed, current in REMOVED_AUTO_CLASSES.items():
        if not hasattr(transformers, removed):
            setattr(transformers, removed, getattr(transformers, current))
