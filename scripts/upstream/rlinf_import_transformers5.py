# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""rlinf 0.3.0: its FSDP manager imports a class that transformers 5 removed."""

import transformers

try:
    import rlinf.hybrid_engines.fsdp.fsdp_model_manager  # noqa: F401
except ImportError as error:
    print(f"transformers {transformers.__version__}: {error}")
else:
    raise SystemExit("gone: the import works")
