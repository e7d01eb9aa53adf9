# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What is installed, against the versions known to work together."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import sys
from pathlib import Path

from isaaclab_rlinf.compat.gr00t_package import gr00t_generation, lerobot_has_n1d7, package_dir
from isaaclab_rlinf.doctor.finding import Finding
from isaaclab_rlinf.doctor.known_good import ENVIRONMENTS, GR00T_REVISIONS, KNOWN_GOOD, RLINF_REVISION, KnownGood

GENERATION_NAMES = {"gr00t": "N1.5", "gr00t_n1d6": "N1.6", "gr00t_n1d7": "N1.7"}
"""What a value of ``model_type`` is called."""

INSTALLER_MARK = ".isaaclab_rlinf_gr00t"
"""File in the directory of ``scripts/install_gr00t_*.sh``; holds ``n1d5`` or ``n1d7``."""


def environment_kind() -> str:
    """Return which of :data:`~isaaclab_rlinf.doctor.known_good.ENVIRONMENTS` this is.

    The ``gr00t`` package decides; where it is still missing, the mark that the installers leave beside the environment.
    """
    generation = gr00t_generation()
    if generation in ENVIRONMENTS:
        return generation
    mark = Path(sys.prefix).parent / INSTALLER_MARK
    marked = mark.read_text(encoding="utf-8").strip() if mark.is_file() else ""
    return {"n1d5": "gr00t", "n1d7": "gr00t_n1d7"}.get(marked, "default")


def version(package: str) -> str | None:
    """Return the installed version of a distribution, None when it is not installed; ``python`` is the interpreter.

    Args:
        package: Distribution name.
    """
    if package == "python":
        return platform.python_version()
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def matches(found: str, specifier: str) -> bool:
    """Whether a version satisfies a PEP 440 specifier; local parts (``+cu130``) do not count.

    Args:
        found: Installed version.
        specifier: E.g. ``>=0.21,<0.22``.
    """
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        return Version(Version(found).public) in SpecifierSet(specifier, prereleases=True)
    except InvalidVersion:
        return False


def package_findings(environment: str) -> list[Finding]:
    """Return a line for each package of the table that the environment needs or has, then RLinf and GR00T in detail.

    Args:
        environment: A key of :data:`~isaaclab_rlinf.doctor.known_good.ENVIRONMENTS`.
    """
    lines = (_package(entry, environment) for entry in KNOWN_GOOD)
    return [line for line in lines if line is not None] + [_gr00t(), _lerobot_n1d7(environment), _isaac_sim()]


def _package(entry: KnownGood, environment: str) -> Finding | None:
    found, good = version(entry.package), entry.specifier(environment)
    if not good:
        return None
    if found is None:
        status = "fail" if entry.required else "info"
        return Finding(entry.package, status, "not installed", good, reinstall(environment) if entry.required else "")
    details = {"torch": _torch_cuda, "rlinf": _rlinf_flavour}.get(entry.package)
    text = f"{found} ({details()})" if details is not None else found
    if matches(found, good):
        return Finding(entry.package, "ok", text, good)
    return Finding(entry.package, "warn", text, good, reinstall(environment))


def reinstall(environment: str) -> str:
    """Return the command that brings an environment to the versions of the table.

    Args:
        environment: A key of :data:`~isaaclab_rlinf.doctor.known_good.ENVIRONMENTS`.
    """
    scripts = {"gr00t": "scripts/install_gr00t_n1d5.sh DIR", "gr00t_n1d7": "scripts/install_gr00t_n1d7.sh DIR"}
    return scripts.get(environment, "uv sync, in a clone of isaaclab-rlinf")


def _torch_cuda() -> str:
    """Return what torch was built for, read from the one-page module that holds it."""
    directory = package_dir("torch")
    try:
        text = (directory / "version.py").read_text(encoding="utf-8") if directory is not None else ""
    except OSError:
        text = ""
    built = re.search(r"^cuda\b[^=]*=\s*'([\d.]+)'", text, re.MULTILINE)
    return f"built for CUDA {built[1]}" if built else "built without CUDA"


