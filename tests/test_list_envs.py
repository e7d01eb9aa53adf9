# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab list_envs``: from this project's folder, from anywhere else, and from a user's project."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
OURS = "Isaac-Touch-Color-Arm3-v0"
# As Isaac Lab's template lays an external project out: the entry point names the package of tasks.
TEMPLATE = {
    "pyproject.toml": '[project]\nname = "my_lab"\n[project.entry-points."isaaclab.tasks"]\nmy_lab = "my_lab.tasks"\n',
    "source/my_lab/my_lab/__init__.py": "",
    "source/my_lab/my_lab/tasks/__init__.py": (
        "import gymnasium as gym\n"
        "gym.register(id='My-Reach-v0', entry_point='isaaclab.envs:ManagerBasedRLEnv', kwargs={\n"
        "    'env_cfg_entry_point': f'{__name__}.manager_based.reach.env_cfg:ReachEnvCfg',\n"
        "    'rlinf_cfg_entry_point': f'{__name__}.manager_based.reach:config/reach.yaml'})\n"
    ),
}
METADATA = {
    "METADATA": "Metadata-Version: 2.1\nName: my_lab\nVersion: 0\n",
    "entry_points.txt": "[isaaclab.tasks]\nmy_lab = my_lab.tasks\n",
}


def list_envs(folder, *arguments, path=()):
    """Run the host's command in a folder, and return the rows of its table by task."""
    places = [str(place) for place in (*path, PROJECT / "source")]
    code = f"import sys; sys.path[:0] = {places!r}; from isaaclab.cli import list_envs; list_envs({list(arguments)!r})"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, check=True
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in result.stdout.splitlines()]
    return {row[1]: row for row in rows if row and row[0].isdigit()}


@pytest.mark.parametrize("folder", [PROJECT, PROJECT / "docs", PROJECT / "source" / "isaaclab_rlinf" / "tasks"])
def test_from_a_folder_of_this_project_it_shows_our_tasks(folder):
    rows = list_envs(folder)
    assert list(rows) == [OURS]
    assert rows[OURS][-1] == "rlinf"


def test_from_anywhere_else_it_shows_them_among_all(tmp_path):
    rows = list_envs(tmp_path)
    assert rows[OURS][-1] == "rlinf"
    assert len(rows) > 20


def test_from_a_users_project_it_shows_theirs_and_ours_on_request(tmp_path):
    for name, text in TEMPLATE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    package = tmp_path / "source" / "my_lab"
    for name, text in METADATA.items():  # as `pip install -e` leaves it
        (package / "my_lab-0.dist-info").mkdir(exist_ok=True)
        (package / "my_lab-0.dist-info" / name).write_text(text)
    rows = list_envs(tmp_path, path=[package])
    assert {task: row[-1] for task, row in rows.items()} == {"My-Reach-v0": "rlinf"}
    assert {OURS, "My-Reach-v0"} < set(list_envs(tmp_path, "--all", path=[package]))
