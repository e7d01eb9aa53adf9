# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""`constraints.txt` is what `uv.lock` resolved, and nothing of where that came from."""

import importlib.util
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_constraints", ROOT / "scripts" / "make_constraints.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lock(*packages: str) -> str:
    return "version = 1\n" + "".join(f"[[package]]\n{package}\n" for package in packages)


OURS = 'name = "isaaclab-rlinf"\nversion = "0.1.0"\nsource = { editable = "." }'
ONE = 'name = "one"\nversion = "1.0"\nsource = { registry = "https://example.org/simple" }'


def test_constraints_are_what_is_locked(script):
    if not (ROOT / "uv.lock").is_file():
        pytest.skip("no uv.lock here: `uv lock` or any `uv run` makes it")
    expected = script.constraints((ROOT / "uv.lock").read_text())
    assert (ROOT / "constraints.txt").read_text() == expected, (
        "constraints.txt and uv.lock differ: run `uv lock`, then `uv run python scripts/make_constraints.py`"
    )


def test_each_line_is_a_name_and_a_version(script):
    lines = (ROOT / "constraints.txt").read_text().removeprefix(script.HEADER).splitlines()
    names = [line.partition("==")[0] for line in lines]
    assert len(names) > 100 and names == sorted(set(names))
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==[a-z0-9.+]+", line), line


def test_they_satisfy_what_the_project_declares():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if line[0] != "#")
    for line in project["project"]["dependencies"] + project["dependency-groups"]["dev"]:
        requirement = Requirement(line)
        version = pins[requirement.name.lower().replace("_", "-")]
        assert requirement.specifier.contains(version), f"{requirement} does not admit {version}: make a new lock"


def test_names_and_versions_only(script):
    assert script.constraints(lock(OURS, ONE)) == script.HEADER + "one==1.0\n"


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (ONE.replace("1.0", "2.0"), "one has the versions 1.0 and 2.0"),
        ('name = "two"\nversion = "1"\nsource = { git = "https://example.org/two" }', "not from a package index"),
    ],
)
def test_what_constraints_cannot_say_is_an_error(script, second, told):
    with pytest.raises(ValueError, match=told):
        script.constraints(lock(ONE, second))
