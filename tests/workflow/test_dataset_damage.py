# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Datasets that are damaged, incomplete, mixed up or of another format: a ConfigError, or the very same data."""

import copy
import json
import shutil
import socket
import sys
from pathlib import Path

import pytest
import torch
from make_dataset import make_dataset

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.workflow.dataset_memory import load_demonstrations


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Datasets with images and with videos, and another one of each."""
    place = tmp_path_factory.mktemp("whole")
    return {
        "image": make_dataset(place / "image"),
        "video": make_dataset(place / "video", video=True),
        "other image": make_dataset(place / "other_image", (2, 2, 2)),
        "other video": make_dataset(place / "other_video", (2, 2, 2), video=True),
    }


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """No hub is asked, whatever is missing."""

    def refuse(*args, **kwargs):
        pytest.fail("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def same(data, expected):
    return (
        torch.equal(data.images, expected.images)
        and torch.equal(data.state, expected.state)
        and torch.equal(data.action, expected.action)
        and data.tasks == expected.tasks
        and torch.equal(data.last_frame, expected.last_frame)
    )


def outcome(root, expected, where):
    """Return "refused" or "same"; anything else fails."""
    try:
        data = load_demonstrations(root)
    except ConfigError as error:
        assert all(issue.where.startswith(("--dataset", "features of")) for issue in error.issues), where
        return "refused"
    except Exception as error:
        pytest.fail(f"{where}: {type(error).__name__}: {error}")
    assert same(data, expected), f"{where}: other data came back without a word"
    return "same"


def halved(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = {
    "drop": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "halve": halved,
    "garbage": lambda path: path.write_bytes(b"\xff\x00 not what it was" * 20),
    "list": lambda path: path.write_text("[1, 2]"),
    "pointer": lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
    "rename": lambda path: path.rename(path.with_name(f"{path.stem}-old{path.suffix}")),
    "directory": lambda path: (path.unlink(), path.mkdir()),
}
NEEDED = ("info.json", "tasks.parquet", "file-000.parquet", "file-000.mp4")


@pytest.mark.parametrize("kind", ["image", "video"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_every_file_damaged(whole, tmp_path, kind, damage):
    expected = load_demonstrations(whole[kind])
    names = [path.relative_to(whole[kind]) for path in sorted(whole[kind].rglob("*")) if path.is_file()]
    assert {name.name for name in names} >= set(NEEDED[: 4 if kind == "video" else 3])
    for name in names:
        root = shutil.copytree(whole[kind], tmp_path / name.as_posix().replace("/", "+"))
        DAMAGES[damage](root / name)
        told = outcome(root, expected, f"{damage} {name}")
        found_by_pattern = damage == "rename" and "episodes" in name.parts  # any file name does, as in LeRobot
        if name.name in NEEDED and not found_by_pattern:
            assert told == "refused", f"{damage} {name}"


@pytest.mark.parametrize("kind", ["image", "video"])
def test_every_directory_dropped(whole, tmp_path, kind):
    expected = load_demonstrations(whole[kind])
    for name in [path.relative_to(whole[kind]) for path in sorted(whole[kind].rglob("*")) if path.is_dir()]:
        root = shutil.copytree(whole[kind], tmp_path / name.as_posix().replace("/", "+"))
        shutil.rmtree(root / name)
        empty = name.parts[0] == "images"  # what LeRobot's writer leaves behind
        assert outcome(root, expected, f"drop {name}") == ("same" if empty else "refused")


@pytest.mark.parametrize("kind", ["image", "video"])
def test_files_of_another_dataset(whole, tmp_path, kind):
    expected, other = load_demonstrations(whole[kind]), whole[f"other {kind}"]
    for path in sorted(path for path in other.rglob("*") if path.is_file() and path.name != "stats.json"):
        name = path.relative_to(other)
        root = shutil.copytree(whole[kind], tmp_path / name.as_posix().replace("/", "+"))
        shutil.copyfile(path, root / name)
        if name.suffix != ".mp4":  # frames of another video are pictures like any
            assert outcome(root, expected, f"foreign {name}") == "refused"


def test_files_swapped(whole, tmp_path):
    expected = load_demonstrations(whole["image"])
    names = [path.relative_to(whole["image"]) for path in whole["image"].rglob("*.parquet")]
    for first in names:
        for second in names:
            if first < second:
                root = shutil.copytree(whole["image"], tmp_path / f"{first}+{second}".replace("/", "+"))
                shutil.copyfile(whole["image"] / second, root / first)
                shutil.copyfile(whole["image"] / first, root / second)
                assert outcome(root, expected, f"{first} <-> {second}") == "refused"


def info_mutations(info):
    """Yield (name, mutated) for every key: removed, or of another kind."""
    for key in info:
        yield f"no {key}", {k: v for k, v in info.items() if k != key}
        for wrong in (None, "x", -1, 0, True, [], {}, 1.5, [1], {"a": 1}):
            yield f"{key}: {wrong!r}", {**info, key: wrong}
    for feature in info["features"]:
        for key in ("dtype", "shape", "names"):
            for wrong in (None, "x", -1, [], {}, [5], [0], ["a"], [16, 16], [8, 8, 3]):
                mutated = copy.deepcopy(info)
                mutated["features"][feature][key] = wrong
                yield f"features.{feature}.{key}: {wrong!r}", mutated


def test_info_with_every_key_broken(whole, tmp_path):
    expected = load_demonstrations(whole["image"])
    root = shutil.copytree(whole["image"], tmp_path / "data")
    file = root / "meta" / "info.json"
    info = json.loads(file.read_text())
    told = {}
    for name, mutated in info_mutations(info):
        file.write_text(json.dumps(mutated))
        told[name] = outcome(root, expected, name)
    for name in ("codebase_version", "features", "total_frames", "total_episodes", "fps"):
        assert told[f"no {name}"] == "refused"
    assert told["data_path: 'x'"] == told["features.action.shape: [5]"] == "refused"
    for text in ("", "{", '{"codebase_version": "v3.0"', "null", "\ufeff{}", "NaN", "[" * 100_000):
        file.write_text(text)
        assert outcome(root, expected, text[:20]) == "refused"


def test_the_old_format_is_named_with_the_way_to_convert_it(tmp_path, capsys):
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(json.dumps({"codebase_version": "v2.1", "fps": 10}))
    (tmp_path / "meta" / "episodes.jsonl").touch()
    with pytest.raises(ConfigError, match=r"'v2\.1'; allowed: v3\.0; fix: .*convert_dataset_v21_to_v30 .*--root="):
        load_demonstrations(tmp_path)
    assert main(["sft", "--dataset", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert "v2.1" in told and "Traceback" not in told and not (tmp_path / "out").exists()


def test_everything_that_is_missing_is_told_at_once(whole, tmp_path):
    root = shutil.copytree(whole["video"], tmp_path / "data")
    (root / "meta" / "tasks.parquet").unlink()
    shutil.rmtree(root / "meta" / "episodes")
    with pytest.raises(ConfigError) as caught:
        load_demonstrations(root)
    assert len(caught.value.issues) == 2


def test_pictures_in_files_of_their_own(whole, tmp_path):
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    expected = load_demonstrations(whole["image"])
    root = shutil.copytree(whole["image"], tmp_path / "data")
    file = next((root / "data").rglob("*.parquet"))
    table, name = pq.read_table(file), "observation.images.main_images"
    paths = []
    for index, value in enumerate(table[name].to_pylist()):
        path = root / f"{index}.png"
        path.write_bytes(io.BytesIO(value["bytes"]).read())
        paths.append({"bytes": None, "path": path.name})
    column = pa.array(paths, type=table.schema.field(name).type)
    pq.write_table(table.set_column(table.column_names.index(name), name, column), file)
    assert outcome(root, expected, "pictures beside") == "same"
    for damage in (halved, DAMAGES["drop"]):
        damage(root / "4.png")
        with pytest.raises(ConfigError, match=r"4\.png"):
            load_demonstrations(root)


def test_lerobot_itself_is_not_asked(whole, monkeypatch):
    monkeypatch.setitem(sys.modules, "lerobot.datasets.lerobot_dataset", None)
    assert load_demonstrations(Path(whole["image"])).episodes == 2
