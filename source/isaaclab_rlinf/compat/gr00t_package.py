# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Which GR00T is installed, told from the files of a package: no generation carries its name in its metadata.

N1.5, N1.6 and N1.7 all install a package ``gr00t``; importing it to find out costs seconds and may fail. The modules
named here are those that RLinf 0.3.0 imports from each generation.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

_LAYOUT = (
    ("gr00t_n1d7", ("model/gr00t_n1d7/gr00t_n1d7.py",)),
    ("gr00t_n1d6", ("model/gr00t_n1d6/gr00t_n1d6.py",)),
    ("gr00t", ("model/gr00t_n1.py", "experiment/data_config.py")),
)
"""``model_type`` of a generation and the files that only it, or it first, has; newest first."""

_LEROBOT_N1D7 = "policies/groot/groot_n1_7.py"


def package_dir(package: str) -> Path | None:
    """Return the directory of a top-level package without importing it, None when there is none.

    Args:
        package: Name without dots.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


def gr00t_generation() -> str | None:
    """Return the ``model_type`` that the importable ``gr00t`` package serves.

    Returns:
        ``gr00t`` (N1.5), ``gr00t_n1d6``, ``gr00t_n1d7``, ``unknown`` for a package with another layout, or None when
        there is no such package.
    """
    directory = package_dir("gr00t")
    if directory is None:
        return None
    for model_type, files in _LAYOUT:
        if all((directory / file).is_file() for file in files):
            return model_type
    return "unknown"


def lerobot_has_n1d7() -> bool:
    """Whether lerobot is installed and has its implementation of GR00T N1.7."""
    directory = package_dir("lerobot")
    return directory is not None and (directory / _LEROBOT_N1D7).is_file()
