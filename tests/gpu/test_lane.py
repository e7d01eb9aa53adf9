# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The lane's own machinery: what is remembered, what a failure costs, and what the table says. No GPU, no torch."""

import importlib
import inspect
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_smoke import __main__ as command
from gpu_smoke import identity, outcome, plan, runner, table
from gpu_smoke.outcome import FAILED, NEEDS_CUDA, NEEDS_GPUS, NOT_RUN, PASSED, Result

WHERE = {"commit": "abc", "device": "cpu", "gpus": "none"}


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """Return a function that makes checks of source text, in a plan that the worker processes read as well."""
    package = tmp_path / "made_up"
    package.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(package), *sys.path]))

    def make(**sources):
        lines = [
            "import sys, types",
            "import gpu_smoke.plan as plan",
            "from gpu_smoke.plan import Check",
            "checks = []",
        ]
        for name, (source, after) in sources.items():
            body = "\n".join(f"    {line}" for line in source.splitlines())
            lines += [f"module = types.ModuleType('gpu_smoke.checks.{name}')"]
            lines += [
                f"exec({('import os, time' + chr(10) + 'def run(context):' + chr(10) + body)!r}, module.__dict__)"
            ]
            lines += [f"sys.modules['gpu_smoke.checks.{name}'] = module"]
            lines += [f"checks.append(Check({name!r}, 'group', 'proves', {name!r}, after={after!r}, limit=2.0))"]
        # sitecustomize is imported by every process of this interpreter before anything else
        (package / "sitecustomize.py").write_text("\n".join([*lines, "plan.CHECKS = tuple(checks)"]))
        return [
            plan.Check(name, "group", "proves", name, after=after, limit=2.0) for name, (_, after) in sources.items()
        ]

    return make


def lane(tmp_path, **settings):
    return runner.Lane("cpu", tmp_path / "results", WHERE, **settings)


def states(results):
    return {name: result.status for name, result in results.items()}


def test_each_end_is_booked_and_a_failure_costs_only_what_needs_it(made_up, tmp_path):
    checks = made_up(
        good=("context.measured['speed'] = 3", ()),
        bad=("from gpu_smoke.outcome import require\nrequire(False, 'too slow\\nfor reasons')", ()),
        error=("raise KeyError('x')", ()),
        cpu=("from gpu_smoke.outcome import NeedsCuda\nraise NeedsCuda('ran as far as it goes')", ()),
        alone=("from gpu_smoke.outcome import NeedsGpus\nraise NeedsGpus('needs 2 GPUs, here is 1')", ()),
        dependent=("pass", ("bad",)),
        fine=("pass", ("good",)),
    )
    told = []
    results = lane(tmp_path, tell=told.append).run(checks)
    assert states(results) == {
        "good": PASSED, "bad": FAILED, "error": FAILED, "cpu": NEEDS_CUDA, "alone": NEEDS_GPUS, "dependent": NOT_RUN,
        "fine": PASSED,
    }  # fmt: skip
    assert [result.name for result in told] == list(results)
    assert results["bad"].note == "too slow" and results["good"].note == "speed 3"
    assert results["error"].note == "KeyError: 'x'"
    assert "bad" in results["dependent"].reason
    assert "Traceback" in (tmp_path / "results/error.log").read_text()


def test_a_process_that_dies_or_hangs_costs_one_check(made_up, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "CPU_PATIENCE", 3.0)
    checks = made_up(
        killed=("print('last words', flush=True)\nos.kill(os.getpid(), 9)", ()),
        hanging=("time.sleep(100)", ()),
        fine=("pass", ()),
    )
    started = time.monotonic()
    results = lane(tmp_path).run(checks)
    assert states(results) == {"killed": FAILED, "hanging": FAILED, "fine": PASSED}
    assert (
        results["killed"].note == "its process ended by signal 9, SIGKILL" and "last words" in results["killed"].reason
    )
    assert results["hanging"].note == "did not end within 6 s"
    assert time.monotonic() - started < 30


def test_passed_checks_are_remembered_with_code_and_machine(made_up, tmp_path):
    checks = made_up(good=("print(1)", ()), bad=("raise ValueError('no')", ()))
    assert not any(result.kept for result in lane(tmp_path).run(checks).values())
    again = lane(tmp_path).run(checks)
    assert (again["good"].kept, again["bad"].kept) == (True, False)
    asked = lane(tmp_path, again=frozenset({"good"})).run(checks)
    assert not asked["good"].kept
    elsewhere = lane(tmp_path)
    elsewhere.where = WHERE | {"commit": "def"}
    assert not elsewhere.run(checks)["good"].kept


