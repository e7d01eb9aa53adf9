# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""`isaaclab-rlinf check` without a simulator, and what `init` refuses before it starts one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from isaaclab_rlinf.cli import main

NAME = "isaaclab_ppo_tiny_vla_touch_color"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def check(*arguments: str) -> int:
    return main(["check", "--config_name", NAME, "--device", "cpu", *arguments])


def test_a_sound_yaml_is_summed_up(capsys, tmp_path):
    assert check() == 0
    text = capsys.readouterr().out
    for expected in (
        "64 x Isaac-Touch-Color-Arm3-v0 on cpu",
        "per environment, from policy/instruction",
        "joint_pos + joint_vel",
        "3 columns, 8 per chunk",
        "isaaclab train and isaaclab play would start",
    ):
        assert expected in text
    assert list(tmp_path.iterdir()) == []


def test_mistakes_of_train_and_of_play_are_reported_together_and_once(capsys):
    code = check("env.train.isaaclab.main_images=front_camra", "~env.eval.auto_reset", "algorithm.gamma=2")
    text = capsys.readouterr().err
    assert code == 2 and "3 problems" in text
    for key in ("main_images", "auto_reset", "algorithm.gamma"):
        assert text.count(f"{key}\n      found:") == 1, text
    assert text.count("on the command line") == 1 and "(line" not in text  # no line of the YAML shows these values
    assert "did you mean 'front_camera'?" in text


def test_a_mistake_of_play_alone_says_so():
    from isaaclab_rlinf.config.errors import Issue
    from isaaclab_rlinf.inspection.check_cli import _merge

    shared, own = Issue("a", "wrong"), Issue("b", "wrong")
    assert [issue.found for issue in _merge({"train": (shared,), "play": (shared, own)})] == [
        "wrong",
        "wrong (in isaaclab play)",
    ]


def test_a_yaml_for_evaluation_is_checked_for_play(capsys):
    assert check("runner.only_eval=true") == 0
    text = capsys.readouterr().out
    assert "isaaclab play would start" in text and "train is not checked" in text


def test_flags_without_effect_are_refused(capsys):
    assert check("--num_envs", "3", "--out", "x") == 2
    text = capsys.readouterr().err
    assert "--num_envs" in text and "--out" in text and "add --sim" in text


@pytest.mark.parametrize("arguments", [["--max_iterations", "3"], ["main_images"]])
def test_what_is_no_override_is_a_usage_error(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        check(*arguments)
    assert ended.value.code == 2 and "unrecognized arguments" in capsys.readouterr().err


def test_other_commands_take_no_overrides(capsys):
    with pytest.raises(SystemExit):
        main(["sft", "--dataset", "d", "--out", "o", "a.b=1"])
    assert "unrecognized arguments: a.b=1" in capsys.readouterr().err


def test_neither_torch_nor_isaac_lab_is_imported(tmp_path):
    code = (
        "import sys; from isaaclab_rlinf.cli import main;"
        f"code = main(['check', '--config_name', '{NAME}', '--device', 'cpu', 'algorithm.gamma=2',"
        " 'env.train.isaaclab.main_images=front_camra']);"
        "heavy = [name for name in ('torch', 'isaaclab.envs', 'rlinf', 'transformers') if name in sys.modules];"
        "print(code, heavy)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.stdout.split("\n")[0] == "2 []", ended.stdout + ended.stderr
    assert "2 problems" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--task", "Isaac-Touch-Colour-Arm3-v0", "--out", "a.yaml"], "did you mean 'Isaac-Touch-Color-Arm3-v0'?"),
        (["--task", "Isaac-Touch-Color-Arm3-v0", "--out", "a.yml"], "does not end in .yaml"),
        (["--task", "Isaac-Touch-Color-Arm3-v0", "--out", "there.yaml"], "nothing is overwritten"),
        (["--task", "CartPole-v1", "--out", "a.yaml"], "no env_cfg_entry_point"),
        (["--task", "Isaac-Touch-Color-Arm3-v0", "--out", "a.yaml", "--model_path", "no"], "cannot be read"),
        (["--task", "x", "--out", "a.yaml", "--extension", "no_such_module"], "cannot be imported"),
    ],
)
def test_init_refuses_before_a_simulator_starts(tmp_path, capsys, arguments, expected):
    (tmp_path / "there.yaml").write_text("mine")
    assert main(["init", *arguments]) == 2
    assert expected in capsys.readouterr().err
    assert (tmp_path / "there.yaml").read_text() == "mine" and not (tmp_path / "a.yaml").exists()


