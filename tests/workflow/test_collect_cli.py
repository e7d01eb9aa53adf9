# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf collect`` from its command line to the start of the simulator, and how it ends."""

import importlib.util
import sys
from pathlib import Path

import pytest
from live_env import LiveEnv, expert, make_spec, opened

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.env import isaac_factory
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.workflow import collect, collect_prepare
from isaaclab_rlinf.workflow.collect import CollectSettings
from isaaclab_rlinf.workflow.collect_cli import add_collect_args
from isaaclab_rlinf.workflow.collect_prepare import PreparedCollect, prepare_collect

BUNDLED = "isaaclab_ppo_tiny_vla_touch_color"

_spec = importlib.util.spec_from_file_location("mutate", Path(__file__).parents[1] / "config" / "mutate.py")
mutate = sys.modules.setdefault("mutate", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(mutate)


@pytest.fixture
def bundled_yaml():
    root = Path(importlib.util.find_spec("isaaclab_rlinf").origin).parent
    return root / "tasks/touch_color/config" / f"{BUNDLED}.yaml"


def arguments(out, *given):
    import argparse

    parser = argparse.ArgumentParser()
    add_collect_args(parser)
    return parser.parse_args(["--config_name", BUNDLED, "--out", str(out), "--device", "cpu", *given])


@pytest.fixture
def prepared(tmp_path, bundled_yaml):
    """Prepare the bundled YAML with overrides."""

    def run(*overrides, given=()):
        return prepare_collect(
            arguments(tmp_path / "out", *given), (bundled_yaml, compose_config(bundled_yaml, overrides))
        )

    return run


def issues_of(function, *args, **kwargs):
    with pytest.raises(ConfigError) as caught:
        function(*args, **kwargs)
    return caught.value.issues


def test_the_bundled_yaml_is_what_train_would_run_one_action_at_a_time(prepared):
    ready = prepared(given=("--num_envs", "5", "--seed", "3", "--num_episodes", "7", "--action_noise", "0.1"))
    spec = ready.spec
    assert (spec.num_envs, spec.seed, spec.chunk_length, spec.auto_reset, spec.device) == (5, 3, 1, True, "cpu")
    assert ready.expert.__name__ == "expert_actions"
    assert ready.settings == CollectSettings(7, action_noise=0.1, action_dim=3)


def test_everything_that_is_wrong_is_told_at_once(prepared, tmp_path):
    (tmp_path / "out").touch()
    issues = issues_of(
        prepared,
        "env.train.isaaclab.main_images=fornt",
        "+env.train.isaaclab.action_mapping={scale: [1.0, 0.0, 1.0], keys: [arm]}",
        given=("--expert", "json:dmups"),
    )
    found = {issue.where: issue for issue in issues}
    assert set(found) == {
        "env.train.isaaclab.main_images",
        "env.train.isaaclab.action_mapping.scale",
        "env.train.isaaclab.action_mapping.keys",
        "--expert",
        "--out",
    }
    assert (
        "'dumps'" in found["--expert"].fix and "has no effect" in found["env.train.isaaclab.action_mapping.keys"].found
    )


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("json", "'json'"),
        (":f", "':f'"),
        ("no_such_module_:f", "cannot be imported: ModuleNotFoundError"),
        ("json:nothing", "has no function 'nothing'"),
        ("json:__name__", "is no function"),
        ("json..x:f", "cannot be imported"),
    ],
)
def test_an_expert_that_is_none_is_an_issue(prepared, name, found):
    (issue,) = issues_of(prepared, given=("--expert", name))
    assert issue.where == "--expert" and found in issue.found


def test_a_yaml_for_evaluation_only_is_refused(prepared):
    (issue,) = issues_of(prepared, "runner.only_eval=true")
    assert issue.where == "runner.only_eval"


def test_keys_are_turned_back_into_the_models_own_order(bundled_yaml, prepared, tmp_path, monkeypatch):
    from isaaclab_rlinf.models import action_parts

    monkeypatch.setattr(action_parts, "action_parts", lambda model: {"arm": 2, "gripper": 1})
    assert prepared("+env.train.isaaclab.action_mapping={keys: [arm, gripper]}").settings.columns is None
    assert prepared("+env.train.isaaclab.action_mapping={keys: [gripper, arm]}").settings.columns == (1, 2, 0)
    (issue,) = issues_of(prepared, "+env.train.isaaclab.action_mapping={keys: [arm], suffix_pad: 1}")
    assert "leaves out gripper (1)" in issue.found
    monkeypatch.setattr(action_parts, "action_parts", lambda model: None)
    (issue,) = issues_of(prepared, "+env.train.isaaclab.action_mapping={keys: [arm]}")
    assert "not known" in issue.found


def test_whatever_is_broken_in_the_yaml_only_config_errors_come_out(bundled_yaml, tmp_path, monkeypatch):
    from omegaconf import OmegaConf

    base = OmegaConf.to_container(compose_config(bundled_yaml), resolve=False)
    read = ("env.train", "env.eval.init_params", "actor.model", "extensions", "runner.only_eval", "runner.task_type")
    args, tried = arguments(tmp_path / "out"), 0
    for mutation in mutate.mutations(base):
        if not mutation.name.startswith(read):
            continue
        tried += 1
        cfg = OmegaConf.create(mutation.cfg)
        OmegaConf.set_struct(cfg, True)
        try:
            prepare_collect(args, (bundled_yaml, cfg))
        except ConfigError:
            continue
        except Exception as error:
            pytest.fail(f"{mutation.name}: {type(error).__name__}: {error}")
    assert tried >= 150


def prepared_live(env):
    return PreparedCollect(make_spec(env.num_envs), expert, CollectSettings(2), ("told before",))


def test_from_the_command_line_to_the_dataset(monkeypatch, capsys, tmp_path):
    env = LiveEnv(2)
    monkeypatch.setattr(isaac_factory, "open_isaac_env", opened(env))
    monkeypatch.setattr(collect_prepare, "prepare_collect", lambda args: prepared_live(env))
    (tmp_path / ".out.1-a.partial").mkdir()
    command = ["collect", "--config_name", "any", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert "2 episodes, 8 frames" in told and "a notice of the task" in told and "told before" in told
    assert ".out.1-a.partial is from a run that was killed" in told.replace("\n", "")


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (MappingError("main_images: the task has no camera 'front'"), 1, "main_images: the task has no camera 'front'"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
        (OSError(28, "No space left on device"), 1, "No space left on device; nothing was written"),
        (FileExistsError(), 2, "out exists"),
    ],
)
def test_a_failure_is_one_line(monkeypatch, capsys, tmp_path, error, code, told):
    monkeypatch.setattr(collect_prepare, "prepare_collect", lambda args: prepared_live(LiveEnv(2)))

    def refuse(spec, expert, out, *args, **kwargs):
        raise FileExistsError(f"{out} exists") if isinstance(error, FileExistsError) else error

    monkeypatch.setattr(collect, "collect_demonstrations", refuse)
    assert main(["collect", "--config_name", "any", "--out", str(tmp_path / "out")]) == code
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("[ERROR] ") and line.endswith(told)


@pytest.mark.parametrize("flag", ["--action_noise=-1", "--action_noise=nan", "--calibration_error=inf", "--num_envs=0"])
def test_numbers_that_cannot_be_meant(flag, tmp_path):
    with pytest.raises(SystemExit, match="2"):
        main(["collect", "--config_name", "any", "--out", str(tmp_path / "out"), flag])
