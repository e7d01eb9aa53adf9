# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import json

from isaaclab_rlinf.run_lineage import MANIFEST_FILENAME, Segment, lineage, resumed_from


def write_run(root, name, step_dir=None):
    run = root / name
    run.mkdir(parents=True, exist_ok=True)
    metadata = {"config_name": "c", **(resumed_from(step_dir, run) if step_dir else {})}
    (run / MANIFEST_FILENAME).write_text(json.dumps({"metadata": metadata}))
    return run


def step(run, number):
    path = run / "experiment/checkpoints" / f"global_step_{number}"
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_a_run_resumed_twice_names_all_runs_before_it(tmp_path):
    first = write_run(tmp_path, "first")
    second = write_run(tmp_path, "second", step(first, 4))
    third = write_run(tmp_path, "third", step(second, 10))
    assert lineage(third) == [Segment(third), Segment(second, 10), Segment(first, 4)]


def test_logs_may_be_moved_as_a_whole(tmp_path):
    first = write_run(tmp_path / "logs", "first")
    write_run(tmp_path / "logs", "second", step(first, 4))
    moved = (tmp_path / "logs").rename(tmp_path / "elsewhere")
    assert lineage(moved / "second")[1] == Segment(moved / "first", 4)


def test_an_absent_or_broken_past_ends_the_list(tmp_path):
    run = write_run(tmp_path, "run", tmp_path / "gone/checkpoints/global_step_3")
    assert lineage(run) == [Segment(run)]
    (run / MANIFEST_FILENAME).write_text("[")
    assert lineage(run) == [Segment(run)]


def test_a_run_that_names_itself_ends(tmp_path):
    run = tmp_path / "run"
    write_run(tmp_path, "run", step(run, 3))
    assert lineage(run) == [Segment(run)]
