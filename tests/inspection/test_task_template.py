# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The YAML that `init` writes, through the validator that train and play use."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from records import DIRECT, DIRECT_FACTS, TOUCH, TOUCH_FACTS

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.config.migrate import migrate
from isaaclab_rlinf.config.validate import examine
from isaaclab_rlinf.inspection.draft import draft_block
from isaaclab_rlinf.inspection.model_files import ModelFacts, read_model
from isaaclab_rlinf.inspection.template import Outline, task_yaml
from isaaclab_rlinf.tasks import TOUCH_COLOR_ID
from weight_stubs import n1d7_shapes, write_safetensors


def written(directory: Path, model: ModelFacts, record=TOUCH, facts=TOUCH_FACTS, steps: int = 48) -> Path:
    outline = Outline(TOUCH_COLOR_ID, "mine", (), model, model.action_dim or record.action_dim, steps)
    file = directory / "mine.yaml"
    file.write_text(task_yaml(outline, draft_block(record, facts, model)))
    return file


def problems(file: Path, mode: str = "train") -> dict[str, list[str]]:
    cfg = compose_config(file)
    migrate(cfg)
    issues = examine(cfg, source=file, mode=mode, num_accelerators=0).issues
    return {issue.where: [other.found for other in issues if other.where == issue.where] for issue in issues}


@pytest.mark.parametrize("mode", ["train", "play"])
def test_the_bundled_tasks_passes(tmp_path, mode):
    assert problems(written(tmp_path, read_model("bundled", None, None)), mode) == {}


@pytest.mark.parametrize("steps", [5, 7, 48, 250, 1000])
def test_sizes_fit_each_other_for_any_episode_length(tmp_path, steps):
    outline = Outline(TOUCH_COLOR_ID, "mine", (), read_model("bundled", None, None), 3, steps)
    assert outline.rollout_steps % outline.chunk == 0 and outline.rollout_steps >= steps
    assert outline.batch % outline.micro_batch == 0
    assert problems(written(tmp_path, read_model("bundled", None, None), steps=steps)) == {}


def test_each_decision_is_one_clear_line(tmp_path):
    file = written(tmp_path, read_model("bundled", None, None), DIRECT, DIRECT_FACTS)
    found = problems(file)
    block = "env.train.isaaclab"
    asked = {where: texts for where, texts in found.items() if any("???" in text for text in texts)}
    assert set(asked) == {f"{block}.{key}" for key in ("task_description", "wrist_images", "success")}
    assert all(len(texts) == 1 for texts in asked.values()), found
    # the draft of a direct task, held against a manager-based one: what it names is looked up all the same
    assert set(found) - set(asked) == {f"{block}.main_images", f"{block}.states[0]"}


def test_a_model_that_is_not_there_yet_is_asked_for(tmp_path):
    assert set(problems(written(tmp_path, ModelFacts("tiny_vla")))) == {"actor.model.model_path"}


def gr00t_n1d7(directory: Path, *tags: str) -> Path:
    directory.mkdir()
    modality = {
        "video": {"delta_indices": [0], "modality_keys": ["front", "wrist"]},
        "state": {"delta_indices": [0], "modality_keys": ["pos", "vel"]},
        "action": {"delta_indices": list(range(8)), "modality_keys": ["arm"], "action_configs": None},
        "language": {"delta_indices": [0], "modality_keys": ["annotation.human.task_description"]},
    }
    spread = {"min": [-1.0] * 3, "max": [1.0] * 3, "mean": [0.0] * 3, "std": [1.0] * 3}
    statistics = {"state": {"pos": spread, "vel": spread}, "action": {"arm": spread}}
    content = {
        "config.json": {"model_type": "Gr00tN1d7", "action_horizon": 16},
        "processor_config.json": {"processor_kwargs": {"modality_configs": dict.fromkeys(tags, modality)}},
        "statistics.json": dict.fromkeys(tags, statistics),
        "embodiment_id.json": {tag: index for index, tag in enumerate(tags)},
    }
    for name, value in content.items():
        (directory / name).write_text(json.dumps(value))
    write_safetensors(directory / "model.safetensors", n1d7_shapes(content["config.json"]))
    return directory


def test_a_gr00t_n1d7_checkpoint_gives_its_modalities(tmp_path):
    model = read_model(str(gr00t_n1d7(tmp_path / "model", "new_embodiment")), None, None)
    cfg = yaml.safe_load(written(tmp_path, model).read_text())
    block = cfg["env"]["train"]["isaaclab"]
    assert block["gr00t_mapping"] == {
        "video": {"main_images": "video.front", "wrist_images": "video.wrist"},
        "state": [{"gr00t_key": "state.pos", "slice": [0, 3]}, {"gr00t_key": "state.vel", "slice": [3, 6]}],
        "language": "annotation.human.task_description",
    }
    assert block["embodiment_tag"] == "new_embodiment" and block["action_mapping"] == {"keys": ["arm"]}
    assert cfg["actor"]["model"]["action_dim"] == 3 and cfg["actor"]["model"]["num_action_chunks"] == 8


def test_the_embodiment_has_to_be_chosen_where_there_are_several(tmp_path):
    directory = str(gr00t_n1d7(tmp_path / "model", "left", "right"))
    with pytest.raises(ConfigError, match=r"--embodiment_tag: .*2 embodiments; allowed: left, right"):
        read_model(directory, None, None)
    assert read_model(directory, None, "right").tag == "right"
    with pytest.raises(ConfigError, match="tags it has: left, right"):
        read_model(directory, None, "middle")


def test_a_gr00t_n1d5_checkpoint_leaves_its_data_configuration_to_decide(tmp_path):
    import n1d5_files

    entry = n1d5_files.embodiment("new_embodiment", {"front": (64, 64), "wrist": (64, 64)}, {"arm": 6}, {"arm": 3})
    directory = n1d5_files.write_json(tmp_path / "model", {"new_embodiment": entry})
    model = read_model(str(directory), None, None)
    assert (model.model_type, model.action_dim, model.state_dim) == ("gr00t", 3, 6)
    found = problems(written(tmp_path, model))
    assert "env.train.isaaclab.data_config_class" in found
    # the tag of most fine-tuned checkpoints has two projector indices; the validator asks which
    assert set(found) <= {"env.train.isaaclab.data_config_class", "env.train.isaaclab.embodiment_tag_id"}


def test_a_type_that_the_files_deny_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="--model_type: 'gr00t'"):
        read_model("bundled", "gr00t", None)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(ConfigError, match="has model_type 'llama'"):
        read_model(str(tmp_path), None, None)
    with pytest.raises(ConfigError, match=r"--model_path: .*cannot be read"):
        read_model(str(tmp_path / "no"), None, None)


def test_wider_actions_leave_three_numbers_open(tmp_path):
    wide = replace(TOUCH, action_terms=(("joints", 5, ""),))
    found = problems(written(tmp_path, read_model("bundled", None, None), wide))
    pads = ("prefix_pad", "suffix_pad", "pad_value")
    assert set(found) == {f"env.train.isaaclab.action_mapping.{key}" for key in pads}
    assert all(len(texts) == 1 for texts in found.values())
