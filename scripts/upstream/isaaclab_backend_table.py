# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""isaaclab 3.0.0: a library's backend is looked up in a private table that no entry point extends."""

from isaaclab_rl.entrypoints import dispatch

print({action: modules.get("rlinf") for action, modules in dispatch._BACKEND_MODULES.items()})
if any(hasattr(dispatch, name) for name in ("register_backend", "register_library")):
    raise SystemExit("gone: there is a way to register one")
