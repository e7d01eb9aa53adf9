# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""``isaaclab-rlinf collect`` where the task does not fit the YAML's mapping."""

import types

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.workflow import collect, collect_cli


def test_a_mapping_that_does_not_fit_is_one_line(monkeypatch, capsys, tmp_path):
    spec = types.SimpleNamespace(task_id="Task-v0", import_modules=())
    monkeypatch.setattr(collect_cli, "_simulator_spec", lambda args: spec)
    monkeypatch.setattr(collect_cli, "_load_expert", lambda *args: None)

    def refuse(*args, **kwargs):
        raise MappingError("main_images: the task has no camera 'front'")

    monkeypatch.setattr(collect, "collect_demonstrations", refuse)
    assert main(["collect", "--config_name", "any", "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert told.strip() == "[ERROR] main_images: the task has no camera 'front'"
