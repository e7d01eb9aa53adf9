# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Pure functions between Isaac Lab's tensors and the model's: observations one way, actions the other."""
