# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""docs/bring_your_own_task.md, followed to the letter: its files are written from it, its commands run in its order."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from isaaclab_rlinf.workflow.dataset_memory import load_demonstrations

pytestmark = pytest.mark.integration

PAGE = (Path(__file__).parents[2] / "docs" / "bring_your_own_task.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^ {4}(isaaclab(?:-rlinf)? .*)$", PAGE, re.MULTILINE)
DECISIONS = re.findall(r"^ {4}(\w+: \?\?\?) +-> +(.*)$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("stranger")
    for name, body in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(body, encoding="utf-8")
    return place


def follow(place, start, code=0):
    """Run the page's next command that begins like this."""
    (command, *_) = [command for command in COMMANDS if command.startswith(start)]
    program, *arguments = shlex.split(command)
    ended = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments],
        cwd=place, env={**os.environ, "PYTHONPATH": str(place)}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def decided(place):
    """The YAML that ``init`` wrote, with the page's decisions."""
    follow(place, "isaaclab-rlinf init")
    yaml = place / "config" / "lift.yaml"
    text = yaml.read_text(encoding="utf-8")
    for asked, decision in DECISIONS:
        assert text.count(asked) == 1
        text = re.sub(rf"{re.escape(asked)}.*", decision, text)
    assert "???" not in re.sub("#.*", "", text)
    yaml.write_text(text, encoding="utf-8")
    return yaml


def test_checks_say_what_the_page_says(place, decided):
    assert "does not know lift, arm" in follow(place, "isaaclab-rlinf check --config_name lift", code=2)
    output = follow(place, "isaaclab-rlinf check --config_name lift --sim")
    rows = [line.split() for line in output.splitlines()]
    for row in (["policy", "policy", "6", "float32"], ["states[0]:", "policy", "policy[0:6]", "states[0:6]"]):
        assert any(line[: len(row)] == row for line in rows), output


def look_at_pictures(dataset):
    """In every episode and view the pictures move, as the states do."""
    data = load_demonstrations(dataset)
    starts = [0, *(data.last_frame.unique()[:-1] + 1).tolist()]
    for start in starts:
        frames = slice(start, int(data.last_frame[start]) + 1)
        moved = (data.state[frames][1:] - data.state[frames][:-1]).abs().amax()
        images = data.images[frames].int()
        changed = (images[1:] - images[:-1]).abs().amax(dim=(0, 2, 3, 4))
        assert moved > 0.01 and (changed > 24).all(), (start, changed)


@pytest.mark.slow
def test_from_demonstrations_to_playing(place, decided):
    assert "60 episodes" in follow(place, "isaaclab-rlinf collect")
    look_at_pictures(place / "data")
    follow(place, "isaaclab-rlinf sft")
    assert "step 2/2" in follow(place, "isaaclab train")
    assert "over 20 episodes" in follow(place, "isaaclab play")
