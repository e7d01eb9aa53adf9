# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Checkpoint directories, damaged in every way a download or a disk can: each is refused in one report, or works.

Every file of a base checkpoint and of a training checkpoint is dropped, emptied, cut, renamed, exchanged for another,
replaced by a pointer of Git LFS, by a directory and by JSON of another shape. What train, play, sft and export do
before they start anything may only raise :class:`ConfigError`.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from omegaconf import DictConfig

from isaaclab_rlinf.backends.cli_args import parse_play_args, parse_train_args
from isaaclab_rlinf.backends.prepare import compose, prepare_play, prepare_train
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.workflow.export import _check_base as check_base
from weight_stubs import POINTER, write_safetensors

sys.path.append(str(Path(__file__).parent))
import tiny_gr00t


def _cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _cut_a_byte(file: Path) -> None:
    os.truncate(file, max(0, file.stat().st_size - 1))


def _directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _noise(file: Path) -> None:
    file.write_bytes(bytes(range(256)) * 4)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "dropped": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut": _cut,
    "cut by a byte": _cut_a_byte,
    "renamed": lambda file: file.rename(file.with_name(f"{file.name}.1")),
    "pointer": lambda file: file.write_bytes(POINTER),
    "directory": _directory,
    "noise": _noise,
    "list": lambda file: file.write_text("[1, 2]"),
    "object": lambda file: file.write_text('{"a": null}'),
    "link to nowhere": lambda file: (file.unlink(), file.symlink_to("nowhere")),
}


