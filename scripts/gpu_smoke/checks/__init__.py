# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The checks; each module has ``run(context, *args)``, which raises when something is not as it should be."""
