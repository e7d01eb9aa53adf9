# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Shared fixtures. Child processes must find a bytecode cache: start-up is import-bound."""

import os

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
