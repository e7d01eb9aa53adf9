# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf doctor``: what is installed, what the machine has, and what a task YAML needs besides.

Nothing here imports torch, transformers, Ray, GR00T or Isaac Lab: versions come from package metadata, the rest from
files and the operating system.
"""
