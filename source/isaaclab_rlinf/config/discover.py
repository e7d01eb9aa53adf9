# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Find the task YAML that a command line means."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from isaaclab_rlinf.config.errors import ConfigError, Issue, did_you_mean, listing
from isaaclab_rlinf.config.tasks import registered_config

_TASK_GROUP = "isaaclab.tasks"
_HOST_PACKAGE = "isaaclab_tasks"
_SKIPPED_DIRS = {"__pycache__", ".git", ".venv", "node_modules"}


def find_config(config_name: str | None, config_path: str | Path | None = None, task: str | None = None) -> Path:
    """Return the one YAML file that the arguments name.

    Places are searched in this order, and the first that has a match decides: ``config_path``; the current
    directory's ``config/``; every package with an ``isaaclab.tasks`` entry point; ``isaaclab_tasks``. Packages are
    searched on disk, not imported.

    Args:
        config_name: Name with or without ``.yaml``, or a path to a YAML file.
        config_path: Directory that must hold the file; nothing else is searched when it is given.
        task: Gym id whose registration names the YAML; read only when ``config_name`` is None.

    Raises:
        ConfigError: If nothing or more than one file matches; the issue says where was searched.
    """
    if config_name is None:
        return _from_task(task)
    given = Path(config_name).expanduser()
    if given.suffix == ".yml":
        raise ConfigError([_yml(given, config_path)])
    if config_path is not None:
        return _from_directory(given, Path(config_path).expanduser())
    if given.parent != Path() or given.is_absolute():
        return _from_path(given)
    name = given.name.removesuffix(".yaml")
    searched: list[Path] = []
    for roots in _tiers():
        matches = sorted({file.resolve() for root in roots for file in _yaml_files(root) if file.stem == name})
        if len(matches) > 1:
            fix = "pass the path of the one you mean as --config_name, or its directory as --config_path"
            raise ConfigError([Issue("--config_name", f"{name!r} matches {listing(matches)}", "one match", fix)])
        if matches:
            return matches[0]
        searched.extend(roots)
    if given.suffix == ".yaml" and given.is_file():
        return given.resolve()
    raise ConfigError([_not_found(name, searched)])


def _yml(given: Path, config_path: str | Path | None) -> Issue:
    """Hydra reads no other ending than .yaml, so that a name with .yml can only be a slip or a file to rename."""
    directory = Path(config_path).expanduser() if config_path is not None else Path()
    file = directory / given
    allowed = "a .yaml file: Hydra, which composes it, reads no other ending"
    fix = f"rename it to {given.with_suffix('.yaml')}" if file.is_file() else f"did you mean {given.stem + '.yaml'!r}?"
    return Issue("--config_name", f"{str(given)!r} ends in .yml", allowed, fix)


def _from_task(task: str | None) -> Path:
    if task is None:
        fix = "e.g. --config_name isaaclab_ppo_tiny_vla_touch_color"
        raise ConfigError([Issue("--config_name", "neither --config_name nor --task is given", "one of them", fix)])
    path, issues = registered_config(task)
    if path is None:
        raise ConfigError(issues)
    return path.resolve()


def _from_directory(given: Path, directory: Path) -> Path:
    if not directory.is_dir():
        raise ConfigError([Issue("--config_path", f"{str(directory)!r} is not a directory", "an existing directory")])
    file = directory / (given if given.suffix == ".yaml" else given.with_name(given.name + ".yaml"))
    if file.is_file():
        return file.resolve()
    names = sorted(path.stem for path in directory.glob("*.yaml"))
    found = f"no {file.name!r} in {str(directory)!r}, the directory given as --config_path"
    raise ConfigError([Issue("--config_name", found, listing(names), did_you_mean(given.stem, names))])


def _from_path(given: Path) -> Path:
    file = given if given.suffix == ".yaml" else given.with_name(given.name + ".yaml")
    if file.is_file():
        return file.resolve()
    if given.is_file():
        raise ConfigError(
            [Issue("--config_name", f"{str(given)!r} does not end in .yaml", "a .yaml file", "rename it")]
        )
    names = [str(path) for path in given.parent.glob("*.yaml")] if given.parent.is_dir() else []
    found = f"{str(file)!r} does not exist (relative paths start at {str(Path.cwd())!r})"
    raise ConfigError([Issue("--config_name", found, listing(sorted(names)), did_you_mean(str(file), names))])


def _tiers() -> Iterator[list[Path]]:
    """Yield the directories of each tier of the search, lazily: the last one holds hundreds of files."""
    yield [Path.cwd() / "config"]
    packages = {entry.value.partition(":")[0].split(".")[0] for entry in _task_entry_points()}
    yield list(_package_dirs(sorted(packages - {_HOST_PACKAGE})))
    yield list(_package_dirs([_HOST_PACKAGE]))


def _task_entry_points() -> Iterable[importlib.metadata.EntryPoint]:
    return importlib.metadata.entry_points(group=_TASK_GROUP)


def _package_dirs(packages: Iterable[str]) -> Iterator[Path]:
    for package in packages:
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or []) if spec is not None else []:
            yield Path(location)


def _yaml_files(root: Path) -> Iterator[Path]:
    for directory, subdirs, files in os.walk(root):
        subdirs[:] = [name for name in subdirs if name not in _SKIPPED_DIRS]
        for file in files:
            if file.endswith(".yaml"):
                yield Path(directory, file)


def _not_found(name: str, searched: list[Path]) -> Issue:
    known = {file.stem for root in searched for file in _yaml_files(root) if _looks_like_task_yaml(file)}
    where = listing(root for root in searched)
    return Issue(
        "--config_name",
        f"no file named '{name}.yaml' in {where}",
        listing(sorted(known)),
        did_you_mean(name, known) or "give a name from the list, a path to a YAML file, or --config_path",
    )


def _looks_like_task_yaml(file: Path) -> bool:
    """Whether a YAML has RLinf's sections; read as text, since hundreds of files are looked at."""
    text = file.read_text(encoding="utf-8", errors="replace")
    return "\nenv:" in text and "\nrollout:" in text