def torch_cuda_major() -> int | None:
    """Return the major version of CUDA that torch was built for, None without torch or CUDA."""
    built = re.search(r"CUDA (\d+)", _torch_cuda())
    return int(built[1]) if built else None


def source_of(package: str) -> str:
    """Return where a distribution came from: ``a package index``, ``revision <sha>`` or ``directory <path>``.

    Args:
        package: Name of an installed distribution.
    """
    text = importlib.metadata.distribution(package).read_text("direct_url.json")
    if not text:
        return "a package index"
    origin = json.loads(text)
    directory = origin.get("url", "").removeprefix("file://")
    revision = origin.get("vcs_info", {}).get("commit_id") or _checked_out(Path(directory))
    return f"revision {revision}" if revision else f"directory {directory}"


def _checked_out(directory: Path) -> str | None:
    """Return the revision of a checkout with a detached head, which is how the installers leave it."""
    try:
        head = (directory / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return head if re.fullmatch(r"[0-9a-f]{40}", head) else None


def _rlinf_flavour() -> str:
    source = source_of("rlinf")
    if source == f"revision {RLINF_REVISION}":
        return f"revision {RLINF_REVISION[:7]}, the one that Isaac Lab documents"
    return "release" if source == "a package index" else source.replace("revision ", "another revision: ")


def _gr00t() -> Finding:
    generation = gr00t_generation()
    if generation is None:
        return Finding("gr00t (NVIDIA)", "info", "not installed; needed for model_type gr00t (N1.5) only")
    if generation == "unknown":
        fix = "install one generation with scripts/install_gr00t_n1d5.sh or scripts/install_gr00t_n1d7.sh"
        return Finding("gr00t (NVIDIA)", "warn", f"unknown layout in {package_dir('gr00t')}", "N1.5 or N1.7", fix)
    name = f"{GENERATION_NAMES[generation]} in {package_dir('gr00t')}"
    pinned = GR00T_REVISIONS.get(generation)
    if pinned is None:
        return Finding("gr00t (NVIDIA)", "info", f"{name}; not tested with isaaclab-rlinf")
    source = source_of("gr00t") if version("gr00t") is not None else "on PYTHONPATH"
    other = source.startswith("revision ") and source != f"revision {pinned}"
    if other:
        return Finding("gr00t (NVIDIA)", "warn", f"{name}, {source}", f"revision {pinned}", reinstall(generation))
    return Finding("gr00t (NVIDIA)", "ok", f"{name}, {source}", f"revision {pinned[:7]}")


def _lerobot_n1d7(environment: str) -> Finding:
    if lerobot_has_n1d7():
        return Finding("GR00T N1.7 (lerobot)", "ok", "present")
    if environment != "default":
        return Finding("GR00T N1.7 (lerobot)", "info", "absent: lerobot does not go with this transformers")
    fix = reinstall("default")
    return Finding("GR00T N1.7 (lerobot)", "warn", "absent", "lerobot==0.6.1", fix)


def _isaac_sim() -> Finding:
    """Return whether Isaac Sim is there, and whether it may start where nobody can answer its question."""
    subject, found = "Isaac Sim", version("isaacsim")
    if found is None:
        return Finding(subject, "info", "not installed; needed for tasks with Isaac Sim's PhysX or RTX cameras only")
    answer = os.environ.get("OMNI_KIT_ACCEPT_EULA", "")
    if answer.strip().lower() in ("y", "yes", "1", "true"):
        return Finding(subject, "ok", f"{found}, OMNI_KIT_ACCEPT_EULA={answer}")
    text = f"{found}; OMNI_KIT_ACCEPT_EULA is not set: unless its license was accepted before, it asks when it starts"
    fix = "read NVIDIA's license and export OMNI_KIT_ACCEPT_EULA=YES: a simulator process has no terminal to answer in"
    return Finding(subject, "warn", text, "OMNI_KIT_ACCEPT_EULA=YES", fix)
