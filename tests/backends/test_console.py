# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The console says what it has to say whatever happens to its log file and to its terminal."""

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from isaaclab_rlinf.backends.console import RunConsole, attempt
from isaaclab_rlinf.backends.curves import METRICS_FILENAME
from isaaclab_rlinf.backends.session import EXIT_FAILED, run_guarded
from isaaclab_rlinf.backends.summary_box import PIPE_WIDTH, summary_box, wrap_path
from isaaclab_rlinf.backends.train_runner import TrainRunner
from isaaclab_rlinf.backends.writing import CannotWriteError, writing

SCRIPT = """
import os, pathlib, sys
from isaaclab_rlinf.backends.console import RunConsole
with RunConsole(pathlib.Path("run.log")) as console:
    console.line("before")
    FAULT
    for number in range(3):
        print("x" * 20000)
        print("library", file=sys.stderr)
        console.line(f"[ERROR] the cause {number}")
"""
FULL_LOG = "full = os.open('/dev/full', os.O_WRONLY); os.dup2(full, 1); os.dup2(full, 2)"


def run_script(tmp_path, fault, **streams):
    """Run the script; its standard streams are pipes unless said otherwise."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("FAULT", fault)], cwd=tmp_path, text=True, timeout=60, **streams
    )


def test_a_full_disk_below_the_log_costs_the_log_and_nothing_else(tmp_path):
    ended = run_script(tmp_path, FULL_LOG)
    assert ended.returncode == 0
    assert ended.stderr == ""
    lines = ended.stdout.splitlines()
    assert [line for line in lines if "cause" in line] == [f"[ERROR] the cause {number}" for number in range(3)]
    (lost,) = [line for line in lines if "incomplete" in line]
    assert "run.log" in lost
    assert "No space left on device" in lost
    assert set(lines) == {"before", lost, *(f"[ERROR] the cause {number}" for number in range(3))}


def test_with_the_terminal_on_the_full_disk_too_the_cause_goes_to_stderr(tmp_path):
    with open("/dev/full", "w") as full:
        ended = run_script(tmp_path, FULL_LOG, stdout=full)
    assert ended.returncode == 0
    assert "[ERROR] the cause 2" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("fault", ["", FULL_LOG])
def test_a_closed_pipe_does_not_end_the_run(tmp_path, fault):
    reader, writer = os.pipe()
    os.close(reader)
    ended = run_script(tmp_path, fault, stdout=writer, stderr=writer)
    os.close(writer)
    assert ended.returncode == 0
    if not fault:
        assert "[ERROR] the cause 2" in (tmp_path / "run.log").read_text()


def test_a_library_that_closes_the_standard_streams_does_not_silence_the_cause(tmp_path):
    ended = run_script(tmp_path, "sys.stdout.close(); sys.stderr.close(); print = lambda *args, **kwargs: None")
    assert "[ERROR] the cause 2" in ended.stdout


def test_an_attempt_that_fails_is_told_and_does_not_raise(tmp_path, capfd):
    with RunConsole(tmp_path / "run.log") as console:
        assert attempt(console, "add up", lambda: 1 + 1) == 2
        assert attempt(console, "draw the curve", lambda: 1 / 0) is None
    assert capfd.readouterr().out == "[WARN] Could not draw the curve: ZeroDivisionError: division by zero\n"
    assert "Traceback" in (tmp_path / "run.log").read_text()


def test_ctrl_c_goes_through_an_attempt(tmp_path):
    def interrupted():
        raise KeyboardInterrupt

    with RunConsole(tmp_path / "run.log") as console, pytest.raises(KeyboardInterrupt):
        attempt(console, "draw", interrupted)


def test_the_box_breaks_paths_at_their_separators():
    path = "/".join(f"directory_number_{number}" for number in range(12))
    box = summary_box("Isaac Lab · train", {"Task": "A-v0", "Model": f"tiny ({path})"}, io.StringIO())
    lines = box.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= PIPE_WIDTH
    parts = [line.strip("│ ") for line in lines[2:-1]]
    assert "".join(parts).replace(" ", "") == f"Modeltiny({path})"
    assert all(part.endswith(("/", ")")) for part in parts)


def test_short_fields_stay_on_one_line():
    path = "logs/rlinf/20261201-02-02-02-Isaac-Touch-Color-Arm3-v0/checkpoints/global_step_40"
    assert path in summary_box("train", {"Task": "A-v0", "Resume from": path}, io.StringIO())


@pytest.mark.parametrize("text", ["a/bc/def/ghij", "word", "x" * 37, "", "one two /three/four", "/" * 25, "a " * 20])
def test_wrapping_loses_nothing(text):
    lines = wrap_path(text, 8)
    assert "".join(lines) == text
    assert all(len(line.rstrip()) <= 8 for line in lines)


def test_a_terminal_without_box_characters_gets_ascii():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    summary_box("train", {"Task": "A-v0"}, stream).encode("ascii")


def test_a_file_that_cannot_be_written_is_one_clear_cause(tmp_path, capfd):
    def body():
        with writing(tmp_path / "metrics.jsonl"), open("/dev/full", "w") as file:
            file.write("{}")
            file.flush()

    with RunConsole(tmp_path / "run.log") as console:
        assert run_guarded(console, body) == EXIT_FAILED
    out = capfd.readouterr().out
    assert f"[ERROR] cannot write {tmp_path}/metrics.jsonl: No space left on device" in out
    assert "Traceback" not in out


def test_a_full_disk_is_named_whatever_the_failure_says(tmp_path, monkeypatch, capfd):
    def body():
        raise RuntimeError("unexpected pos 64 vs 0")

    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=4096))
    with RunConsole(tmp_path / "run.log") as console:
        run_guarded(console, body)
    assert f"The disk of {tmp_path} is full: 4 KiB are left" in capfd.readouterr().out


def test_an_existing_file_is_not_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(FileExistsError), writing(tmp_path):
        tmp_path.mkdir()


def test_metrics_of_a_step_that_the_disk_does_not_take(tmp_path):
    (tmp_path / METRICS_FILENAME).symlink_to("/dev/full")
    runner = SimpleNamespace(_run_dir=tmp_path, env_steps_per_step=1, _env_steps_before=0, _first_step=0)
    with pytest.raises(CannotWriteError, match=r"metrics.jsonl: No space left"):
        TrainRunner._write_record(runner, {"a": 1.0}, 1, 0.0)
