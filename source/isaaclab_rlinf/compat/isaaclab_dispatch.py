# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Route ``isaaclab train|play --rl_library rlinf`` to our backends.

isaaclab 3.0.0 has no public way to add or replace a backend: ``isaaclab_rl.entrypoints.dispatch`` keeps the table
``_BACKEND_MODULES[action][library] -> module name`` and imports the module when it is chosen. Entry points are loaded
before the table is read (``isaaclab.cli.cli`` and ``dispatch.run_cli``), so writing into it from our plug-in is in
time. The import of ``dispatch`` costs 10 ms on top of gymnasium and ``isaaclab.cli``, which every command has loaded.
"""

from __future__ import annotations

from collections.abc import Mapping


def route_backends(library: str, modules: Mapping[str, str]) -> None:
    """Set which module runs a library's actions.

    Args:
        library: Value of ``--rl_library``.
        modules: Action (``train``, ``play``) -> module that has ``run(argv)``.

    Raises:
        RuntimeError: If the table is not what isaaclab 3.0.0 has; nothing is changed then.
    """
    from isaaclab_rl.entrypoints import dispatch

    table = getattr(dispatch, "_BACKEND_MODULES", None)
    for action in modules:
        actions = table.get(action) if isinstance(table, dict) else None
        if not isinstance(actions, dict) or not isinstance(actions.get(library), str):
            raise RuntimeError(
                f"isaaclab_rl.entrypoints.dispatch._BACKEND_MODULES[{action!r}][{library!r}] is not a module name; "
                "this version of isaaclab-rlinf was made for isaaclab 3.0.0"
            )
    for action, module in modules.items():
        table[action][library] = module
