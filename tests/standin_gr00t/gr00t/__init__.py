# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A stand-in for NVIDIA's package ``gr00t`` of generation N1.5, for tests only: the package is not on PyPI.

Written from a description of the package's interface; no line of it is here. It has what RLinf 0.3.0's GR00T N1.5
model and data configurations import, and is as strict as the real transforms about what it is given: key sets, dtypes,
(B, T, H, W, C), sizes against the checkpoint's metadata, exactly one annotation key. The networks are tiny and of
another kind; only their interfaces and widths are those of N1.5. Where the real package would go wrong silently (an
instruction that is not found, a relative path taken for a repository of the Hugging Face hub) the stand-in raises.
Weights that a checkpoint lacks are NaN after loading: RLinf's loader says that this happens.
"""
