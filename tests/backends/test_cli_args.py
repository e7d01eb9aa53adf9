# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import pytest

from isaaclab_rlinf.backends import cli_args

COMMON = {
    "config_name": None,
    "config_path": None,
    "task": None,
    "model_path": None,
    "num_envs": None,
    "seed": None,
    "video": False,
    "device": None,
    "headless": False,
    "checkpoint": None,
}


def parsed(parse, *argv):
    namespace = vars(parse(["--config_name", "x", *argv])).copy()
    namespace.pop("working_directory")
    return namespace


def test_train_surface_is_frozen():
    expected = {**COMMON, "config_name": "x", "overrides": [], "max_iterations": None}
    assert parsed(cli_args.parse_train_args) == {**expected, "only_eval": False, "list_tasks": False}


def test_play_surface_is_frozen():
    assert parsed(cli_args.parse_play_args) == {**COMMON, "config_name": "x", "overrides": [], "num_episodes": None}


def test_trailing_overrides_are_kept_in_order():
    overrides = ["algorithm.gamma=0.98", "+runner.note='a b'", "~reward", "env.train.isaaclab.states=[joint_pos]"]
    assert parsed(cli_args.parse_train_args, *overrides)["overrides"] == overrides


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--num_env", "4"], "unrecognized arguments: --num_env 4"),
        (["--distributed"], "--distributed has no effect with the rlinf backend"),
        (["--video_length", "100"], "--video_length has no effect"),
        (["stray"], "unrecognized arguments: stray"),
        (["--num_envs", "0"], "expected at least 1"),
        (["--seed", "100000000000"], "expected a whole number from 0 to 4294967295"),
        (["--seed", "-1"], "expected a whole number from 0 to 4294967295"),
        (["--device", "tpu"], "--device: 'tpu'; allowed: 'cpu' or 'cuda'"),
        (["--device", "cuda:1"], "cluster.component_placement=1 puts the run on GPU 1"),
        (["--only_eval", "--max_iterations", "3"], "--max_iterations has no effect with --only_eval"),
    ],
)
def test_mistakes_are_named_and_exit_with_2(argv, message, capsys):
    with pytest.raises(SystemExit) as exit_info:
        cli_args.parse_train_args(["--config_name", "x", *argv])
    assert exit_info.value.code == 2
    assert message in capsys.readouterr().err


def test_config_or_task_is_required(capsys):
    with pytest.raises(SystemExit) as exit_info:
        cli_args.parse_play_args(["--num_episodes", "3"])
    assert exit_info.value.code == 2
    assert "one of --config_name NAME and --task ID is required" in capsys.readouterr().err
