# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A training ends by saying where its outputs are."""

from types import SimpleNamespace

from isaaclab_rlinf.backends.console import RunConsole
from isaaclab_rlinf.backends.train import _conclude


def test_the_end_of_a_training_names_its_videos_where_there_are_any(tmp_path, capsys):
    runner = SimpleNamespace(checkpoints_dir=tmp_path / "checkpoints", scores=SimpleNamespace(best=None))
    _conclude(RunConsole(tmp_path / "rlinf.log"), runner, tmp_path, 0.0)
    assert "Videos:" not in capsys.readouterr().out
    for name in ("train/rollout-000.mp4", "train/rollout-001.mp4", "eval/rollout-000.mp4"):
        (tmp_path / "videos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "videos" / name).touch()
    _conclude(RunConsole(tmp_path / "rlinf.log"), runner, tmp_path, 0.0)
    told = capsys.readouterr().out
    assert f"Videos:       {tmp_path / 'videos'} (3 files)" in told
    assert f"Full log:     {tmp_path / 'rlinf.log'}" in told
