# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T N1.7 (``model_type: gr00t_n1d7``) on lerobot's network: from PyPI alone, in Isaac Lab's environment.

Importing this package imports nothing heavy.
"""
