# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What docs/custom_model.md shows is run: its module, its test, its command line, its override, its templates."""

import importlib
import re
import sys
from pathlib import Path

import pytest
import yaml

from isaaclab_rlinf.testing import OPT_OUTS, check

PAGE = (Path(__file__).parents[2] / "docs/custom_model.md").read_text(encoding="utf-8")
TEMPLATES = ("openvla", "openvla_oft", "pi0", "pi05")


def block(label: str) -> str:
    """Return the code block that follows a comment."""
    return re.search(rf"<!-- {re.escape(label)} -->\n```python\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Write the page's modules where Python finds them; forget them, and what they registered, afterwards."""
    from rlinf import models

    (tmp_path / "my_vla.py").write_text(block("my_vla.py"))
    (tmp_path / "test_my_vla.py").write_text(block("test_my_vla.py"))
    (tmp_path / "my_override.py").write_text(block("override"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    registry = dict(models._MODEL_REGISTRY)
    yield tmp_path
    models._MODEL_REGISTRY.clear()
    models._MODEL_REGISTRY.update(registry)
    for name in ("my_vla", "test_my_vla", "my_override"):
        sys.modules.pop(name, None)


def test_the_module_passes_the_test_that_the_page_shows(modules, tmp_path):
    importlib.import_module("test_my_vla").test_my_vla_keeps_the_contract(tmp_path / "checkpoint")


def test_the_example_stays_short():
    lines = [
        line for line in block("my_vla.py").splitlines() if line.strip() and not line.startswith(("import", "from"))
    ]
    assert len(lines) < 85


def test_override_of_a_built_in_type(modules):
    from rlinf import models

    importlib.import_module("my_override").register()
    assert models._MODEL_REGISTRY["openvla"] is importlib.import_module("my_vla").build


def prepare(*arguments):
    from isaaclab_rlinf.backends.cli_args import parse_train_args
    from isaaclab_rlinf.backends.prepare import prepare_train

    return prepare_train(parse_train_args([*map(str, arguments), "--device", "cpu"]))


def test_the_command_line_of_the_page_is_accepted(modules):
    (modules / "checkpoints/my_vla").mkdir(parents=True)
    text = re.search(r"<!-- arguments -->\n(.*?)\n\n", PAGE, re.DOTALL)[1]
    run = prepare(*text.replace("\\", "").split())
    assert run.cfg.rollout.model.model_type == "my_vla"
    assert any("'my_vla' is expected from one of the extensions" in notice for notice in run.notices)
    shown = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
    assert shown["extensions"] == list(run.cfg.extensions)
    assert {key: run.cfg.actor.model[key] for key in shown["actor"]["model"] if key != "model_path"} == {
        key: value for key, value in shown["actor"]["model"].items() if key != "model_path"
    }


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_pass_the_checks_of_a_training(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    run = prepare("--config_name", f"isaaclab_ppo_{name}_touch_color", "--model_path", tmp_path / "model")
    assert f"`{name}`" in PAGE
    grippers = [notice for notice in run.notices if "gripper" in notice]
    assert bool(grippers) == name.startswith("openvla")
    assert run.cfg.actor.model.action_dim == 3


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_without_its_checkpoint_says_how_to_give_one(name):
    from isaaclab_rlinf.config.errors import ConfigError

    with pytest.raises(ConfigError) as error:
        prepare("--config_name", f"isaaclab_ppo_{name}_touch_color")
    assert {issue.where for issue in error.value.issues} <= {"actor.model.model_path", "rollout.model.model_path"}
    assert "--model_path" in str(error.value)


@pytest.mark.parametrize(("name", "module"), [("openvla", "openvla"), ("openvla_oft", "openvla_oft/rlinf")])
def test_templates_have_every_key_that_rlinfs_builder_reads(name, module):
    """Keys read without a default, from the source: the builders cannot be imported here."""
    root = Path(importlib.util.find_spec("rlinf").origin).parent / "models/embodiment" / module / "__init__.py"
    keys = set(re.findall(r"\bcfg\.(\w+)\b(?!\()", root.read_text(encoding="utf-8"))) - {"get", "items"}
    file = Path(importlib.util.find_spec("isaaclab_rlinf").origin).parent / "tasks/touch_color/config"
    given = yaml.safe_load((file / f"isaaclab_ppo_{name}_touch_color.yaml").read_text())["actor"]["model"]
    assert len(keys) > 5 and keys <= set(given), keys - set(given)


def test_the_page_lists_every_check_and_opt_out():
    table = re.findall(r"^\| `(\w+)` \|", PAGE[: PAGE.index("## Run it")], re.MULTILINE)
    assert [name for name in table if name in check.CHECKS] == list(check.CHECKS)
    assert all(f"`{name}`" in PAGE for name in OPT_OUTS)
