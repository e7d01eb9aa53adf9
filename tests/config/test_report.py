# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import io

from isaaclab_rlinf.config.errors import ConfigError, Issue, did_you_mean, listing, near
from isaaclab_rlinf.config.locate import Locator
from isaaclab_rlinf.config.report import print_report, report_text

YAML = "env:\n  train:\n    states:\n      - key: a\n      - key: b\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_report_has_file_line_path_found_allowed_and_fix(tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text(YAML)
    issue = Issue("env.train.states[1].key", "'b'", "a, c", "did you mean 'a'?", file)
    text = report_text([issue, Issue("--seed", "-1", "a whole number >= 0")])
    assert "2 problems; nothing was started" in text
    assert f"in {file}" in text
    assert "env.train.states[1].key (line 5)" in text
    for part in ("found:   'b'", "allowed: a, c", "fix:     did you mean 'a'?", "--seed"):
        assert part in text


def test_lines_of_missing_keys_are_those_of_their_parent(tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text(YAML)
    assert Locator().line(file, "env.train.main_images") == 2
    assert Locator().line(file, "runner.seed") is None
    assert Locator().line(tmp_path / "none.yaml", "env") is None


def test_a_terminal_gets_colour_and_a_file_does_not():
    issue = Issue("a.b", "x[bold]")
    plain, terminal = io.StringIO(), Terminal()
    print_report([issue], stream=plain)
    print_report([issue], notices=["n"], stream=terminal)
    assert "\x1b[" not in plain.getvalue()
    assert "\x1b[" in terminal.getvalue()
    assert "x[bold]" in terminal.getvalue()


def test_nothing_to_say():
    stream = io.StringIO()
    print_report([], stream=stream)
    assert stream.getvalue() == ""


def test_hints():
    assert near("Front_Camra", ["front_camera", "wrist_camera"]) == ["front_camera"]
    assert did_you_mean("zzz", ["front_camera"]) == ""
    assert listing([], 3) == "(none)"
    assert listing("abcde", 3) == "a, b, c, and 2 more"


def test_an_error_carries_every_issue():
    error = ConfigError([Issue("a", "1"), Issue("b", "2", fix="3")])
    assert str(error) == "a: 1\nb: 2; fix: 3"
