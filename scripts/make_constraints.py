# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Write constraints.txt from uv.lock: every resolved version, one a line, for ``pip install -c constraints.txt .``.

``uv lock && python scripts/make_constraints.py`` after a change of dependencies. uv.lock itself is not committed: it
names the package index of whoever made it.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADER = """\
# Every version that isaaclab-rlinf is tested with (Python 3.12, Linux on x86_64 and aarch64).
# Made by scripts/make_constraints.py from uv.lock; tests/test_constraints.py says when the two differ.
"""


def constraints(lock: str) -> str:
    """Return the content of constraints.txt.

    Args:
        lock: Content of uv.lock.

    Raises:
        ValueError: If a package has more than one version, which constraints cannot say, or comes from no index.
    """
    versions: dict[str, str] = {}
    for package in tomllib.loads(lock)["package"]:
        name, source = package["name"], package["source"]
        if "editable" in source or "virtual" in source:  # this project
            continue
        if "registry" not in source:
            raise ValueError(f"{name} comes from {source}, not from a package index")
        if name in versions:
            raise ValueError(f"{name} has the versions {versions[name]} and {package['version']}")
        versions[name] = package["version"]
    return HEADER + "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


def main() -> int:
    """Write constraints.txt."""
    lock = ROOT / "uv.lock"
    if not lock.is_file():
        print(f"[ERROR] {lock} is not there; make it with: uv lock", file=sys.stderr)
        return 2
    (ROOT / "constraints.txt").write_text(constraints(lock.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