def damages(directory: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Yield every damage of a directory: a name, and what makes it in a copy."""
    names = sorted(str(file.relative_to(directory)) for file in directory.rglob("*") if file.is_file())
    for name in names:
        for how, damage in DAMAGES.items():
            yield f"{name} {how}", lambda copy, name=name, damage=damage: damage(copy / name)
        other = names[(names.index(name) + 1) % len(names)]
        yield f"{name} is {other}", lambda copy, name=name, other=other: shutil.copy(copy / other, copy / name)
        if name.endswith(".json"):
            for key in json.loads((directory / name).read_text()):
                yield f"{name} without {key}", lambda copy, name=name, key=key: _edit(copy / name, key)
                yield f"{name} {key}: x", lambda copy, name=name, key=key: _edit(copy / name, key, "x")
                yield f"{name} {key}: []", lambda copy, name=name, key=key: _edit(copy / name, key, [])


def _edit(file: Path, key: str, *value: object) -> None:
    content = json.loads(file.read_text())
    del content[key]
    file.write_text(json.dumps({**content, key: value[0]} if value else content))


def tried(source: Path, work: Path, run: Callable[[Path], object], keep=lambda name: True) -> dict[str, str]:
    """Return the outcome of every damage: ``refused``, ``accepted``, or what was raised."""
    outcomes = {}
    for name, damage in damages(source):
        if not keep(name):
            continue
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(source, work)
        damage(work)
        try:
            run(work)
            outcomes[name] = "accepted"
        except ConfigError as error:
            told = "".join(str(issue) for issue in error.issues)
            outcomes[name] = "refused" if str(work) in told or "no/where" in told else f"does not name it: {told}"
        except BaseException as error:
            outcomes[name] = f"{type(error).__name__}: {error}"
    return outcomes


def other_than(outcomes: dict[str, str], *allowed: str) -> dict[str, str]:
    return {name: outcome for name, outcome in outcomes.items() if outcome not in allowed}


def of_weights(outcomes: dict[str, str]) -> dict[str, str]:
    """Return damages of weight files and indices, all of which must be refused."""
    files = {name: outcome for name, outcome in outcomes.items() if "safetensors" in name.split(" ")[0]}
    return {name: outcome for name, outcome in files.items() if "metadata" not in name}  # nothing reads an index's


@pytest.fixture(scope="module")
def n1d7(tmp_path_factory) -> Path:
    return tiny_gr00t.make(tmp_path_factory.mktemp("n1d7") / "base")


@pytest.fixture(scope="module")
def sharded(n1d7, tmp_path_factory) -> Path:
    """The same in three shards."""
    from safetensors.torch import load_file, save_file

    path = tmp_path_factory.mktemp("sharded") / "base"
    shutil.copytree(n1d7, path)
    weights = load_file(path / "model.safetensors")
    (path / "model.safetensors").unlink()
    names, weight_map = sorted(weights), {}
    for index in range(3):
        name = f"model-0000{index + 1}-of-00003.safetensors"
        weight_map |= dict.fromkeys(names[index::3], name)
        save_file({key: weights[key] for key in names[index::3]}, path / name)
    (path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return path


def section(kind: str, path: Path) -> dict[str, object]:
    return {"model_type": kind, "model_path": str(path), "embodiment_tag": "new_embodiment"}


def test_a_whole_directory_is_accepted(n1d7, sharded):
    for kind, path in (("tiny_vla", bundled_checkpoint()), ("gr00t_n1d7", n1d7), ("gr00t_n1d7", sharded)):
        check_base(section(kind, path))


def test_tiny_vla_directories_through_the_check_that_all_commands_share(tmp_path):
    outcomes = tried(bundled_checkpoint(), tmp_path / "base", lambda path: check_base(section("tiny_vla", path)))
    assert len(outcomes) > 150
    assert other_than(outcomes, "refused", "accepted") == {}
    assert other_than(of_weights(outcomes), "refused") == {}
    whole_files = {
        f"{name} {how}" for name in ("config.json", "tokenizer.json") for how in DAMAGES if how != "cut by a byte"
    }
    assert {name: outcome for name, outcome in outcomes.items() if name in whole_files and outcome != "refused"} == {}


@pytest.mark.parametrize("which", ["n1d7", "sharded"])
def test_n1d7_directories_through_the_check_that_all_commands_share(which, request, tmp_path):
    source = request.getfixturevalue(which)
    outcomes = tried(source, tmp_path / "base", lambda path: check_base(section("gr00t_n1d7", path)))
    assert len(outcomes) > 300
    assert other_than(outcomes, "refused", "accepted") == {}
    assert other_than(of_weights(outcomes), "refused") == {}
    assert len(of_backbone(outcomes)) == 24 and other_than(of_backbone(outcomes), "refused") == {}


def test_n1d7_directories_through_sft(n1d7, tmp_path):
    from argparse import Namespace

    from isaaclab_rlinf.workflow.sft_cli import _check_flags

    given = {"embodiment_tag": "new_embodiment", "backbone_model_path": None, "max_text_length": None}

    def run(path: Path) -> None:
        _check_flags(Namespace(base=path, out=tmp_path / "out", **given))

    outcomes = tried(n1d7, tmp_path / "base", run)
    assert other_than(outcomes, "refused", "accepted") == {}
    assert other_than(of_backbone(outcomes), "refused") == {}


def of_backbone(outcomes: dict[str, str]) -> dict[str, str]:
    """Return damages of what the tokenizer and the image processor need, as far as a download makes them."""
    files = ("config.json", "preprocessor_config.json", "tokenizer.json", "chat_template.jinja")
    made = (" dropped", " empty", " renamed", " pointer", " directory", " link to nowhere")
    return {
        name: outcome
        for name, outcome in outcomes.items()
        if name.startswith(tuple(f"backbone/{file}" for file in files)) and name.endswith(made)
    }


COMMANDS = {"train": (parse_train_args, prepare_train), "play": (parse_play_args, prepare_play)}


@pytest.fixture(scope="module")
def composed() -> tuple[Path, DictConfig]:
    return compose(parse_train_args(["--config_name", "isaaclab_ppo_tiny_vla_touch_color"]))


@pytest.fixture
def prepared(composed, tmp_path, monkeypatch):
    """Return a function that prepares a command as far as it goes before anything starts."""
    monkeypatch.chdir(tmp_path)

    def run(command: str, *arguments: object, **runner: object) -> object:
        parse, prepare = COMMANDS[command]
        source, cfg = copy.deepcopy(composed)
        cfg.runner.update(runner)
        return prepare(parse(["--config_name", source.stem, "--device", "cpu", *map(str, arguments)]), (source, cfg))

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_base_directories_through_train_and_play(command, prepared, tmp_path):
    chosen = (" cut", " pointer", " directory", " link to nowhere")
    outcomes = tried(
        bundled_checkpoint(),
        tmp_path / "base",
        lambda path: prepared(command, "--model_path", path),
        keep=lambda name: name.endswith(chosen),
    )
    assert len(outcomes) >= 20
    assert other_than(outcomes, "refused", "accepted") == {}
    assert other_than(of_weights(outcomes), "refused") == {}


@pytest.fixture(scope="module")
def step(tmp_path_factory) -> Path:
    """A resumable training checkpoint of the bundled base."""
    from safetensors.torch import load_file
    from torch.distributed import checkpoint

    path = tmp_path_factory.mktemp("run") / "global_step_4"
    (path / "actor/model_state_dict").mkdir(parents=True)
    weights = load_file(bundled_checkpoint() / "model.safetensors")
    torch.save({**weights, "value_head.mlp.0.bias": torch.zeros(3)}, path / "actor/model_state_dict/full_weights.pt")
    checkpoint.save({"a": torch.zeros(9)}, checkpoint_id=path / "actor/dcp_checkpoint", no_dist=True)
    (path / "actor/trainer_state.json").write_text(json.dumps({"optimizer_steps": 8, "step": 4}))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_training_checkpoints_through_train_and_play(command, prepared, step, tmp_path):
    work = tmp_path / "global_step_4"
    outcomes = tried(step, work, lambda path: prepared(command, "--checkpoint", path), keep=_of_training)
    assert len(outcomes) >= 24
    assert other_than(outcomes, "refused", "accepted") == {}
    weights = {name: outcome for name, outcome in outcomes.items() if "full_weights" in name.split(" ")[0]}
    assert other_than(weights, "refused") == {}
    state = {name: outcome for name, outcome in outcomes.items() if "dcp_checkpoint" in name.split(" ")[0]}
    damaged = {name: outcome for name, outcome in state.items() if " is " not in name}
    assert other_than(damaged, "refused" if command == "train" else "accepted") == {}


@pytest.mark.parametrize(("command", "key"), [("train", "ckpt_path"), ("train", "resume_dir"), ("play", "ckpt_path")])
def test_training_checkpoints_of_the_yaml_through_train_and_play(command, key, prepared, step, tmp_path):
    outcomes = tried(
        step,
        tmp_path / "global_step_4",
        lambda path: prepared(command, **{key: str(path)}),
        keep=lambda name: "full_weights" in name and name.endswith((" cut", " pointer", " dropped", " list")),
    )
    assert len(outcomes) == 4 and other_than(outcomes, "refused") == {}


def _of_training(name: str) -> bool:
    return name.endswith((" dropped", " empty", " cut", " pointer", " directory", " noise", " list")) or " is " in name


def test_a_base_whose_config_asks_for_another_model_is_refused_for_every_family(n1d7, tmp_path):
    changed = {"tiny_vla": (bundled_checkpoint(), "hidden_size"), "gr00t_n1d7": (n1d7, "max_action_dim")}
    for kind, (source, key) in changed.items():
        path = shutil.copytree(source, tmp_path / kind)
        _edit(path / "config.json", key, 2 * json.loads((path / "config.json").read_text())[key])
        with pytest.raises(ConfigError, match="do not fit the model"):
            check_base(section(kind, path))
        shutil.copytree(source, path, dirs_exist_ok=True)
        write_safetensors(path / "model.safetensors", {"of.another.model": (3,)})
        with pytest.raises(ConfigError, match="do not fit the model"):
            check_base(section(kind, path))
