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


def in_project(tmp_path, code, command=("-c",)):
    """Run code in a directory of a user's, which has a module of its own and one named like a package."""
    (tmp_path / "my_tasks.py").write_text("found = True\n")
    (tmp_path / "yaml.py").write_text("raise ImportError('the user file hides a package')\n")
    script = "import sys; sys.path = [entry for entry in sys.path if entry]\n" + code  # as a console script starts
    return subprocess.run([sys.executable, *command, script], cwd=tmp_path, capture_output=True, text=True, check=False)


def test_drivers_and_workers_search_the_working_directory_last(tmp_path):
    result = in_project(
        tmp_path,
        "from isaaclab_rlinf import extension\n"
        "import os\n"
        "extension.search_working_directory(); extension.search_working_directory()\n"
        "assert sys.path.count(os.getcwd()) == 1\n"
        "extension.export_search_path()\n"
        "import my_tasks, yaml\n"
        "worker = 'from isaaclab_rlinf import extension; extension.follow_search_path(); import my_tasks, yaml, sys;'\n"
        "worker += 'print(sys.path[-1])'\n"
        "import subprocess\n"
        "subprocess.run([sys.executable, '-P', '-c', worker], check=True)\n",
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(tmp_path)


@pytest.mark.parametrize("command", [["isaaclab_rlinf.cli", "main"], ["isaaclab_rlinf.backends.train", "run"]])
def test_every_command_searches_it(tmp_path, command):
    module, function = command
    code = (
        f"import os\nfrom {module} import {function}\n"
        f"try:\n    {function}(['--help'])\nexcept SystemExit:\n    pass\n"
        "assert sys.path[-1] == os.getcwd(), sys.path\n"
    )
    result = in_project(tmp_path, code)
    assert result.returncode == 0, result.stderr


def test_ray_is_not_given_a_search_path():
    from ray.job_config import JobConfig

    from isaaclab_rlinf.compat.ray_session import _job_config

    for job, given in ((JobConfig(), True), (_job_config(), False)):
        job._py_driver_sys_path.append("/where/the/driver/is")  # as ray's worker.connect() does
        assert ("/where/the/driver/is" in str(job._serialize())) is given
