# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``data_config_class``: where a GR00T N1.5 data configuration lies, what it declares, and loading it.

Written as ``file.py:Class`` (relative to the task YAML's directory, or absolute) or ``module:Class``; a module is
looked for beside the YAML first, then among the importable ones.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEY_LISTS = ("video_keys", "state_keys", "action_keys", "language_keys")
_LENGTH = "action_indices"


@dataclass(frozen=True)
class DataConfigReference:
    """A data configuration that was found: a class in a file, or in an importable module."""

    name: str
    file: Path | None = None
    module: str | None = None
    """Importable module; None when :attr:`file` is to be loaded by its path."""

    def __str__(self) -> str:
        """Return the form in which it travels to the workers."""
        return f"{self.module or self.file}:{self.name}"


def locate(reference: str, directory: Path) -> DataConfigReference:
    """Find a data configuration without importing it.

    Args:
        reference: ``file.py:Class`` or ``module:Class``.
        directory: Directory of the task YAML.

    Raises:
        ValueError: If the form is another, or the file or module is not there.
    """
    place, colon, name = reference.rpartition(":")
    if not colon or not place or not name.isidentifier():
        raise ValueError(f"{reference!r} is not of the form file.py:Class or module:Class")
    if place.endswith(".py"):
        file = (directory / Path(place).expanduser()).resolve()
        if not file.is_file():
            raise ValueError(f"{place!r} is not a file (looked for at {file})")
        return DataConfigReference(name, file)
    beside = (directory / f"{place.replace('.', '/')}.py").resolve()
    if beside.is_file():
        return DataConfigReference(name, beside)
    try:
        spec = importlib.util.find_spec(place)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ValueError(f"module {place!r} is neither beside the YAML ({beside}) nor importable")
    return DataConfigReference(name, Path(spec.origin) if spec.has_location else None, place)


def declared(reference: DataConfigReference) -> dict[str, Any] | None:
    """Read what a data configuration's class body states, from the source text.

    Args:
        reference: The class.

    Returns:
        Those of ``video_keys``, ``state_keys``, ``action_keys``, ``language_keys`` (tuples of texts) that are plain
        lists there, and ``action_horizon`` where ``action_indices`` is a plain list or ``list(range(n))``. What is
        inherited or computed is absent. None when there is no source text.

    Raises:
        ValueError: If the source has no such class, or does not parse.
    """
    if reference.file is None or reference.file.suffix != ".py":
        return None
    try:
        tree = ast.parse(reference.file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ValueError(f"{reference.file} does not parse: {error}") from error
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    if reference.name not in classes:
        if reference.module is not None:
            return None  # imported from elsewhere
        raise ValueError(f"{reference.file} has no class {reference.name!r}; it has: {', '.join(classes) or 'none'}")
    found: dict[str, Any] = {}
    for name, value in _assignments(classes[reference.name]):
        if name in KEY_LISTS:
            keys = _literal(value)
            if isinstance(keys, list | tuple) and all(isinstance(key, str) for key in keys):
                found[name] = tuple(keys)
        elif name == _LENGTH and (length := _length(value)) is not None:
            found["action_horizon"] = length
    return found


def load_data_config(reference: str) -> Any:
    """Import a data configuration and make one, with ``gr00t``'s own requirements.

    Args:
        reference: As :func:`locate` returned it: a file's path or an importable module, then ``:Class``.

    Returns:
        An instance; ``modality_config()`` and ``transform()`` are what RLinf asks of it.

    Raises:
        ValueError: If there is no such file or class, or it lacks one of the two methods.
        ImportError: If its imports fail.
    """
    place, _, name = reference.rpartition(":")
    module = _import_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    config_class = getattr(module, name, None)
    if config_class is None:
        raise ValueError(f"data_config_class: {module.__file__} has no class {name!r}")
    missing = [name for name in ("modality_config", "transform") if not hasattr(config_class, name)]
    if missing:
        raise ValueError(f"data_config_class: {reference} has no {' and no '.join(missing)}(); GR00T needs both")
    return config_class()


def _import_file(file: Path) -> Any:
    """Import a file by its path, under a name of its own, the same in every process: what is pickled refers to it."""
    name = f"_isaaclab_rlinf_data_config_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: pydantic and dataclasses look their module up
    # its neighbours may be imported by name, as when Python runs the file
    sys.path.append(str(file.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(file.parent))
    return module


def _assignments(node: ast.ClassDef) -> list[tuple[str, ast.expr]]:
    pairs: list[tuple[str, ast.expr]] = []
    for line in node.body:
        if isinstance(line, ast.Assign):
            pairs += [(target.id, line.value) for target in line.targets if isinstance(target, ast.Name)]
        elif isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
            pairs.append((line.target.id, line.value))
    return pairs


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


def _length(value: ast.expr) -> int | None:
    """Return the length of a plain list or of ``list(range(n))``."""
    match value:
        case ast.Call(
            func=ast.Name(id="list"), args=[ast.Call(func=ast.Name(id="range"), args=[ast.Constant(int(n))])]
        ):
            return n
    plain = _literal(value)
    return len(plain) if isinstance(plain, list | tuple) else None
