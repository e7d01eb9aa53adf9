# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What becomes of an error that a subcommand lets through."""

import subprocess
import sys
from pathlib import Path

import pytest

from isaaclab_rlinf import cli


@pytest.fixture
def command(monkeypatch):
    """Let ``isaaclab-rlinf doctor`` do something else."""
    return lambda function: monkeypatch.setattr("isaaclab_rlinf.doctor.cli.run_doctor", function)


def test_a_path_of_the_command_line_is_one_line(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(args):
        args.out = Path("there")
        raise FileExistsError(f"{args.out.absolute()} exists; nothing is overwritten. Choose another --out.")

    command(run)
    assert cli.main(["doctor"]) == 2
    assert capsys.readouterr().err.startswith(f"[ERROR] {tmp_path}/there exists")


def test_the_systems_word_on_a_path_of_the_command_line_is_one_line(command, capsys):
    def run(args):
        args.dataset = "/no/such/data"
        Path("/no/such/data").read_text()

    command(run)
    assert cli.main(["doctor"]) == 2
    assert "/no/such/data" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["/proc/no_such_file", "/no/such/data/meta/info.json"])
def test_any_other_missing_file_keeps_its_traceback(command, missing):
    def run(args):
        args.dataset = "/no/such/data"
        Path(missing).read_text()

    command(run)
    with pytest.raises(FileNotFoundError, match=missing):
        cli.main(["doctor"])


def test_a_file_has_the_same_module_name_in_every_process(tmp_path):
    (tmp_path / "mine.py").write_text("")
    code = (
        "import sys; from pathlib import Path; from isaaclab_rlinf.models.gr00t.data_config import _import_file;"
        "print(_import_file(Path(sys.argv[1])).__name__)"
    )
    names = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "mine.py")], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(names) == 1
