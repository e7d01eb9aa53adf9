# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Before reinforcement learning: demonstrations and supervised fine-tuning."""
