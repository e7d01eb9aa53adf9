# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Look up a task in the gym registry without importing more than that needs."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isaaclab_rlinf.config.errors import Issue, did_you_mean, listing, near

CONFIG_KEY = "rlinf_cfg_entry_point"


def find_task(task: str, where: str = "--task") -> tuple[Any | None, list[Issue]]:
    """Find the gym registration of a task.

    The registry is asked first, then our own registrations, then the ``isaaclab.tasks`` entry points of all packages
    and ``isaaclab_tasks`` are imported, each only when what came before does not have the task.

    Args:
        task: Gym id, optionally ``module:ID`` where the module registers it.
        where: Flag or key path to name in an error.

    Returns:
        The ``gymnasium.envs.registration.EnvSpec``, or None with the issue that says why.
    """
    import gymnasium as gym

    module, _, task_id = task.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except Exception as error:  # whatever the user's module raises
            found = f"module {module!r} of {task!r} cannot be imported: {type(error).__name__}: {error}"
            return None, [Issue(where, found)]
    failures = _register(until=task_id)
    if task_id in gym.registry:
        return gym.registry[task_id], []
    return None, [_unknown_task(task_id, where, _isaaclab_ids(gym.registry), failures)]


def registered_config(task: str) -> tuple[Path | None, list[Issue]]:
    """Return the YAML that a task's registration names under ``rlinf_cfg_entry_point``.

    Args:
        task: Gym id.

    Returns:
        The existing file, or None with the issue that says why there is none.
    """
    import gymnasium as gym

    spec, issues = find_task(task)
    if spec is None:
        return None, issues
    entry = spec.kwargs.get(CONFIG_KEY)
    if entry is None:
        _register()
        others = [other for other, entry_spec in gym.registry.items() if CONFIG_KEY in entry_spec.kwargs]
        return None, [
            Issue(
                "--task",
                f"{task!r} is registered without {CONFIG_KEY}, so it does not say which RLinf YAML it uses",
                f"tasks that name one: {listing(sorted(others))}",
                "pass --config_name as well",
            )
        ]
    path = _entry_path(str(entry))
    if path is None or not path.is_file():
        found = f"{task!r} registers {CONFIG_KEY}={entry!r}, which is not an existing file"
        return None, [
            Issue("--task", found, "'package.module:file.yaml' or an absolute path", "repair the registration")
        ]
    return path, []


def _entry_path(entry: str) -> Path | None:
    if Path(entry).is_absolute():
        return Path(entry)
    module, _, file = entry.partition(":")
    spec = importlib.util.find_spec(module) if file else None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / file


def _register(until: str | None = None) -> list[str]:
    """Import what registers tasks until one is there; None imports everything.

    Returns:
        A line for each package that could not be imported.
    """
    import gymnasium as gym

    failures = []
    for module in _registrars():
        if until in gym.registry:
            break
        if module in sys.modules or (module == "isaaclab_tasks" and importlib.util.find_spec(module) is None):
            continue
        try:
            importlib.import_module(module)
        except Exception as error:  # it may belong to a package that this run does not need
            failures.append(f"{module}: {type(error).__name__}: {error}")
    return failures


def _registrars() -> Iterator[str]:
    """Yield the modules that register tasks, lazily: listing the entry points of every package takes a while."""
    yield "isaaclab_rlinf.plugin"
    yield from (entry.module for entry in importlib.metadata.entry_points(group="isaaclab.tasks"))
    yield "isaaclab_tasks"


def _isaaclab_ids(registry: dict[str, Any]) -> list[str]:
    return sorted(task_id for task_id, spec in registry.items() if "env_cfg_entry_point" in spec.kwargs)


def _unknown_task(task_id: str, where: str, known: list[str], failures: list[str]) -> Issue:
    allowed = f"a registered task id ({len(known)} are; `isaaclab list_envs --all` lists them)"
    fix = did_you_mean(task_id, known)
    if not near(task_id, known):
        fix = "install the package that registers it (entry point group isaaclab.tasks), or correct the id"
    failed = f"; not imported: {listing(failures)}" if failures else ""
    return Issue(where, f"no task {task_id!r} is registered{failed}", allowed, fix)


def print_tasks() -> int:
    """Print the tasks that have an RLinf YAML; returns the exit code 0."""
    import gymnasium as gym

    _register()
    rows = [(task, str(spec.kwargs[CONFIG_KEY])) for task, spec in gym.registry.items() if CONFIG_KEY in spec.kwargs]
    width = max((len(task) for task, _ in rows), default=0)
    for task, config in sorted(rows):
        print(f"{task:<{width}}  {config}")
    if not rows:
        print("No task is registered with an RLinf YAML (gym keyword rlinf_cfg_entry_point).")
    return 0
