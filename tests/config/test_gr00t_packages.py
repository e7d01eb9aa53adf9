# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A GR00T whose package is missing ends before Ray starts; a check only tells."""

import pytest
from omegaconf import OmegaConf

from isaaclab_rlinf.compat import gr00t_package
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.config.gr00t_block import require_package
from isaaclab_rlinf.models.gr00t import packages
from isaaclab_rlinf.models.gr00t_n1d7 import implementation


@pytest.fixture
def installed(monkeypatch):
    """Make NVIDIA's package of a generation, and lerobot, be there or not."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def make(generation, lerobot):
        for module in (packages, implementation, gr00t_package):
            monkeypatch.setattr(module, "gr00t_generation", lambda: generation)
        monkeypatch.setattr(packages, "lerobot_has_n1d7", lambda: lerobot)

    return make


@pytest.mark.parametrize(
    ("model", "generation", "lerobot", "words"),
    [
        ({"model_type": "gr00t"}, None, True, "install_gr00t_n1d5.sh"),
        ({"model_type": "gr00t_n1d6"}, None, True, "(Isaac-GR00T) is not installed"),
        ({"model_type": "gr00t_n1d6"}, "gr00t_n1d7", True, "another generation than N1.6 (gr00t_n1d7)"),
        ({"model_type": "gr00t_n1d7"}, None, False, "lerobot 0.6.1"),
        ({"model_type": "gr00t_n1d7", "implementation": "lerobot"}, "gr00t_n1d7", False, "lerobot 0.6.1"),
        ({"model_type": "gr00t_n1d7", "implementation": "isaac_gr00t"}, None, True, "install_gr00t_n1d7.sh"),
    ],
)
def test_a_missing_package_is_a_config_error(model, generation, lerobot, words, installed, tmp_path, monkeypatch):
    installed(generation, lerobot)
    cfg = OmegaConf.create({"actor": {"model": model}})
    with pytest.raises(ConfigError) as error:
        require_package(cfg, tmp_path / "task.yaml")
    assert words in str(error.value) and error.value.issues[0].where == "actor.model.model_type"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")  # its workers may have what this machine has not
    require_package(cfg, tmp_path / "task.yaml")


@pytest.mark.parametrize(
    ("model", "generation", "lerobot"),
    [
        ({"model_type": "gr00t_n1d6"}, "gr00t_n1d6", False),
        ({"model_type": "gr00t_n1d7"}, None, True),
        ({"model_type": "gr00t_n1d7"}, "gr00t_n1d7", False),
        ({"model_type": "tiny_vla"}, None, False),
    ],
)
def test_nothing_is_said_where_it_is_there(model, generation, lerobot, installed, tmp_path):
    installed(generation, lerobot)
    require_package(OmegaConf.create({"actor": {"model": model}}), tmp_path / "task.yaml")


def test_a_check_notes_it(check, trocar_yaml, installed):
    installed(None, False)
    for kind in ("gr00t_n1d6", "gr00t_n1d7"):
        notices = check(f"actor.model.model_type={kind}", source=trocar_yaml).notices
        assert sum(f"{kind} cannot be run here" in notice for notice in notices) == 1
