# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What weight files tell by their headers: names, shapes, and that they are whole."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.models.inspect import checkpoint_facts, read_json
from isaaclab_rlinf.models.tiny_vla_shapes import VALUE_HEAD, expected_shapes
from isaaclab_rlinf.models.torch_file import check_distributed, read_state_dict
from isaaclab_rlinf.models.torch_tensors import read_tensors
from isaaclab_rlinf.models.weight_files import differences, read_header, read_shapes, refuse_pointers
from weight_stubs import POINTER

STATE = {
    "a.weight": torch.randn(2, 3),
    "b": torch.zeros((), dtype=torch.int64),
    "c": torch.randn(4, 5, dtype=torch.bfloat16),
    "d": torch.zeros(0, 7),
    "e": torch.tensor([True, False]),
}
SHAPES = {key: tuple(value.shape) for key, value in STATE.items()}


@pytest.fixture
def file(tmp_path):
    save_file(STATE, tmp_path / "model.safetensors", metadata={"format": "pt"})
    return tmp_path / "model.safetensors"


def test_headers_agree_with_the_library(file):
    assert read_header(file) == SHAPES == read_shapes(file.parent)


@pytest.mark.parametrize("size", [0, 4, 8, 60, -1, -30])
def test_a_file_cut_anywhere_is_refused(file, size):
    os.truncate(file, size if size >= 0 else file.stat().st_size + size)
    with pytest.raises(ValueError, match="cut short"):
        read_header(file)


@pytest.mark.parametrize(
    "content",
    [b"\xff" * 200, b"PK\x03\x04" + b"x" * 100, b"{}" * 50, (2).to_bytes(8, "little") + b"[]"],
    ids=list("abcd"),
)
def test_other_files_are_refused(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match="no safetensors file"):
        read_header(file)


def test_pointers_are_named_as_such(file):
    file.write_bytes(POINTER)
    with pytest.raises(ValueError, match=r"Git LFS pointer.*git lfs pull"):
        read_header(file)
    (file.parent / "processor").mkdir()
    (file.parent / "processor/tokenizer.json").write_bytes(POINTER)
    with pytest.raises(ValueError, match=r"pointers in place of model.safetensors, processor/tokenizer.json"):
        refuse_pointers(file.parent)
    with pytest.raises(ValueError, match="Git LFS pointer"):
        read_json(file.parent / "processor/tokenizer.json")


@pytest.fixture
def shards(tmp_path):
    halves = {"one.safetensors": list(STATE)[:2], "two.safetensors": list(STATE)[2:]}
    for name, keys in halves.items():
        save_file({key: STATE[key] for key in keys}, tmp_path / name)
    weight_map = {key: name for name, keys in halves.items() for key in keys}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return tmp_path


def test_shards(shards):
    assert read_shapes(shards) == SHAPES
    (shards / "two.safetensors").unlink()
    with pytest.raises(ValueError, match=r"names 2 files, of which 1 are absent: two.safetensors"):
        read_shapes(shards)
    shutil.copy(shards / "one.safetensors", shards / "two.safetensors")
    with pytest.raises(ValueError, match=r"differ: 5 weights are not in the file"):
        read_shapes(shards)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"weight_map": {}}', '{"weight_map": {"a": 3}}', '{"weight_map": {"a": "../x"}}']
)
def test_an_index_that_is_none(shards, text):
    (shards / "model.safetensors.index.json").write_text(text)
    with pytest.raises(ValueError, match=r"index.json (cannot be read|names a file outside)"):
        read_shapes(shards)


def test_differences_are_counted_and_named():
    found = {"a": (1,), "b": (2,), "head.x": (3,)}
    assert differences(found, {"a": (1,), "b": (2,)}, optional=["head."]) == ""
    assert differences(found, {"a": (4,), "c": (2,)}) == (
        "1 missing (first: c); 2 unexpected (first: b, head.x); 1 of another shape (first: a: [1], not [4])"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "image_views": ["a", "b", "c"],
            "context_layers": 3,
            "action_layers": 1,
            "patch_widths": [8],
            "merge_factors": [4],
        },
    ],
)
def test_shapes_of_a_tiny_vla_are_those_of_the_model(changes):
    from isaaclab_rlinf.models.tiny_vla import TinyVLAConfig, TinyVLAModel

    config = TinyVLAConfig(**changes)
    model = TinyVLAModel(config)
    assert expected_shapes(config.to_dict()) == {key: tuple(value.shape) for key, value in model.state_dict().items()}
    assert VALUE_HEAD == "value_head."


