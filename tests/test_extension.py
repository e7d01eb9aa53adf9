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


def test_register_is_called_where_there_is_one_and_importing_does_for_tasks(monkeypatch, tmp_path):
    (tmp_path / "only_tasks.py").write_text("imported = True\n")
    (tmp_path / "with_model.py").write_text("calls = 0\ndef register():\n    global calls\n    calls += 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(extension.CHAINED_MODULES_VARIABLE, "only_tasks,with_model")
    extension.register()
    assert sys.modules["only_tasks"].imported
    assert sys.modules["with_model"].calls == 1


def test_a_module_that_does_not_exist_is_an_error(monkeypatch):
    monkeypatch.setenv(extension.CHAINED_MODULES_VARIABLE, "no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
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
