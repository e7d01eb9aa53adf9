# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Demonstrations with values that are no numbers, columns that hardly move, and too little of everything."""

import argparse
import json
import math

import pytest
import torch
from make_dataset import make_dataset

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.workflow.dataset_memory import load_demonstrations
from isaaclab_rlinf.workflow.demonstration_checks import check_demonstrations
from isaaclab_rlinf.workflow.sft import SftSettings, train_sft
from isaaclab_rlinf.workflow.sft_cli import add_sft_args, run_sft


def put(feature, column, **values):
    """Return a change of rows: ``e1f2=value`` sets a column in frame 2 of episode 1, ``all=value`` everywhere."""

    def change(episode, frame, row):
        value = values.get(f"e{episode}f{frame}", values.get("all"))
        if value is not None:
            row[feature][column] = value

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (put("observation.state", 1, e1f0=math.nan), r"state column 1 \(gripper\): 1 NaN of 5 frames, first episode 1"),
        (put("action", 0, e0f1=math.inf, e1f1=-math.inf), r"action column 0 \(arm\): 2 infinite .* episode 0, frame 1"),
        (put("action", 0, e0f1=math.nan, e0f2=math.inf), "1 NaN and 1 infinite of 5 frames"),
        (put("observation.state", 0, e0f0=3e38), r"1 above 1e\+15 of 5 frames"),
    ],
)
def test_what_is_no_number_is_refused_by_column_count_and_place(tmp_path, capsys, change, told):
    root = make_dataset(tmp_path / "data", change=change)
    with pytest.raises(ConfigError, match=told):
        check_demonstrations(load_demonstrations(root))
    assert main(["sft", "--dataset", str(root), "--out", str(tmp_path / "out"), "--steps", "1"]) == 2
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err and "lower --lr" not in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_every_bad_column_is_told_at_once_and_left_out_episodes_are_not_looked_at(tmp_path):
    def change(episode, frame, row):
        if episode == 1:
            row["action"][:] = math.nan
            row["observation.state"][0] = math.inf

    root = make_dataset(tmp_path / "data", change=change)
    with pytest.raises(ConfigError) as caught:
        check_demonstrations(load_demonstrations(root))
    assert len(caught.value.issues) == 3
    assert check_demonstrations(load_demonstrations(root, max_episodes=1)) == [
        "one episode only, of 3 frames: a model can only repeat it"
    ]


def test_too_little(tmp_path):
    with pytest.raises(ConfigError, match="1 frame in 1 episode"):
        check_demonstrations(load_demonstrations(make_dataset(tmp_path / "one", (1,))))
    told = check_demonstrations(load_demonstrations(make_dataset(tmp_path / "two", (1, 2, 1))))
    assert told == ["2 of 3 episodes have one frame only, first episode 0"]


def test_pictures_that_never_change_are_a_warning(tmp_path):
    def still(episode, frame, row):
        row["observation.images.main_images"][:] = episode

    (told,) = check_demonstrations(load_demonstrations(make_dataset(tmp_path / "data", change=still)))
    assert told.startswith("WARNING: the pictures of main_images never change") and "all 2 episodes" in told


def test_columns_that_hardly_move_are_decided_and_said(tmp_path, capsys):
    def change(episode, frame, row):
        row["observation.state"][1] = 0.5 + 1e-6 * frame
        row["action"][1] = 0.25

    root, out = make_dataset(tmp_path / "data", change=change), tmp_path / "out"
    assert main(["sft", "--dataset", str(root), "--out", str(out), "--steps", "1", "--batch_size", "2"]) == 0
    printed = capsys.readouterr().out
    assert "observation.state column 1 (gripper) spans only" in printed
    assert "action column 1 (gripper) is 0.25 in all 5 frames: the model always gives 0.25" in printed
    assert len(json.loads((out / "sft.json").read_text())["result"]["notices"]) == 2
    from isaaclab_rlinf.models.tiny_vla import TinyVLAProcessor

    processor = TinyVLAProcessor.from_pretrained(out)
    data = load_demonstrations(root)
    assert processor.normalize("state", data.state + 0.1).abs().max() < 2
    assert torch.allclose(processor.unnormalize("action", torch.full((1, 2), 7.0))[:, 1], torch.tensor(0.25))


