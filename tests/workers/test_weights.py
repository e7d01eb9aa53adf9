# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import struct
from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.workers import weights
from isaaclab_rlinf.workers.weights import build_and_load, load_full_weights


@pytest.fixture
def checkpoint(tmp_path):
    file = tmp_path / "full_weights.pt"
    torch.save({"weight": torch.full((2, 3), 7.0), "bias": torch.full((2,), 8.0)}, file)
    return str(file)


def test_report_counts_matched_keys(checkpoint):
    model = torch.nn.Linear(3, 2)
    report = load_full_weights(model, checkpoint)
    assert (report.matched, report.total, report.file) == (2, 2, checkpoint)
    assert torch.equal(model.weight, torch.full((2, 3), 7.0))


def test_no_matching_key_is_an_error_and_changes_nothing(checkpoint):
    model = torch.nn.Sequential(torch.nn.Linear(3, 2))
    before = model[0].weight.clone()
    with pytest.raises(ValueError, match=r"0 of 2 keys match; 2 missing \(first: 0\.bias, 0\.weight\); 2 unexpected"):
        load_full_weights(model, checkpoint)
    assert torch.equal(model[0].weight, before)


def test_other_shape_is_an_error(checkpoint):
    with pytest.raises(ValueError, match="1 of another shape"):
        load_full_weights(torch.nn.Linear(4, 2), checkpoint)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ([torch.zeros(2)], "holds list"),
        ({"weight": torch.zeros(2, 3), "bias": 3}, r"1 of 2 entries hold no tensor: 'bias' \(int\)"),
        (torch.nn.Linear(3, 2), r"holds torch\.nn\.modules\.linear\.Linear"),
    ],
)
def test_files_without_a_state_dict_are_one_clean_error(tmp_path, content, found):
    torch.save(content, tmp_path / "full_weights.pt")
    with pytest.raises(ValueError, match=found):
        load_full_weights(torch.nn.Linear(3, 2), str(tmp_path / "full_weights.pt"))


def test_damaged_numbers_are_one_clean_error(checkpoint):
    content = bytearray(Path(checkpoint).read_bytes())
    content[content.index(struct.pack("<6f", *[7.0] * 6))] ^= 1
    Path(checkpoint).write_bytes(content)
    with pytest.raises(ValueError, match=r"is damaged: the data of weight: Bad CRC-32"):
        load_full_weights(torch.nn.Linear(3, 2), checkpoint)


def test_a_checkpoint_is_loaded_in_parts(checkpoint, monkeypatch):
    monkeypatch.setattr(weights, "_PART_BYTES", 1)
    model, parts = torch.nn.Linear(3, 2).double(), []
    load = model.load_state_dict
    monkeypatch.setattr(model, "load_state_dict", lambda part, strict: parts.append(list(part)) or load(part, strict))
    load_full_weights(model, checkpoint)
    assert parts == [["weight"], ["bias"], []]
    assert model.weight.dtype == torch.float64 and model.weight.eq(7).all() and model.bias.eq(8).all()


def test_an_actor_loads_the_checkpoint_with_our_errors(checkpoint):
    cfg = OmegaConf.create({"runner": {"ckpt_path": checkpoint}})
    seen = []

    def build():
        seen.append(cfg.runner.ckpt_path)  # RLinf would load it with torch's text
        return torch.nn.Linear(3, 2)

    assert torch.equal(build_and_load(cfg, build).weight, torch.full((2, 3), 7.0))
    assert seen == [None] and cfg.runner.ckpt_path == checkpoint
    with pytest.raises(ValueError, match="does not fit the model"):
        build_and_load(cfg, lambda: torch.nn.Linear(4, 2))
    assert cfg.runner.ckpt_path == checkpoint


@pytest.mark.parametrize("module", ["actor", "sac_actor"])
def test_actors_build_their_model_so(module, checkpoint, monkeypatch):
    import importlib

    module = importlib.import_module(f"isaaclab_rlinf.workers.{module}")
    worker = next(value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__)
    parent = next(base for base in worker.__mro__[1:] if "model_provider_func" in vars(base))
    monkeypatch.setattr(parent, "model_provider_func", lambda self: torch.nn.Linear(3, 2))
    actor = worker.__new__(worker)
    actor.cfg = OmegaConf.create({"runner": {"ckpt_path": checkpoint}})
    assert torch.equal(actor.model_provider_func().weight, torch.full((2, 3), 7.0))
