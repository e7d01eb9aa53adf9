# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The N1.7 task YAML against a checkpoint's JSON files; no weights are read."""

import json
import sys
import types
from pathlib import Path

import pytest
from bases import only
from omegaconf import OmegaConf

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.migrate import migrate
from isaaclab_rlinf.config.parse import parse_isaaclab_block
from isaaclab_rlinf.config.validate import examine
from isaaclab_rlinf.inspection.summary import _actions
from isaaclab_rlinf.models.gr00t_n1d7 import implementation
from isaaclab_rlinf.models.gr00t_n1d7.tiny_files import model_config, write_processor
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment, TinySizes
from weight_stubs import n1d7_shapes, write_safetensors

MODEL, BLOCK = "actor.model", "env.train.isaaclab"

TOKENIZER = {"added_tokens": [], "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}


@pytest.fixture(scope="module")
def source(request) -> Path:
    import isaaclab_rlinf

    root = Path(isaaclab_rlinf.__file__).parent
    return root / "tasks/touch_color/config/isaaclab_ppo_gr00t_n1d7_touch_color.yaml"


def write_json(path: Path, embodiment: TinyEmbodiment) -> Path:
    """Write the JSON files of the tiny checkpoint, with weights that are headers only."""
    (path / "backbone").mkdir(parents=True, exist_ok=True)
    write_processor(path, embodiment, TinySizes())
    config = model_config(embodiment, TinySizes())
    (path / "config.json").write_text(json.dumps(config))
    write_safetensors(path / "model.safetensors", n1d7_shapes(config))
    (path / "backbone/config.json").write_text('{"text_config": {}, "vision_config": {}}')
    (path / "backbone/tokenizer.json").write_text(json.dumps(TOKENIZER))
    (path / "backbone/chat_template.jinja").write_text("image")
    size = {"shortest_edge": 16**2, "longest_edge": 2**24}
    image_processor = {"patch_size": 16, "merge_size": 1, "size": size}
    (path / "backbone/preprocessor_config.json").write_text(json.dumps(image_processor))
    return path


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    return write_json(tmp_path / "model", TinyEmbodiment())


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
        ([f"+{BLOCK}.action_mapping.keys=[arm]"], f"{BLOCK}.action_mapping.keys", "allowed: joint_target (3)"),
        ([f"+{BLOCK}.action_mapping.keys=[joint_taget]"], f"{BLOCK}.action_mapping.keys", "mean 'joint_target'"),
        ([f"+{BLOCK}.action_mapping.keys=[joint_target,action.joint_target]"], f"{BLOCK}.action_mapping.keys", "twice"),
        ([f"+{BLOCK}.action_mapping.scale=[1,2]"], f"{BLOCK}.action_mapping.scale", "2 values for 3"),
        (
            [f"+{BLOCK}.action_mapping.keys=[joint_target]", f"+{BLOCK}.action_mapping.offset=[1,2]"],
            f"{BLOCK}.action_mapping.offset",
            "2 values for 3 dims of joint_target (3)",
        ),
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


KEYS = f"+{BLOCK}.action_mapping"


@pytest.fixture
def two_parts(checkpoint):
    """The checkpoint acts with an arm (2) and a gripper (1)."""
    return write_json(checkpoint, TinyEmbodiment(action={"arm": 2, "gripper": 1}))


def told(outcome) -> str:
    return "\n".join(notice for notice in outcome.notices if "action_mapping" in notice)


def test_a_part_that_keys_leave_out_is_told_and_lists_are_as_long_as_what_is_emitted(examined, two_parts):
    outcome = examined(f"{KEYS}={{keys: [action.arm], suffix_pad: 1, scale: [1, 2]}}")
    assert outcome.issues == ()
    assert "not sent to the environment: gripper (1); it gets 2 of the model's 3 columns, arm (2)" in told(outcome)
    issue = only(examined(f"{KEYS}={{keys: [arm], suffix_pad: 1, scale: [1, 2, 3]}}"))
    assert (issue.where, issue.found) == (f"{BLOCK}.action_mapping.scale", "3 values for 2 dims of arm (2)")
    assert told(examined(f"{KEYS}={{keys: [gripper, arm]}}")) == ""


@pytest.mark.parametrize(
    ("mapping", "shown"),
    [
        ({}, "arm (2) + gripper (1): 3 columns, 8 per chunk"),
        ({"keys": ["gripper", "action.arm"]}, "gripper (1) + arm (2): 3 columns, 8 per chunk"),
        (
            {"keys": ["arm"], "prefix_pad": 4},
            "arm (2): 2 columns of the model's 3, 8 per chunk; not sent: gripper (1); padded to 6 (4 before, 0 after)",
        ),
    ],
)
def test_the_summary_shows_what_the_environment_gets(two_parts, mapping, shown):
    raw = {"task_description": "push", "main_images": "front", "action_mapping": mapping}
    block, issues = parse_isaaclab_block(raw, "isaaclab")
    assert not issues
    model = {"model_type": "gr00t_n1d7", "model_path": str(two_parts), "embodiment_tag": "new_embodiment"}
    assert _actions(block, OmegaConf.create({**model, "action_dim": 3, "num_action_chunks": 8})) == shown


def test_a_checkpoint_that_names_a_part_twice(examined, checkpoint):
    path = checkpoint / "processor_config.json"
    content = json.loads(path.read_text())
    action = content["processor_kwargs"]["modality_configs"]["new_embodiment"]["action"]
    action["modality_keys"] *= 2
    action["action_configs"] = None
    path.write_text(json.dumps(content))
    assert "action names 'joint_target' twice" in str(examined().issues[0])


def test_the_default_language_key_counts_where_nvidias_processor_asks_for_it(examined, checkpoint, monkeypatch):
    write_json(checkpoint, TinyEmbodiment(language_key="annotation.human.task"))
    unnamed = [f"~env.{mode}.isaaclab.gr00t_mapping.language" for mode in ("train", "eval")]
    assert examined(*unnamed).issues == ()
    monkeypatch.setattr("isaaclab_rlinf.config.checks_gr00t_n1d7.choose", lambda asked: "isaac_gr00t")
    assert only(examined(*unnamed)).where == f"{BLOCK}.gr00t_mapping.language"
