# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""`pyproject.toml` declares what is imported: what only another package brings can go away with its next release."""

import ast
import functools
import importlib.metadata
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NOT_IMPORTED = {
    "diffusers": "lerobot's GR00T network imports it, lerobot declares it in an extra that also changes transformers",
    "tensorboard": "torch.utils.tensorboard imports it, torch does not declare it",
}

distributions = functools.cache(importlib.metadata.packages_distributions)


def declared(*tables: list[str]) -> dict[str, Requirement]:
    requirements = [Requirement(line) for table in tables for line in table]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def runtime(project) -> dict[str, Requirement]:
    return declared(project["project"]["dependencies"])


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level modules that a file imports by name, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


@functools.cache
def third_party(*folders: str) -> dict[str, str]:
    """Module -> first file that imports it; neither Python's nor ours. Tests and scripts import files beside them."""
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    ours = {"isaaclab_rlinf"}
    if "source" not in folders:
        ours |= {file.stem for file in files} | {file.parent.name for file in files}
    found: dict[str, str] = {}
    for file in files:
        for module in imported(ast.parse(file.read_text(encoding="utf-8"))):
            if module not in sys.stdlib_module_names and module not in ours:
                found.setdefault(module, str(file.relative_to(ROOT)))
    return found


def undeclared(modules: dict[str, str], requirements: dict[str, Requirement]) -> list[str]:
    owners = distributions()
    told = []
    for module, file in sorted(modules.items()):
        names = {canonicalize_name(name) for name in owners.get(module, ())}
        if not names & requirements.keys():
            told.append(f"{file} imports {module}, of {sorted(names) or 'no installed distribution'}")
    return told


def test_what_the_package_imports_is_declared(runtime):
    modules = third_party("source")
    assert {"torch", "yaml", "PIL"} <= modules.keys()
    assert undeclared(modules, runtime) == []


def test_what_tests_and_scripts_import_is_declared(project, runtime):
    everything = runtime | declared(project["dependency-groups"]["dev"])
    assert undeclared(third_party("tests", "scripts"), everything) == []


def test_a_missing_declaration_is_told(runtime):
    without = {name: requirement for name, requirement in runtime.items() if name != "pyyaml"}
    (told,) = undeclared(third_party("source"), without)
    assert "imports yaml, of ['pyyaml']" in told


def test_what_is_declared_is_imported_or_has_a_reason(runtime):
    owners = distributions()
    used = {canonicalize_name(name) for module in third_party("source") for name in owners.get(module, ())}
    assert sorted(runtime.keys() - used) == sorted(NOT_IMPORTED)


def test_the_bounds_admit_what_is_installed(project, runtime):
    for name, requirement in (runtime | declared(project["dependency-groups"]["dev"])).items():
        version = importlib.metadata.version(name)
        assert requirement.specifier.contains(version), f"{requirement} does not admit {version}"


def test_the_doctors_table_and_the_bounds_have_a_version_in_common(runtime):
    from isaaclab_rlinf.doctor.known_good import KNOWN_GOOD

    for known in KNOWN_GOOD:
        if known.package in runtime and known.default:
            version = importlib.metadata.version(known.package)
            assert Requirement(f"{known.package}{known.default}").specifier.contains(version), known
