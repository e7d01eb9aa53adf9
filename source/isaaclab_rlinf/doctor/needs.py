# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a model type needs besides RLinf, and whether a checkpoint is of that type."""

from __future__ import annotations

import json
from pathlib import Path

from isaaclab_rlinf.compat.gr00t_package import gr00t_generation, lerobot_has_n1d7, package_dir
from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.doctor.finding import Finding
from isaaclab_rlinf.doctor.known_good import KNOWN_GOOD
from isaaclab_rlinf.doctor.software import GENERATION_NAMES, matches, reinstall, version

PACKAGES: dict[str, tuple[str, str]] = {
    "openvla": ("prismatic", "openvla"),
    "openvla_oft": ("prismatic", "openvla-oft"),
    "openpi": ("openpi", "openpi"),
    "cfg_model": ("openpi", "openpi"),
    "dexbotic_pi": ("dexbotic", "dexbotic"),
    "dexbotic_dm0": ("dexbotic", "dexbotic"),
    "starvla": ("starVLA", "starvla"),
    "abot_m0": ("ABot", "abot_m0"),
    "lingbotvla": ("lingbotvla", "lingbotvla"),
    "dreamzero": ("groot", "dreamzero"),
}
"""By ``model_type``: import name that RLinf 0.3.0's model needs, and what RLinf's install.sh calls the model.

The packages come from GitHub, in an environment of their own: they pin other versions than isaaclab 3.0.0.
"""

SELF_CONTAINED = ("tiny_vla", "mlp_policy", "cnn_policy", "flow_policy", "resnet", "value_model", "cma")
"""Model types that need no package besides those of the default environment."""

CHECKPOINT_TYPES = {"gr00t_n1_5": "gr00t", "Gr00tN1d6": "gr00t_n1d6", "Gr00tN1d7": "gr00t_n1d7", "tiny_vla": "tiny_vla"}
"""``model_type`` in a checkpoint's config.json -> ``actor.model.model_type``."""


def model_findings(model_type: str, implementation: str | None = None) -> list[Finding]:
    """Return what a model type needs, with the step that provides what is missing.

    Args:
        model_type: Value of ``actor.model.model_type``.
        implementation: Value of ``actor.model.implementation``; read for ``gr00t_n1d7`` only.
    """
    subject = f"model_type {model_type}"
    if model_type == "gr00t_n1d7" and implementation != "isaac_gr00t":
        return _n1d7(subject, implementation or "auto")
    if model_type in GENERATION_NAMES:
        return _nvidia_gr00t(subject, model_type)
    if model_type in PACKAGES:
        module, name = PACKAGES[model_type]
        if package_dir(module) is not None:
            return [Finding(subject, "ok", f"package {module} is importable")]
        fix = _rlinf_install(name)
        return [Finding(subject, "fail", f"package {module} is not importable", module, fix)]
    if model_type == "tiny_vla" and not matches(version("transformers") or "0", ">=5"):
        found = f"transformers {version('transformers') or 'is not installed'}; tiny_vla is written for 5"
        return [Finding(subject, "fail", found, "transformers>=5", f"the default environment: {reinstall('default')}")]
    if model_type in SELF_CONTAINED:
        return [Finding(subject, "ok", "needs nothing besides this environment")]
    return [Finding(subject, "info", "not one of ours or RLinf's; its extension says what it needs")]


def _rlinf_install(name: str) -> str:
    return f"an environment of its own, in a clone of RLinf: bash requirements/install.sh embodied --model {name}"


def _n1d7(subject: str, implementation: str) -> list[Finding]:
    """Return what N1.7 needs where either implementation would do, or lerobot's is asked for."""
    from isaaclab_rlinf.models.gr00t_n1d7.implementation import IMPLEMENTATIONS, choose

    if implementation not in IMPLEMENTATIONS:
        found, good = f"implementation {implementation!r}", ", ".join(IMPLEMENTATIONS)
        return [Finding(subject, "fail", found, good, "set actor.model.implementation to one of them")]
    if choose(implementation) == "isaac_gr00t":
        return _nvidia_gr00t(subject, "gr00t_n1d7")
    if lerobot_has_n1d7():
        return [Finding(subject, "ok", f"served by lerobot's implementation (implementation: {implementation})")]
    found = "neither lerobot's implementation nor NVIDIA's gr00t N1.7 is installed"
    fix = f"{reinstall('default')} for lerobot's, or {reinstall('gr00t_n1d7')} for NVIDIA's"
    return [Finding(subject, "fail", found, "lerobot==0.6.1, or gr00t N1.7", fix)]


def _nvidia_gr00t(subject: str, model_type: str) -> list[Finding]:
    installed, name = gr00t_generation(), GENERATION_NAMES[model_type]
    if installed == model_type:
        return [Finding(subject, "ok", f"NVIDIA's gr00t {name} is importable"), *_transformers(subject, model_type)]
    if installed is None:
        found = f"NVIDIA's package gr00t ({name}) is not installed"
    else:
        found = f"gr00t is {GENERATION_NAMES.get(installed, 'of an unknown layout')}; all generations share one name"
    if model_type == "gr00t_n1d6":
        fix = f"{_rlinf_install('gr00t_n1d6')}; isaaclab-rlinf has no installer for N1.6"
    else:
        fix = f"a separate environment: {reinstall(model_type)}"
    return [Finding(subject, "fail", found, f"gr00t {name}", fix)]


def _transformers(subject: str, model_type: str) -> list[Finding]:
    """Return a failure when transformers is not the version that NVIDIA's code of this generation runs on."""
    good = {entry.package: entry for entry in KNOWN_GOOD}["transformers"]
    if model_type == "gr00t_n1d6":
        return []
    wanted, found = good.specifier(model_type), version("transformers")
    if found is not None and matches(found, wanted):
        return []
    text = f"transformers {found or 'is not installed'}: GR00T's code does not run on it"
    return [Finding(subject, "fail", text, f"transformers{wanted}", reinstall(model_type))]


def checkpoint_type(directory: Path, where: str) -> str | None:
    """Return the ``model_type`` that a checkpoint directory belongs to, None when its config names another family.

    Args:
        directory: Directory in Hugging Face format.
        where: Flag or key path to name in an error.

    Raises:
        ConfigError: If it is not a directory, or has no readable config.json.
    """
    allowed = "a checkpoint directory with config.json"
    if not directory.is_dir():
        raise ConfigError([Issue(where, f"{str(directory)!r} is not a directory", allowed)])
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        found = f"config.json in {str(directory)!r} cannot be read: {error}"
        raise ConfigError([Issue(where, found, allowed)]) from None
    return CHECKPOINT_TYPES.get(config.get("model_type") if isinstance(config, dict) else None)


def checkpoint_findings(directory: Path, where: str, model_type: str | None) -> list[Finding]:
    """Return whether a checkpoint is of a model type.

    Args:
        directory: Directory in Hugging Face format.
        where: Flag or key path to name in an error.
        model_type: The type it should be of, None when none was named.

    Raises:
        ConfigError: If it cannot be read.
    """
    found = checkpoint_type(directory, where)
    text = f"{directory}: {found or 'of a family that the doctor does not know'}"
    if found is None or model_type is None or found == model_type:
        return [Finding("checkpoint", "info" if found is None else "ok", text)]
    return [Finding("checkpoint", "fail", text, model_type, f"model_type: {found}, or another checkpoint")]
