# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

import pytest
from bases import BUNDLED, TROCAR

from isaaclab_rlinf.config import discover
from isaaclab_rlinf.config.discover import find_config
from isaaclab_rlinf.config.errors import ConfigError

TASK_YAML = "env:\n  train: {}\n\nrollout: {}\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# task\n" + TASK_YAML)
    return path


@pytest.mark.parametrize("suffix", ["", ".yaml"])
def test_finds_packaged_yamls_with_and_without_suffix(suffix, project, bundled_yaml, trocar_yaml):
    assert find_config(BUNDLED + suffix) == bundled_yaml.resolve()
    assert find_config(TROCAR + suffix) == trocar_yaml.resolve()


def test_current_directory_wins_over_packages(project):
    mine = write(project / "config" / f"{BUNDLED}.yaml")
    assert find_config(BUNDLED) == mine


def test_config_path_wins_over_the_current_directory_and_is_the_only_place(project):
    write(project / "config/mine.yaml")
    other = write(project / "elsewhere/mine.yaml")
    assert find_config("mine", "elsewhere") == other
    with pytest.raises(ConfigError, match="'yours") as error:
        find_config("yours", "elsewhere")
    assert error.value.issues[0].where == "--config_name"
    with pytest.raises(ConfigError, match="not a directory"):
        find_config("mine", "nowhere")


def test_a_path_is_taken_as_it_is(project):
    mine = write(project / "sub/mine.yaml")
    assert find_config("sub/mine.yaml") == mine
    assert find_config("sub/mine") == mine
    assert find_config(str(mine)) == mine
    with pytest.raises(ConfigError, match="did you mean 'sub/mine"):
        find_config("sub/mien.yaml")


def test_two_matches_in_one_place_are_listed(project):
    first, second = write(project / "config/a/mine.yaml"), write(project / "config/b/mine.yaml")
    with pytest.raises(ConfigError) as error:
        find_config("mine")
    assert str(first) in str(error.value)
    assert str(second) in str(error.value)


def test_packages_with_an_entry_point_are_searched_without_importing_them(project, monkeypatch):
    package = project / "site/my_robot_tasks"
    write(package / "deep/config/my_robot.yaml")
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(project / "site"))

    class EntryPoint:
        value = "my_robot_tasks.plugin:load"

    monkeypatch.setattr(discover, "_task_entry_points", lambda: [EntryPoint()])
    assert find_config("my_robot") == package / "deep/config/my_robot.yaml"


def test_nothing_found_says_where_was_searched_and_what_is_near(project):
    with pytest.raises(ConfigError) as error:
        find_config("isaaclab_ppo_tiny_vla_touch_colour")
    issue = error.value.issues[0]
    assert str(project / "config") in issue.found
    assert TROCAR in issue.allowed
    assert issue.fix == f"did you mean '{BUNDLED}'?"


def test_task_selects_the_yaml_it_registered(bundled_yaml):
    assert find_config(None, task="Isaac-Touch-Color-Arm3-v0") == bundled_yaml.resolve()


def test_unknown_task_and_task_without_yaml(project):
    with pytest.raises(ConfigError, match="did you mean 'Isaac-Touch-Color-Arm3-v0'"):
        find_config(None, task="Isaac-Touch-Colour-Arm3-v0")
    with pytest.raises(ConfigError, match="without rlinf_cfg_entry_point") as error:
        find_config(None, task="Isaac-Cartpole")
    assert "Isaac-Touch-Color-Arm3-v0" in error.value.issues[0].allowed


def test_neither_name_nor_task():
    with pytest.raises(ConfigError, match="neither --config_name nor --task"):
        find_config(None)
