# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import os
import subprocess
import sys

from isaaclab_rlinf.backends.console import RunConsole
from isaaclab_rlinf.backends.run_directory import create_run_directory, write_git_state, write_params


def test_two_runs_in_one_second_get_two_directories(tmp_path):
    first, second = (create_run_directory(tmp_path, "A-Task-v0") for _ in range(2))
    assert first != second
    assert first.is_absolute()
    assert first.is_dir()
    assert second.is_dir()


def test_params_hold_resolved_config_source_and_command(tmp_path):
    from omegaconf import OmegaConf

    source = tmp_path / "task.yaml"
    source.write_text("# comment\na: 1\nb: ${a}\n")
    write_params(tmp_path, OmegaConf.load(source), source, ["--config_name", "my task"])
    assert OmegaConf.load(tmp_path / "params" / "resolved.yaml") == {"a": 1, "b": 1}
    assert "# comment" in (tmp_path / "params" / "task.yaml").read_text()
    assert (tmp_path / "params" / "command.txt").read_text() == "--config_name 'my task'\n"


def test_git_state_records_uncommitted_changes(tmp_path):
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "file.txt").write_text("one\n")
    git = ["git", "-C", str(repository), "-c", "user.name=n", "-c", "user.email=e@x"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    (repository / "file.txt").write_text("two\n")
    write_git_state(tmp_path, repository, tmp_path)
    text = (tmp_path / "git" / "repository.diff").read_text()
    assert "commit: " in text
    assert "+two" in text


def test_console_shows_its_own_lines_and_logs_everything(tmp_path):
    script = (
        "import os, sys, pathlib\n"
        "from isaaclab_rlinf.backends.console import RunConsole\n"
        "console = RunConsole(pathlib.Path(sys.argv[1]))\n"
        "with console:\n"
        "    os.write(1, b'native noise\\n')\n"
        "    print('library noise')\n"
        "    console.line('for the user')\n"
        "print('after')\n"
    )
    log = tmp_path / "logs" / "run.log"
    result = subprocess.run([sys.executable, "-c", script, str(log)], capture_output=True, text=True, check=True)
    assert result.stdout == "for the user\nafter\n"
    for text in ("native noise", "library noise", "for the user"):
        assert text in log.read_text()


def test_console_restores_descriptors(tmp_path, capfd):
    with RunConsole(tmp_path / "run.log"):
        os.write(1, b"hidden\n")
    os.write(1, b"visible\n")
    assert capfd.readouterr().out == "visible\n"
