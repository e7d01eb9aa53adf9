# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""GR00T through RLinf's own action models: any embodiment, any data configuration, converters from the task YAML.

``model_type: gr00t`` is GR00T N1.5. Importing this package imports neither torch nor ``gr00t``.
"""
