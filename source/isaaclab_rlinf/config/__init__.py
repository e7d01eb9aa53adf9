# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Task YAML: find it, compose it, bring it up to date, check it."""
