# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import subprocess
import sys

import pytest

from isaaclab_rlinf import extension


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in ("RLINF_EXT_MODULE", "WORKER_NAME", extension.CHAINED_MODULES_VARIABLE, extension.GROUPS_VARIABLE):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_a_module_that_was_set_before_is_chained_first(monkeypatch):
    monkeypatch.setenv("RLINF_EXT_MODULE", "theirs")
    extension.export_extension(["yaml_one", "theirs"])
    assert extension.chained_modules() == ["theirs", "yaml_one"]


def test_our_own_module_is_not_chained_to_itself(monkeypatch):
    extension.export_extension(["mine"])
    extension.export_extension(["mine"])
    assert extension.chained_modules() == ["mine"]


def test_a_module_without_register_is_an_error(monkeypatch):
    monkeypatch.setenv(extension.CHAINED_MODULES_VARIABLE, "json")
    with pytest.raises(AttributeError, match=r"'json' .* has no register\(\) function"):
        extension.register()


@pytest.mark.parametrize(("worker", "imported"), [("ActorGroup:0", True), ("Env:0", False), ("", True)])
def test_only_processes_that_need_models_import_them(worker, imported):
    script = (
        "import os, sys\n"
        "from isaaclab_rlinf import extension\n"
        "extension.export_extension([], ['ActorGroup', 'EnvGroup'])\n"
        f"os.environ['WORKER_NAME'] = {worker!r}\n"
        "extension.register()\n"
        "print('rlinf.models' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str(imported)
