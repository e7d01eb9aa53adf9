# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Reinforcement-learning post-training of vision-language-action models on Isaac Lab tasks, with RLinf."""

__version__ = "0.1.0"
