# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Starting a simulator is never silent, and gives up when the YAML says so, in every command."""

import ast
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from omegaconf import OmegaConf

import isaaclab_rlinf
from isaaclab_rlinf import waiting as module
from isaaclab_rlinf.env.protocol import SimulatorError
from isaaclab_rlinf.env.settings import simulator_timeouts
from isaaclab_rlinf.inspection import simulate
from isaaclab_rlinf.waiting import waiting


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(module, "WORD_SECONDS", 0.02)


def test_a_word_now_and_then_and_none_afterwards():
    told, deadline = [], time.monotonic() + 30
    with waiting("starting", told.append, 900.0):
        while len(told) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    count = len(told)
    time.sleep(0.1)
    assert len(told) == count >= 2
    assert told[0].startswith("Still starting: ")
    assert told[0].endswith(" of at most 900 s")


def test_a_failure_goes_through():
    with pytest.raises(ZeroDivisionError), waiting("starting", print):
        raise ZeroDivisionError


def test_only_timeouts_that_are_set_are_handed_on():
    section = OmegaConf.create({"init_params": {"start_timeout": 7, "step_timeout": None}})
    assert simulator_timeouts(section) == {"start_timeout": 7.0}


def test_check_sim_waits_as_long_as_the_yaml_says_and_says_so(tmp_path, monkeypatch):
    seen, told, word = {}, [], threading.Event()

    def start(spec, **timeouts):
        seen.update(timeouts)
        word.wait(30)
        raise SimulatorError("did not answer within 7 s")

    monkeypatch.setattr(simulate, "Simulator", start)
    monkeypatch.setattr(simulate, "_tell", lambda text: (told.append(text), word.set()))
    monkeypatch.setattr(simulate, "_distinct_specs", lambda *args: {"train": SPEC})
    monkeypatch.setattr("isaaclab_rlinf.inspection.sim_report.print_look", lambda *args: True)
    monkeypatch.setattr("isaaclab_rlinf.inspection.sim_report.print_failure", lambda *args: 1)
    section = {"init_params": {"start_timeout": 7}}
    cfg = OmegaConf.create({"env": {"train": section}, "actor": {"model": {}}})
    assert simulate.inspect_runs({"train": SimpleNamespace(cfg=cfg)}, "cpu", 2, tmp_path / "out") == 1
    assert seen == {"start_timeout": 7.0}
    assert told[0].startswith("Still starting the simulator: ")
    assert told[0].endswith(" of at most 7 s")


SPEC = simulate.SimulatorSpec(task_id="A-v0", num_envs=2, seed=0, device="cpu", block=None, chunk_length=1)


@pytest.mark.parametrize("file", ["backends/train.py", "backends/play.py", "workflow/collect.py"])
def test_nothing_starts_a_simulator_in_silence(file):
    tree = ast.parse((Path(isaaclab_rlinf.__file__).parent / file).read_text())
    spoken = [
        ast.unparse(node.body)
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and any("waiting(" in ast.unparse(item) for item in node.items)
    ]
    assert any(call in text for text in spoken for call in ("init_workers()", "open_isaac_env("))
