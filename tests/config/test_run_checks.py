# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Names that become directories, loggers that ask for a login, and interpolations of files named under `defaults`."""

import pytest
from bases import only

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.errors import ConfigError

NAME, BACKENDS = "runner.logger.experiment_name", "runner.logger.logger_backends"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    for name in ("WANDB_API_KEY", "WANDB_MODE", "SWANLAB_API_KEY", "SWANLAB_ROOT", "SWANLAB_SAVE_DIR", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["../../x", "a/b", "a\\\\b", ".hidden", "x" * 201])
def test_a_run_is_called_what_can_name_a_directory(check, name):
    assert only(check(f"{NAME}='{name}'")).where == NAME
    assert check(f"{NAME}='red ball \u7ea2'").issues == ()


def test_a_login_is_asked_for_where_there_is_none(check, home, monkeypatch):
    for mode in ("train", "play"):
        assert "wandb login" in only(check(f"{BACKENDS}=[tensorboard,wandb]", mode=mode)).fix
    monkeypatch.setenv("WANDB_MODE", "offline")
    assert check(f"{BACKENDS}=[wandb]").issues == ()
    monkeypatch.delenv("WANDB_MODE")
    (home / ".netrc").write_text("machine api.wandb.ai login user password key\n")
    assert check(f"{BACKENDS}=wandb").issues == ()
    assert "swanlab login" in only(check(f"{BACKENDS}=swanlab")).fix
    assert check(f"{BACKENDS}=swanlab", "+runner.logger.swanlab_mode=local").issues == ()


@pytest.mark.parametrize("variable", ["ISAACLAB_RLINF_NUM_THREADS", "ISAACLAB_RLINF_SIM_THREADS"])
def test_a_number_of_threads_is_one(check, monkeypatch, variable):
    for given in ("all", "0", "-2", ""):
        monkeypatch.setenv(variable, given)
        issue = only(check())
        assert variable in issue.where and repr(given) in issue.found and issue.file is None
    monkeypatch.setenv(variable, "4")
    assert check().issues == ()


def test_each_group_has_a_name_of_its_own(check):
    assert only(check("rollout.group_name=EnvGroup")).where == "env.group_name"
    assert only(check("rollout.group_name='a,b'")).where == "rollout.group_name"


def test_a_bad_interpolation_of_a_file_named_under_defaults_names_that_file(tmp_path):
    (tmp_path / "base.yaml").write_text("a:\n  b: ${a..c}\n")
    (tmp_path / "main.yaml").write_text("defaults: [base, _self_]\n")
    with pytest.raises(ConfigError) as error:
        compose_config(tmp_path / "main.yaml")
    (issue,) = error.value.issues
    assert (issue.file, issue.where, issue.line, issue.fix) == (tmp_path / "base.yaml", "a.b", 2, "write ${a.c}")
