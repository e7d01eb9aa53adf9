# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import json
import os
import zipfile
from pathlib import Path

import pytest

from isaaclab_rlinf.checkpoints import BEST_FILENAME, MANIFEST_FILENAME, resolve_checkpoint
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.run_lineage import resumed_from
from weight_stubs import POINTER

TASK, CONFIG = "Isaac-Touch-Color-Arm3-v0", "my_config"


def write_weights(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.pkl", "weights")
    return file


def write_step(run: Path, step: int, whole: bool = True) -> Path:
    step_dir = run / "experiment/checkpoints" / f"global_step_{step}"
    dcp = step_dir / "actor/dcp_checkpoint"
    dcp.mkdir(parents=True)
    (dcp / ".metadata").write_bytes(b"x")
    if whole:
        write_weights(step_dir / "actor/model_state_dict/full_weights.pt")
    return step_dir


def write_run(
    root: Path,
    name: str,
    *steps: int,
    minute: int = 0,
    task: str = TASK,
    config: str = CONFIG,
    origin: Path | None = None,
) -> Path:
    run = root / name
    run.mkdir(parents=True)
    manifest = {
        "version": 1,
        "library": "rlinf",
        "task": task,
        "created_at": f"2026-01-01T00:{minute:02}:00+00:00",
        "metadata": {"config_name": config, **(resumed_from(origin, run) if origin else {})},
    }
    (run / MANIFEST_FILENAME).write_text(json.dumps(manifest))
    for step in steps:
        write_step(run, step)
    return run


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "logs"


def resolve(value, root, **kwargs):
    return resolve_checkpoint(str(value), log_root=root, task=TASK, config_name=CONFIG, **kwargs)


def failure(value, root, **kwargs):
    with pytest.raises(ConfigError) as error:
        resolve(value, root, **kwargs)
    (issue,) = error.value.issues
    assert issue.where == "--checkpoint"
    return issue


@pytest.mark.parametrize("form", ["{step}", "{step}/", "{step}/actor", "{step}/actor/model_state_dict", "{weights}"])
def test_every_documented_form_of_path(root, form):
    step_dir = write_step(write_run(root, "a"), 12)
    weights = step_dir / "actor/model_state_dict/full_weights.pt"
    for base in (step_dir, Path(os.path.relpath(step_dir))):
        found = resolve(form.format(step=base, weights=base / weights.relative_to(step_dir)), root, for_resume=True)
        assert (found.weights, found.step_dir, found.step) == (weights, step_dir, 12)
        assert found.resumable
        assert not str(found.step_dir).endswith("/")


def test_a_run_with_one_checkpoint(root):
    run = write_run(root, "a", 3)
    (run / "experiment/checkpoints/.global_step_4.partial/actor/model_state_dict").mkdir(parents=True)
    write_weights(run / "experiment/checkpoints/.global_step_4.partial/actor/model_state_dict/full_weights.pt")
    assert resolve(run, root).step == 3


def test_a_run_with_several_lists_them_in_order(root):
    issue = failure(write_run(root, "a", 9, 10, 2), root)
    assert issue.found.index("global_step_2") < issue.found.index("global_step_9") < issue.found.index("global_step_10")
    assert issue.fix.endswith("global_step_10")


def test_nothing_there(root):
    assert "does not exist" in failure("no/where", root).found
    step_dir = write_step(write_run(root, "a"), 5)
    assert "global_step_5" in failure(step_dir.with_name("global_step_6"), root).allowed
    assert "has 0 full_weights.pt" in failure(write_run(root, "b"), root).found


def test_half_written_checkpoints_are_refused_by_name(root):
    run = write_run(root, "a", 1)
    issue = failure(write_step(run, 2, whole=False), root)
    assert "half-written" in issue.found
    assert "global_step_1" in issue.fix
    cut = write_step(run, 3) / "actor/model_state_dict/full_weights.pt"
    cut.write_bytes(cut.read_bytes()[:40])
    assert "half-written" in failure(cut.parents[2], root).found
    assert "half-written" in failure(cut, root).found


def test_weights_alone_do_for_play_and_not_for_training(root):
    weights = write_weights(root / "exported/full_weights.pt")
    found = resolve(weights, root)
    assert (found.weights, found.step, found.resumable) == (weights, -1, False)
    issue = failure(weights, root, for_resume=True)
    assert "dcp_checkpoint" in issue.found
    assert "runner.ckpt_path" in issue.fix


def test_latest_is_the_highest_step_of_the_newest_run(root):
    write_run(root, "z-old", 500, minute=1)
    run = write_run(root, "a-new", 9, 10, minute=2)
    write_run(root, "other-task", 900, minute=3, task="Other-v0")
    write_run(root, "other-yaml", 900, minute=4, config="other")
    found = resolve("latest", root)
    assert found.step_dir == run / "experiment/checkpoints/global_step_10"
    assert found.notices == ()


def test_latest_agrees_with_isaaclab(root):
    from isaaclab_rl.entrypoints import common

    write_run(root, "a", 9, 10, minute=1)
    run = write_run(root, "b", 2, minute=2)
    common.write_run_manifest(str(run), library="rlinf", task=f"module:{TASK}", metadata={"config_name": CONFIG})
    theirs = common.resolve_checkpoint_selector(
        str(root),
        "latest",
        library="rlinf",
        task=TASK,
        checkpoint_pattern=r"full_weights[.]pt",
        metadata={"config_name": CONFIG},
        recursive=True,
    )
    assert str(resolve("latest", root).weights) == theirs
    assert (MANIFEST_FILENAME, 1) == (common.RUN_MANIFEST_FILENAME, common.RUN_MANIFEST_VERSION)


def test_latest_skips_half_written_steps_and_says_so(root):
    run = write_run(root, "a", 1, minute=1)
    write_step(run, 2, whole=False)
    write_run(root, "b", minute=2)
    found = resolve("latest", root)
    assert found.step == 1
    assert "b has no complete checkpoint" in found.notices
    assert any("global_step_2" in notice for notice in found.notices)


def test_best_is_what_the_run_says(root):
    run = write_run(root, "a", 1, 2, 3)
    assert f"has no {BEST_FILENAME}" in failure("best", root).found
    best = {"step_dir": "experiment/checkpoints/global_step_2", "metric": "success_once", "value": 0.9}
    (run / BEST_FILENAME).write_text(json.dumps(best))
    assert resolve("best", root).step == 2
    (run / BEST_FILENAME).write_text(json.dumps({**best, "step_dir": "experiment/checkpoints/global_step_7"}))
    assert "names global_step_7" in failure("best", root).found


def write_best(run: Path, step: int, value: float, metric: str = "eval/success_once") -> None:
    best = {"step_dir": f"experiment/checkpoints/global_step_{step}", "metric": metric, "value": value}
    (run / BEST_FILENAME).write_text(json.dumps(best))


def test_best_of_a_resumed_training_may_lie_in_the_run_before(root):
    first = write_run(root, "a", 1, 2)
    second = write_run(root, "b", 3, minute=1, origin=first / "experiment/checkpoints/global_step_2")
    write_best(first, 1, 0.95)
    write_best(second, 3, 0.90)
    found = resolve("best", root)
    assert (found.step, found.step_dir.is_relative_to(first)) == (1, True)
    assert any("of a, which b was resumed from (evaluated success 0.950)" in notice for notice in found.notices)
    write_best(second, 3, 0.95)
    assert resolve("best", root).step == 3


def test_best_never_compares_training_with_evaluation(root):
    first = write_run(root, "a", 1, 2)
    second = write_run(root, "b", 3, minute=1, origin=first / "experiment/checkpoints/global_step_2")
    write_best(first, 1, 0.99, metric="env/success_once")
    write_best(second, 3, 0.80)
    assert resolve("best", root).step == 3


def test_a_best_file_with_other_content_is_skipped_with_a_notice(root):
    run = write_run(root, "a", 1)
    for content in ("[]", '{"step_dir": 3}', '{"step_dir": "x", "value": "high", "metric": "eval/success_once"}'):
        (run / BEST_FILENAME).write_text(content)
        assert "cannot be read" in failure("best", root).found


def test_no_run_lists_what_is_there(root):
    assert "no run of task" in failure("latest", root).found
    write_run(root, "other-task", 1, task="Other-v0")
    (root / "broken").mkdir()
    (root / "broken" / MANIFEST_FILENAME).write_text("{")
    issue = failure("latest", root)
    assert "other-task (Other-v0, my_config)" in issue.allowed
    assert "broken (unreadable run.json)" in issue.allowed


def test_a_directory_called_latest_is_a_path(root):
    write_step(Path("latest"), 4)
    assert resolve("latest", root).step == 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        "{}",
        '{"version": 1, "library": "rlinf", "created_at": "2026-01-01"}',
        '{"version": 1, "library": "rl_games", "created_at": "2026-01-01", "metadata": {}}',
        "\\xff",
        "[" * 100_000,
    ],
    ids=range(10),
)
@pytest.mark.parametrize("selector", ["latest", "best"])
def test_a_run_whose_manifest_cannot_be_read_is_skipped_and_told(root, text, selector):
    run = write_run(root, "good", 3)
    best = {"step_dir": "experiment/checkpoints/global_step_3", "metric": "eval/success_once", "value": 0.9}
    (run / BEST_FILENAME).write_text(json.dumps(best))
    for name in ("broken", "z-broken"):
        (root / name).mkdir()
        (root / name / MANIFEST_FILENAME).write_bytes(b"\xff" if text == "\\xff" else text.encode())
    (root / "folder" / MANIFEST_FILENAME).mkdir(parents=True)
    found = resolve(selector, root)
    assert found.step == 3
    assert sum("run.json cannot be read" in notice for notice in found.notices) == 3


def test_several_weight_files_of_one_step_are_told_apart(root):
    step_dir = write_step(write_run(root, "a"), 5)
    write_weights(step_dir / "copy/full_weights.pt")
    issue = failure(step_dir.parent, root)
    assert "global_step_5/actor/model_state_dict/full_weights.pt" in issue.found
    assert "global_step_5/copy/full_weights.pt" in issue.found


def test_the_issue_names_the_key_that_the_value_is_from(root):
    with pytest.raises(ConfigError) as error:
        resolve("no/where", root, where="runner.ckpt_path")
    assert error.value.issues[0].where == "runner.ckpt_path"


def test_pointers_of_git_lfs_are_named(root):
    step_dir = write_step(write_run(root, "a"), 5)
    (step_dir / "actor/model_state_dict/full_weights.pt").write_bytes(POINTER)
    assert "Git LFS pointer" in failure(step_dir, root).found