def test_a_result_that_is_cut_short_counts_for_nothing(tmp_path):
    outcome.write_result(tmp_path, Result("good", PASSED, where=WHERE))
    assert outcome.kept_result(tmp_path, "good", WHERE).kept
    whole = (tmp_path / "good.json").read_text()
    (tmp_path / "good.json").write_text(whole[: len(whole) // 2])
    assert outcome.kept_result(tmp_path, "good", WHERE) is None
    (tmp_path / "good.json").write_text(json.dumps({"unknown": 1}))
    assert outcome.read_result(tmp_path, "good") is None


def test_the_plan_holds_together():
    names = [check.name for check in plan.CHECKS]
    assert len(set(names)) == len(names)
    for number, check in enumerate(plan.CHECKS):
        assert set(check.after) <= {other.name for other in plan.CHECKS[:number] if other.group == check.group}, (
            check.name
        )
        module = importlib.import_module(f"gpu_smoke.checks.{check.module}")
        inspect.signature(module.run).bind(None, *check.args)
    modules = {path.stem for path in (Path(plan.__file__).parent / "checks").glob("*.py")} - {"__init__"}
    assert modules == {check.module for check in plan.CHECKS}
    with pytest.raises(ValueError, match=r"no check tarin; there are machine"):
        plan.named(["tarin"])


def test_the_page_explains_every_number_group_and_flag():
    page = (Path(__file__).parents[2] / "docs/gpu.md").read_text()
    numbers = {number for check in plan.CHECKS for number in check.defects}
    assert all(f"\n| {number} | " in page for number in numbers)
    assert all(f"| `{group}` |" in page for group in plan.GROUPS)
    assert all(flag in page for flag in ("--again", "--only", "--serial", "--device cpu", "--results", "--list"))


def test_table_and_report_show_every_check_and_whole_reasons():
    checks = plan.CHECKS[:3]
    ends = (PASSED, FAILED, NEEDS_CUDA)
    results = {
        check.name: Result(check.name, end, 12.3, f"first {check.name}\nsecond line", {"speed": 3})
        for check, end in zip(checks, ends, strict=True)
    }
    results[checks[0].name] = replace(results[checks[0].name], kept=True)
    shown = table.terminal_table(checks, results)
    assert "passed (kept)" in shown and "speed 3" in shown and "first refusals" in shown and "second line" not in shown
    assert all(len(line) <= 140 for line in shown.splitlines())
    written = table.report(checks, results, WHERE, {"torch": "2.11"}, 61.7)
    assert "- commit: abc" in written and "second line" in written
    assert "1 passed, 1 FAILED, 1 needs CUDA; this call took 62 s" in written


def test_paths_of_the_home_directory_are_not_in_the_report():
    check = plan.CHECKS[0]
    results = {check.name: Result(check.name, FAILED, reason=f"no file {Path.home()}/secret/model")}
    assert "no file ~/secret/model" in table.report([check], results, WHERE, {}, 1.0)


def test_without_a_gpu_the_command_says_so_and_starts_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "gpu_count", lambda: 0)
    assert command.main(["--results", str(tmp_path / "results")]) == 0
    assert "skipped: torch finds no GPU" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_an_unknown_check_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["--again", "tarin"])
    assert ended.value.code == 2
    assert "no check tarin" in capsys.readouterr().err


def test_the_command_runs_and_writes_the_report(made_up, monkeypatch, capsys, tmp_path):
    checks = made_up(good=("pass", ()), bad=("raise ValueError('no')", ()))
    monkeypatch.setattr(plan, "CHECKS", tuple(checks))
    assert command.main(["--device", "cpu", "--results", str(tmp_path / "results")]) == 1
    out = capsys.readouterr().out
    assert "1 passed, 1 FAILED" in out and "ValueError: no" in out
    assert "| bad | proves |" in (tmp_path / "results/cpu/report.md").read_text()


def test_identity_changes_with_the_code(monkeypatch, tmp_path):
    code = tmp_path / "source/one.py"
    code.parent.mkdir()
    code.write_text("a = 1\n")
    monkeypatch.setattr(identity, "ROOT", tmp_path)
    monkeypatch.setattr(identity, "_output", lambda *command: "")
    before = identity.commit()
    code.write_text("a = 2\n")
    assert before.startswith("no git") and identity.commit() != before
    monkeypatch.setattr(identity, "_output", lambda *command: "0123" if "rev-parse" in command else "")
    assert identity.commit() == "0123"
    monkeypatch.setattr(identity, "_output", lambda *command: "0123" if "rev-parse" in command else " M one.py")
    assert identity.commit().startswith("0123+")


def test_gpus_are_named_and_counted(monkeypatch):
    monkeypatch.setattr(identity, "_output", lambda *command: "NVIDIA L4\nNVIDIA L4\nNVIDIA T4")
    assert identity.describe(identity.gpu_names()) == "2 x NVIDIA L4, 1 x NVIDIA T4"
    assert identity.describe([]) == "none"
