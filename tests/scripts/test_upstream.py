# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The scripts that show defects of upstream packages, and the page that names them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "scripts/upstream").glob("*.py"))
PAGE = (ROOT / "docs/upstream.md").read_text(encoding="utf-8")


def test_the_page_names_every_script_and_no_other():
    assert set(re.findall(r"scripts/upstream/(\w+\.py)", PAGE)) == {script.name for script in SCRIPTS}


def test_every_module_of_compat_has_an_entry():
    modules = {file.name for file in (ROOT / "source/isaaclab_rlinf/compat").glob("[!_]*.py")}
    assert {name for name in modules if f"compat/{name}" not in PAGE} == set()


def test_every_entry_says_all_of_it():
    entries = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
    assert len(entries) > 20
    for entry in entries:
        missing = [word for word in ("Symptom", "Script", "Remedy", "Delete when") if f"- **{word}**" not in entry]
        assert missing == [], entry.splitlines()[0]


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_defect_is_still_there(script):
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, f"{done.stdout}{done.stderr[-2000:]}"
