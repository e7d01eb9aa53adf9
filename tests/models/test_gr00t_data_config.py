# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Finding, reading and loading ``data_config_class``; tags; and checkpoint files."""

from __future__ import annotations

import sys

import pytest

from isaaclab_rlinf.models.gr00t.data_config import declared, load_data_config, locate
from isaaclab_rlinf.models.gr00t.tags import projector_id

SOURCE = """
from beside import NAME

class Config:
    video_keys: list[str] = ["video.a", "video.b"]
    state_keys = [f"state.{name}" for name in ("x", "y")]
    action_keys = ("action.x",)
    action_indices = list(range(8))
    name = NAME

    def modality_config(self): return {}
    def transform(self): return None

class Child(Config):
    action_indices = [0, 1]

class Bare:
    def transform(self): return None
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_config.py").write_text(SOURCE)
    (tmp_path / "beside.py").write_text(f"NAME = {str(tmp_path)!r}\n")
    yield tmp_path
    sys.modules.pop("beside", None)


@pytest.mark.parametrize("place", ["my_config.py", "my_config", "./my_config.py", "{folder}/my_config.py"])
def test_beside_the_yaml_in_every_form(folder, place):
    found = locate(f"{place.format(folder=folder)}:Config", folder)
    assert str(found) == f"{folder}/my_config.py:Config"
    assert load_data_config(str(found)).name == str(folder)
    assert str(folder) not in sys.path


def test_two_files_of_one_name_do_not_meet(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "my_config.py").write_text(SOURCE.replace("from beside import NAME", "NAME = 'other'"))
    assert load_data_config(f"{folder}/my_config.py:Config").name == str(folder)
    assert load_data_config(f"{other}/my_config.py:Config").name == "other"


def test_an_importable_module(tmp_path):
    found = locate("json.decoder:JSONDecoder", tmp_path)
    assert str(found) == "json.decoder:JSONDecoder"
    assert found.file.name == "decoder.py"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("my_config", "not of the form"),
        ("my_config:", "not of the form"),
        ("my_config.py:a b", "not of the form"),
        ("other.py:Config", "'other.py' is not a file"),
        ("no_such_module_here:Config", "neither beside the YAML .* nor importable"),
    ],
)
def test_what_cannot_be_found(folder, reference, message):
    with pytest.raises(ValueError, match=message):
        locate(reference, folder)


def test_what_the_class_body_states(folder):
    assert declared(locate("my_config.py:Config", folder)) == {
        "video_keys": ("video.a", "video.b"),
        "action_keys": ("action.x",),
        "action_horizon": 8,
    }
    assert declared(locate("my_config.py:Child", folder)) == {"action_horizon": 2}
    with pytest.raises(ValueError, match="no class 'Nope'; it has: Config, Child, Bare"):
        declared(locate("my_config.py:Nope", folder))
    (folder / "broken.py").write_text("class Config(:\n")
    with pytest.raises(ValueError, match="does not parse"):
        declared(locate("broken:Config", folder))


def test_a_class_that_gr00t_could_not_use(folder):
    with pytest.raises(ValueError, match=r"has no modality_config\(\)"):
        load_data_config(f"{folder}/my_config.py:Bare")
    with pytest.raises(ValueError, match="no class 'Nope'"):
        load_data_config(f"{folder}/my_config.py:Nope")
    (folder / "needy.py").write_text("import no_such_module_here\n")
    for _ in range(2):  # a failed import is tried again
        with pytest.raises(ImportError, match="no_such_module_here"):
            load_data_config(f"{folder}/needy.py:Config")


@pytest.mark.parametrize(
    ("tag", "asked", "index"),
    [
        ("gr1", None, 24),
        ("gr1", 24, 24),
        ("isaaclab_franka", None, 31),
        ("new_embodiment", 31, 31),  # Isaac-GR00T's
        ("new_embodiment", 10, 10),  # RLinf's
        ("my_robot", 7, 7),
    ],
)
def test_the_projector_of_a_tag(tag, asked, index):
    assert projector_id(tag, asked) == index


@pytest.mark.parametrize(
    ("tag", "asked", "message"),
    [
        ("gr1", 31, "31, but tag 'gr1' is 24 in RLinf, 24 in Isaac-GR00T N1.5"),
        ("libero_panda", 3, "3, but tag 'libero_panda' is 2 in RLinf"),
        ("new_embodiment", None, "missing.*10 in RLinf, 31 in Isaac-GR00T N1.5"),
        ("new_embodiment", 24, "24, but tag"),
        ("my_robot", None, "missing.*known to neither"),
        ("my_robot", 32, "projectors 0 to 31"),
    ],
)
def test_projectors_that_are_refused(tag, asked, message):
    with pytest.raises(ValueError, match=message):
        projector_id(tag, asked)