def test_weights_of_another_tiny_vla_are_refused(tmp_path):
    path = shutil.copytree(bundled_checkpoint(), tmp_path / "base")
    config = read_json(path / "config.json")
    (path / "config.json").write_text(json.dumps({**config, "context_layers": 3}))
    with pytest.raises(ValueError, match=r"do not fit the model that its config.json describes: 12 missing"):
        checkpoint_facts(path)


# files of torch.save


@pytest.fixture
def saved(tmp_path):
    def save(content, name="full_weights.pt", **options):
        torch.save(content, tmp_path / name, **options)
        return tmp_path / name

    return save


def test_names_and_shapes_of_a_state_dict(saved):
    tied = {**STATE, "tied": STATE["a.weight"], "part": STATE["c"][1:3], "parameter": nn.Parameter(torch.zeros(2))}
    expected = {**SHAPES, "tied": (2, 3), "part": (2, 5), "parameter": (2,)}
    assert read_state_dict(saved(tied)) == expected
    assert read_state_dict(saved(nn.BatchNorm1d(3).state_dict()))["num_batches_tracked"] == ()


def test_tensors_are_those_that_torch_reads(saved):
    kinds = ["uint8", "int8", "bool", "int16", "float16", "bfloat16", "int32", "float32", "int64", "float64"]
    kinds += ["complex64", "uint16", "float8_e4m3fn"]
    numbers = torch.arange(12.0)
    state = {kind: numbers.to(getattr(torch, kind)) for kind in kinds}
    grid = numbers.view(3, 4)
    state |= {
        "part": grid[1:, 2:],
        "turned": grid.T,
        "tied": grid,
        "scalar": torch.tensor(3),
        "empty": torch.ones(0, 2),
    }
    state |= {"broadcast": torch.ones(1).expand(5), "parameter": nn.Parameter(torch.ones(2))}
    file = saved(state)
    read, expected = dict(read_tensors(file)), torch.load(file, weights_only=True)
    assert read.keys() == expected.keys()
    for name, tensor in expected.items():
        assert read[name].dtype == tensor.dtype and read[name].shape == tensor.shape, name
        ours, theirs = (value.view(torch.uint8) if "float8" in name else value for value in (read[name], tensor))
        assert torch.equal(ours, theirs), name


class Custom:
    ran = False

    def __reduce__(self):
        return (exec, ("raise SystemExit('ran')",))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ([torch.zeros(1)], "holds list, not a state dict"),
        (torch.zeros(1), "holds tensor, not a state dict"),
        ({}, "holds an empty dict"),
        (nn.Linear(2, 2), "holds torch.nn.modules.linear.Linear"),
        (Custom(), r"holds .*exec"),
        ({"a": torch.zeros(1), "step": 3, "b": [torch.zeros(1)]}, r"2 of 3 entries hold no tensor: 'step' \(int\)"),
        ({"epoch": 3, "model": {"w": torch.zeros(1)}}, "the weights seem to be under 'model'"),
    ],
)
def test_other_contents_are_refused_and_nothing_in_them_runs(saved, content, found):
    with pytest.raises(ValueError, match=found):
        read_state_dict(saved(content))


def test_damaged_torch_files_are_refused(saved, tmp_path):
    import zipfile

    file = saved(STATE)
    whole = file.read_bytes()
    for content in (b"", b"x" * 50, whole[: len(whole) // 2], whole[:-1000], POINTER):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged|LFS"):
            read_state_dict(file)
    file.write_bytes(whole)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(tmp_path / "less.pt", "w") as new:
        for name in old.namelist():
            if not name.endswith("data/0"):
                new.writestr(name, old.read(name))
    with pytest.raises(ValueError, match=r"data/0.* is absent"):
        read_state_dict(tmp_path / "less.pt")


def test_parts_of_a_distributed_checkpoint(tmp_path):
    from torch.distributed import checkpoint

    checkpoint.save({"a": torch.zeros(100), "b": {"c": 3}}, checkpoint_id=tmp_path, no_dist=True)
    check_distributed(tmp_path)
    (part,) = tmp_path.glob("*.distcp")
    os.truncate(part, part.stat().st_size - 1)
    with pytest.raises(ValueError, match="is cut short"):
        check_distributed(tmp_path)
    part.unlink()
    with pytest.raises(ValueError, match="is absent"):
        check_distributed(tmp_path)
    (tmp_path / ".metadata").write_bytes(b"\x80")
    with pytest.raises(ValueError, match="cannot be read"):
        check_distributed(tmp_path)


def test_headers_are_read_without_torch():
    code = (
        "import sys; from isaaclab_rlinf.models.inspect import checkpoint_facts as f, Path;"
        "from isaaclab_rlinf.models import torch_file;"
        "from isaaclab_rlinf.models.base import bundled_checkpoint as b; f(b());"
        "print([m for m in ('torch', 'transformers', 'safetensors') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