def test_n1d7_decides_the_same_way(tmp_path):
    from isaaclab_rlinf.models.gr00t_n1d7.processing import Gr00tN1d7Processor
    from isaaclab_rlinf.models.gr00t_n1d7.tiny import make_tiny_checkpoint
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment, TinySizes

    embodiment = TinyEmbodiment(
        embodiment_id=1, views=("front_view",), image_size=32, state={"arm": 1, "grip": 1},
        action={"reach": 1, "close": 1}, relative={"reach": "arm"}, horizon=2,
    )  # fmt: skip
    sizes = TinySizes(width=32, vision_width=32, action_width=32, heads=2, patch=16, embodiments=2)
    base = make_tiny_checkpoint(tmp_path / "base", ["touch ball 0 of 2"], embodiment, sizes)
    settings = json.loads((base / "processor_config.json").read_text())
    settings["processor_kwargs"]["use_percentiles"] = True
    (base / "processor_config.json").write_text(json.dumps(settings))

    def change(episode, frame, row):
        row["observation.state"][1] = 0.5 + 1e-6 * (frame % 2)
        row["action"][1] = float(episode == 1 and frame == 3)

    root = make_dataset(tmp_path / "data", (200, 5), change=change)
    report = train_sft(root, tmp_path / "out", SftSettings(steps=1, batch_size=2, base=base))
    assert any("grip: observation.state column 1 (gripper) spans only" in told for told in report.notices)
    assert any("close: action column 1 (gripper) lies in [0, 0] but for 1 of 205" in told for told in report.notices)
    assert any("first episode 1, frame 3" in told for told in report.notices)
    processor = Gr00tN1d7Processor.from_directory(tmp_path / "out")
    data = load_demonstrations(root)
    groups = processor.mapping.state_groups(data.state + 0.1)
    assert processor.encode_state(groups).abs().max() <= 1
    assert 0.09 < float(processor.state_normalizers["grip"].normalize(groups["grip"]).mean()) < 0.11
    sample = torch.ones(1, 2, 2)
    assert processor.decode_actions(sample, {key: value[:1] for key, value in groups.items()})[0, 0, 1] == 1.0


def test_the_limit_of_words_has_a_flag(tmp_path, capsys):
    words = " ".join(f"word{index}" for index in range(11))
    root = make_dataset(tmp_path / "data", change=lambda episode, frame, row: row.update(task=words))
    command = ["sft", "--dataset", str(root), "--out", str(tmp_path / "out"), "--steps", "1", "--batch_size", "2"]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "--max_text_length" in told and "11 words" in told and "checkpoint" not in told
    assert main([*command, "--max_text_length", "11"]) == 0
    from isaaclab_rlinf.models.tiny_vla import TinyVLAProcessor

    assert len(TinyVLAProcessor.from_pretrained(tmp_path / "out").token_ids(words)) == 11
    parser = argparse.ArgumentParser()
    add_sft_args(parser)
    flags = ["--dataset", "d", "--out", str(tmp_path / "new"), "--base", str(root), "--max_text_length", "9"]
    with pytest.raises(ConfigError) as caught:
        run_sft(parser.parse_args(flags))
    assert [issue.where for issue in caught.value.issues] == ["--max_text_length", "--base"]


def test_instructions_without_a_word_and_pictures_of_a_wrong_size(tmp_path, capsys, monkeypatch):
    def change(episode, frame, row):
        row["task"] = "?!" if episode else "go"

    root = make_dataset(tmp_path / "data", change=change)
    with pytest.raises(ConfigError, match=r"of episode 1, frame 0: '\?!' has no word"):
        train_sft(root, tmp_path / "out", SftSettings(steps=1))
    root = make_dataset(tmp_path / "mute", change=lambda episode, frame, row: row.update(task="..."))
    with pytest.raises(ConfigError, match="has no word"):
        train_sft(root, tmp_path / "out", SftSettings(steps=1))
    import make_dataset as module

    monkeypatch.setattr(module, "SIZE", 24)
    with pytest.raises(ConfigError, match="image_size 24 is not a multiple"):
        train_sft(make_dataset(tmp_path / "odd"), tmp_path / "out", SftSettings(steps=1))
    assert not (tmp_path / "out").exists()
