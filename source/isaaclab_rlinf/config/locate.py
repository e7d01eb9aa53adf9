# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Find the line of a YAML file at which a key path stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


class Locator:
    """Looks up lines; each file is read once."""

    def __init__(self) -> None:
        """Start with no file read."""
        self._roots: dict[Path, Any] = {}

    def line(self, file: Path, where: str) -> int | None:
        """Return the 1-based line of a key path, or of the nearest parent that the file has.

        Args:
            file: A YAML file.
            where: Dotted key path, list indices as ``[0]``.

        Returns:
            None when the file has nothing of the path (a flag, a key that is missing at the top, a config group).
        """
        node, found = self._root(file), None
        for part in re.findall(r"[^.\[\]]+", where):
            node, line = _step(node, part)
            if line is None:
                break
            found = line
        return found

    def _root(self, file: Path) -> Any:
        import yaml

        if file not in self._roots:
            try:
                self._roots[file] = yaml.compose(file.read_text(encoding="utf-8"), Loader=_loader())
            except (OSError, UnicodeDecodeError, yaml.YAMLError):
                self._roots[file] = None
        return self._roots[file]


def _loader() -> type:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _step(node: Any, part: str) -> tuple[Any, int | None]:
    """Return the child and its line, ``(None, None)`` when there is none."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return value, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
        child = node.value[int(part)]
        return child, child.start_mark.line + 1
    return None, None
