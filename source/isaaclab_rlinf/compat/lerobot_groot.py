# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""lerobot 0.6.1's GR00T N1.7 network without the rest of lerobot's policies.

``lerobot.policies`` and ``lerobot.policies.groot`` import every policy, datasets and environments on the way to one
module: 13 s on one core, in each worker process. Their submodules do not need that, so empty packages stand in for
the two while a module is imported, and are taken away afterwards: a later ``import lerobot.policies`` is
lerobot's own.
"""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from isaaclab_rlinf.compat.gr00t_package import lerobot_has_n1d7, package_dir

_PACKAGES = ("lerobot.policies", "lerobot.policies.groot")


def groot_n1d7() -> ModuleType:
    """Return ``lerobot.policies.groot.groot_n1_7`` (classes ``GR00TN17``, ``GR00TN17Config``).

    Raises:
        ImportError: If lerobot is absent or of a version without GR00T N1.7; the message says what to install.
    """
    return groot_module("groot_n1_7")


def groot_processor() -> ModuleType:
    """Return ``lerobot.policies.groot.processor_groot``, lerobot's own pre- and post-processing.

    Raises:
        ImportError: As :func:`groot_n1d7`.
    """
    return groot_module("processor_groot")


def albumentations_transform() -> Callable[..., Any]:
    """Return lerobot's cv2 image transform of checkpoints with ``use_albumentations`` (a private function there).

    It takes and returns uint8 (H, W, 3) arrays; keywords ``image_crop_size``, ``image_target_size``,
    ``shortest_image_edge``, ``crop_fraction`` and ``letter_box_transform``.
    """
    return groot_processor()._transform_n1_7_image_for_vlm_albumentations


def groot_module(submodule: str) -> ModuleType:
    """Import a submodule of ``lerobot.policies.groot`` without the packages above it.

    Args:
        submodule: Its name.

    Raises:
        ImportError: As :func:`groot_n1d7`.
    """
    name = f"{_PACKAGES[1]}.{submodule}"
    if name in sys.modules:
        return sys.modules[name]
    if not lerobot_has_n1d7():
        raise ImportError("GR00T N1.7 needs lerobot.policies.groot.groot_n1_7: pip install lerobot==0.6.1")
    place = package_dir("lerobot")
    stand_ins = {package: ModuleType(package) for package in _PACKAGES if package not in sys.modules}
    for package, module in stand_ins.items():
        module.__path__ = [str(place.joinpath(*package.split(".")[1:]))]
    sys.modules.update(stand_ins)
    # It warns of every local backbone directory, because it knows two repository names only.
    logging.getLogger(name).setLevel(logging.ERROR)
    try:
        return importlib.import_module(name)
    finally:
        for package, module in stand_ins.items():
            if sys.modules.get(package) is module:
                del sys.modules[package]
