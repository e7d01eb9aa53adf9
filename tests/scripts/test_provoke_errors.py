# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Each kind of mistake gets one clear report, and `check` says what `train` and `play` say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_FILE = Path(__file__).parents[2] / "scripts/provoke_errors.py"
_SPEC = importlib.util.spec_from_file_location("provoke_errors", _FILE)
provoke_errors = importlib.util.module_from_spec(_SPEC)
sys.modules["provoke_errors"] = provoke_errors
_SPEC.loader.exec_module(provoke_errors)

BY_COMMAND = [mistake for mistake in provoke_errors.MISTAKES if mistake.flags]
BY_ALL = [mistake for mistake in provoke_errors.MISTAKES if not mistake.flags]


@pytest.fixture(autouse=True)
def no_login(monkeypatch, tmp_path):
    for name in ("WANDB_API_KEY", "WANDB_MODE", "SWANLAB_API_KEY", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def told(issues) -> set[tuple[str, str, str, str]]:
    """Return what a report says, without where only one of the commands makes the mistake."""
    found = ((issue, issue.found.removesuffix(" (in isaaclab play)")) for issue in issues)
    return {(issue.where, text, issue.allowed, issue.fix) for issue, text in found}


@pytest.mark.parametrize("mistake", BY_ALL, ids=lambda mistake: mistake.kind)
def test_check_says_what_train_and_play_say(mistake, tmp_path):
    outcome = provoke_errors.provoke(mistake, tmp_path)
    assert outcome["check"], "nothing was refused"
    assert told(outcome["check"]) == told(outcome["train"]) | told(outcome["play"])
    for issue in outcome["check"]:
        assert issue.found and (issue.allowed or issue.fix), issue
        assert issue.on_command_line or issue.file is not None, issue


@pytest.mark.parametrize("mistake", BY_COMMAND, ids=lambda mistake: mistake.kind)
def test_a_mistake_of_a_flag_stands_under_the_command_line(mistake, tmp_path):
    ((_, found),) = provoke_errors.provoke(mistake, tmp_path).items()
    assert found, "nothing was refused"
    flags = [flag for flags in mistake.flags.values() for flag in flags if flag.startswith("--")]
    if isinstance(found, str):
        assert flags[0] in found
    elif mistake.kind != "flag: environments":  # which fit, and the batch then does not
        assert [issue.where for issue in found] == flags and all(issue.on_command_line for issue in found)
