# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The module that RLinf's ``RLINF_EXT_MODULE`` names: registers what RLinf must know in this process.

RLinf calls :func:`register` in every process that holds a worker, channel workers included, so it stays cheap: it
registers names and builders, and imports no model. RLinf only logs an extension's exception; the driver therefore
calls :func:`register` itself first, and there an error ends the run.

The user's own extension modules are chained: those of the YAML's ``extensions:`` list, and the value that
``RLINF_EXT_MODULE`` had before us (see :func:`export_extension`).

A module is searched for in the same places everywhere: where Python looks anyhow (``PYTHONPATH``, installed packages),
then in the working directory. Last, so that a file of the user's never hides a package.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

EXTENSION_MODULE = "isaaclab_rlinf.extension"
CHAINED_MODULES_VARIABLE = "ISAACLAB_RLINF_EXTENSIONS"
GROUPS_VARIABLE = "ISAACLAB_RLINF_GROUPS"
"""Names of the worker groups that hold models or environments; unset means every process registers."""
SEARCH_PATH_VARIABLE = "ISAACLAB_RLINF_PATH"
"""The driver's search path; a worker appends what it lacks."""


def search_working_directory() -> None:
    """Let this process, a driver, find modules in the working directory, after everything else."""
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())


def export_search_path() -> None:
    """Set the environment so that workers find the modules that this process finds."""
    os.environ[SEARCH_PATH_VARIABLE] = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)


def follow_search_path() -> None:
    """Let this process, a worker, find the modules that the driver finds."""
    entries = os.environ.get(SEARCH_PATH_VARIABLE, "").split(os.pathsep)
    sys.path += [entry for entry in dict.fromkeys(entries) if entry and entry not in sys.path]


def export_extension(extensions: Sequence[str] = (), groups: Sequence[str] = ()) -> None:
    """Set the environment so that workers load this module, and through it the user's.

    Args:
        extensions: Module names from the YAML's ``extensions:``; a former ``RLINF_EXT_MODULE`` is put before them.
        groups: Worker groups of the run that use what is registered.
    """
    former = os.environ.get("RLINF_EXT_MODULE", "")
    chained = [former] if former and former != EXTENSION_MODULE else []
    chained += [name for name in extensions if name not in chained]
    os.environ[CHAINED_MODULES_VARIABLE] = ",".join(chained)
    os.environ["RLINF_EXT_MODULE"] = EXTENSION_MODULE
    os.environ[GROUPS_VARIABLE] = ",".join(groups)


def chained_modules() -> list[str]:
    """Return the user's extension modules, in the order in which they are registered."""
    return [name for name in os.environ.get(CHAINED_MODULES_VARIABLE, "").split(",") if name]


def register() -> None:
    """Register our models, then the user's extensions, in this process. Safe to call repeatedly.

    Raises:
        ImportError: If an extension module cannot be imported.
    """
    follow_search_path()
    if _only_passes_messages():
        return
    from isaaclab_rlinf.models.registry import register_models

    register_models()
    for name in chained_modules():
        load_extension(name)


def load_extension(name: str) -> None:
    """Import an extension module and call its ``register()``, if it has one.

    A module that registers tasks only does so when it is imported; RLinf's hook is for models.

    Args:
        name: Module name.

    Raises:
        ImportError: If the module cannot be imported.
    """
    module = importlib.import_module(name)
    if hasattr(module, "register"):
        module.register()


def _only_passes_messages() -> bool:
    """Return whether this is one of RLinf's channel workers, which would import RLinf's models for nothing."""
    groups = [name for name in os.environ.get(GROUPS_VARIABLE, "").split(",") if name]
    worker = os.environ.get("WORKER_NAME", "").partition(":")[0]
    return bool(groups and worker) and worker not in groups
