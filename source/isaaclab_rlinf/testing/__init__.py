# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Conformance kit for models: does a policy keep what RLinf's workers rely on?

A model author runs :func:`check_policy` in their own tests, see docs/custom_model.md. It needs no simulator, no Ray
and no accelerator.
"""

from .builders import example_env_obs, registered_builder
from .check import check_policy
from .report import OPT_OUTS, Finding, PolicyContractError, PolicyReport

__all__ = [
    "OPT_OUTS",
    "Finding",
    "PolicyContractError",
    "PolicyReport",
    "check_policy",
    "example_env_obs",
    "registered_builder",
]
