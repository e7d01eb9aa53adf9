# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Before a run: what a task YAML means (``check``), what a task shows, and a first YAML for it (``init``)."""