def scenes(*overrides: str) -> list[str]:
    """Return which of train and play get a simulator of their own."""
    from isaaclab_rlinf.cli import _parser
    from isaaclab_rlinf.inspection.check_cli import check_config
    from isaaclab_rlinf.inspection.simulate import _distinct_specs

    args = _parser().parse_args(["check", "--config_name", NAME, "--device", "cpu"])
    args.overrides = list(overrides)
    return list(_distinct_specs(check_config(args).runs, "cpu", 1))


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("env_overrides={rewards.success.weight: 3}", ["train"]),
        ("env_overrides={scene.wrist_camera.width: 32}", ["train", "play"]),
        ("import_modules=[json]", ["train", "play"]),
    ],
)
def test_train_and_play_share_a_simulator_only_if_they_show_the_same(override, expected):
    assert scenes(f"++env.train.init_params.{override}") == expected


def test_a_simulator_that_fails_shows_its_own_traceback(monkeypatch, capsys, tmp_path):
    from isaaclab_rlinf.inspection import simulate

    monkeypatch.setattr(simulate, "_FACTORY", "broken_factory:open_broken")
    assert check("--sim", "--out", "out") == 1
    captured = capsys.readouterr()
    assert "the lens cap of Isaac-Touch-Color-Arm3-v0 is on" in captured.err
    assert "traceback of the simulator process" in captured.err and "broken_factory.py" in captured.err
    assert "simulator.log" in captured.out and (tmp_path / "out/simulator.log").is_file()


def test_what_a_simulator_said_before_it_failed_outlives_init(monkeypatch, capsys, tmp_path):
    from isaaclab_rlinf.inspection import simulate

    monkeypatch.setattr(simulate, "_FACTORY", "broken_factory:open_vanishing")
    assert main(["init", "--task", "Isaac-Touch-Color-Arm3-v0", "--out", "a.yaml"]) == 1
    text = capsys.readouterr().err
    (log,) = tmp_path.glob("logs/rlinf/check/*-Isaac-Touch-Color-Arm3-v0-init/simulator.log")
    assert f"Its output is in {log};" in text and f"Everything it said is in {log.parent}" in text
    assert "the lens cap of Isaac-Touch-Color-Arm3-v0 is on" in log.read_text()
    assert not (tmp_path / "a.yaml").exists()


BROKEN_TASK = """
import gymnasium

class Broken:
    def __init__(self):
        raise {error}("no such \\"robot\\"")

gymnasium.register("Test-Broken-Cfg-{error}", "x:y", kwargs=dict(env_cfg_entry_point="broken_{error}:Broken"))
"""


@pytest.mark.parametrize("error", ["RuntimeError", "ValueError"])
def test_a_task_whose_configuration_fails_is_one_error_of_init(monkeypatch, capsys, tmp_path, error):
    file = tmp_path / f"broken_{error}.py"
    file.write_text(BROKEN_TASK.format(error=error))
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["--task", f"Test-Broken-Cfg-{error}", "--extension", file.stem, "--out", "a.yaml"]
    assert main(["init", *arguments]) == 1
    text = capsys.readouterr().err
    assert f'cannot be loaded: {error}: no such "robot"' in text and str(file) in text
    assert text.count("[ERROR]") == 1 and "Traceback" not in text


def test_a_module_of_a_task_that_fails_is_a_usage_error(monkeypatch, capsys, tmp_path):
    (tmp_path / "broken_module.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["init", "--task", "broken_module:Task-v0", "--out", "a.yaml"]) == 2
    assert "'broken_module' of 'broken_module:Task-v0' cannot be imported: ZeroDivisionError" in capsys.readouterr().err
