# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The N1.7 task YAML against a checkpoint's JSON files; no weights are read."""

import json
import sys
import types
from pathlib import Path

import pytest
from bases import only

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.migrate import migrate
from isaaclab_rlinf.config.validate import examine
from isaaclab_rlinf.models.gr00t_n1d7 import implementation
from isaaclab_rlinf.models.gr00t_n1d7.tiny_files import model_config, write_processor
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment, TinySizes

MODEL, BLOCK = "actor.model", "env.train.isaaclab"


@pytest.fixture(scope="module")
def source(request) -> Path:
    import isaaclab_rlinf

    root = Path(isaaclab_rlinf.__file__).parent
    return root / "tasks/touch_color/config/isaaclab_ppo_gr00t_n1d7_touch_color.yaml"


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    """The JSON files of the tiny checkpoint, with empty weights."""
    path = tmp_path / "model"
    (path / "backbone").mkdir(parents=True)
    write_processor(path, TinyEmbodiment(), TinySizes())
    (path / "config.json").write_text(json.dumps(model_config(TinyEmbodiment(), TinySizes())))
    for name in ("model.safetensors", "backbone/config.json", "backbone/tokenizer.json"):
        (path / name).write_bytes(b"")
    size = {"shortest_edge": 16**2, "longest_edge": 2**24}
    image_processor = {"patch_size": 16, "merge_size": 1, "size": size}
    (path / "backbone/preprocessor_config.json").write_text(json.dumps(image_processor))
    return path


@pytest.fixture
def examined(source, checkpoint):
    def run(*overrides: str, mode: str = "train"):
        cfg = compose_config(source, [f"actor.model.model_path={checkpoint}", *overrides])
        migrate(cfg)
        return examine(cfg, source=source, mode=mode, num_accelerators=0)

    return run


@pytest.mark.parametrize("mode", ["train", "play"])
def test_the_bundled_yaml_fits_the_bundled_task(examined, mode):
    outcome = examined(mode=mode)
    assert outcome.issues == ()
    assert any("auto takes lerobot" in notice for notice in outcome.notices)


def test_a_path_that_is_not_there_names_the_flag(source):
    cfg = compose_config(source)
    migrate(cfg)
    issue = only(examine(cfg, source=source, mode="train", num_accelerators=0))
    assert issue.where == "actor.model.model_path" and "--model_path" in issue.fix


@pytest.mark.parametrize(
    ("overrides", "where", "words"),
    [
        (["actor.model.action_dim=4"], f"{MODEL}.action_dim", "acts in 3 dims (joint_target 3)"),
        (["actor.model.num_action_chunks=16"], f"{MODEL}.num_action_chunks", "predicts 8 steps"),
        (["actor.model.embodiment_tag=gr1"], f"{MODEL}.embodiment_tag", "tags it has: new_embodiment"),
        (["actor.model.implementation=isaac"], f"{MODEL}.implementation", "isaac"),
        (["actor.model.implementation=isaac_gr00t"], f"{MODEL}.implementation", "not installed"),
        (["+actor.model.obs_converter_type=libero"], f"{MODEL}.obs_converter_type", "does not use"),
        (["+actor.model.rl_head_config.joint_logprob=true"], f"{MODEL}.rl_head_config.joint_logprob", "stochastic"),
        (["+actor.model.rl_head_config.action_noise_scale=0.1"], f"{MODEL}.rl_head_config.action_noise_scale", "noise"),
        (
            ["actor.model.rl_head_config.padding_value=32"],
            f"{MODEL}.rl_head_config.padding_value",
            "take 32 tokens",
        ),
        (["+actor.model.backbone_model_path=/absent"], f"{MODEL}.backbone_model_path", "Qwen3-VL directory"),
        ([f"{BLOCK}.gr00t_mapping.language=task"], f"{BLOCK}.gr00t_mapping.language", "reads the instruction from"),
        ([f"+{BLOCK}.embodiment_tag_id=3"], f"{BLOCK}.embodiment_tag_id", "is 10 in the checkpoint"),
        ([f"+{BLOCK}.action_mapping.keys=[arm]"], f"{BLOCK}.action_mapping.keys", "['joint_target']"),
        (
            [f"{BLOCK}.gr00t_mapping.video.wrist_images=video.hand"],
            f"{BLOCK}.gr00t_mapping.video",
            "unknown ['hand']",
        ),
    ],
)
def test_what_contradicts_the_checkpoint_is_named_where_it_stands(examined, overrides, where, words):
    found = {issue.where: str(issue) for issue in examined(*overrides).issues}
    assert where in found and words in found[where]
    # The same block, or the same model, may be named for evaluation too; nothing else is wrong.
    same = {where, where.replace("env.train", "env.eval"), where.replace("actor.", "rollout.")}
    assert set(found) <= same


def test_a_view_too_few(examined):
    found = [
        issue.where for issue in examined(f"~{BLOCK}.wrist_images", f"~{BLOCK}.gr00t_mapping.video.wrist_images").issues
    ]
    assert f"{BLOCK}.main_images" in found and f"{BLOCK}.gr00t_mapping.video" in found


def test_a_prompt_that_leaves_room_for_a_token_passes(examined):
    assert examined("actor.model.rl_head_config.padding_value=33").issues == ()


def test_missing_files_are_listed(examined, checkpoint):
    (checkpoint / "statistics.json").unlink()
    assert "missing: ['statistics.json']" in str(only(examined()))


def test_auto_takes_nvidias_package_where_it_is_installed(examined, tmp_path, monkeypatch):
    package = tmp_path / "site" / "gr00t"
    (package / "model" / "gr00t_n1d7").mkdir(parents=True)
    for name in ("__init__.py", "model/gr00t_n1d7/gr00t_n1d7.py"):
        (package / name).write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert implementation.choose("auto") == implementation.choose("isaac_gr00t") == "isaac_gr00t"
    assert implementation.choose("lerobot") == "lerobot"
    assert any("auto takes isaac_gr00t" in notice for notice in examined().notices)
    built = types.ModuleType("isaaclab_rlinf.models.gr00t.rlinf_models")
    built.build_rlinf_policy = lambda cfg, dtype, generation: (cfg, dtype, generation)
    monkeypatch.setitem(sys.modules, built.__name__, built)
    from isaaclab_rlinf.models.gr00t_n1d7.builder import build

    assert build({"implementation": "auto"}, "bf16") == ({"implementation": "auto"}, "bf16", "n1d7")
