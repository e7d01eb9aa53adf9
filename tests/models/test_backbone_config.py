# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Malformed values in the backbone's JSON: refused by the check before anything starts, with the file and key path."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.models.gr00t_n1d7.backbone_config import ACTIVATIONS, CONFIG, ROPE_TYPES, agreement_problems
from isaaclab_rlinf.workflow.export import _check_base as check_base

sys.path.append(str(Path(__file__).parent))
import tiny_gr00t

CONFIG_FILE, IMAGES_FILE, TOKENIZER_FILE = "config.json", "preprocessor_config.json", "tokenizer.json"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_gr00t.make(tmp_path_factory.mktemp("n1d7") / "base")


@pytest.fixture
def refusal(base, tmp_path):
    """Return what is said of a base of which one value is changed; an empty text when it is accepted."""

    def change(file, path, value):
        work = tmp_path / "base"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(base, work)
        content = node = json.loads((work / "backbone" / file).read_text())
        *above, last = path.split(".")
        for key in above:
            node = node[int(key) if isinstance(node, list) else key]
        node[last] = value
        (work / "backbone" / file).write_text(json.dumps(content))
        try:
            check_base({"model_type": "gr00t_n1d7", "model_path": str(work), "embodiment_tag": "new_embodiment"})
        except ConfigError as error:
            (issue,) = error.issues
            return issue.found
        return ""

    return change


def decisive():
    """Every value of the tiny backbone that the table knows, by its key path."""
    for section, keys in CONFIG.items():
        for key in keys:
            yield f"{section}.{key}" if section else key


def test_every_value_that_decides_the_network_is_checked(base, refusal):
    config = json.loads((base / "backbone" / CONFIG_FILE).read_text())
    tried = 0
    for path in decisive():
        node = config
        for key in path.split("."):
            node = node.get(key) if isinstance(node, dict) else None
        if node is None:
            continue
        tried += 1
        assert re.search(
            rf"{CONFIG_FILE}( is not|: {re.escape(path)} is 'no such')", refusal(CONFIG_FILE, path, "no such")
        )
    assert tried >= 30


@pytest.mark.parametrize(
    ("file", "path", "value", "told"),
    [
        (CONFIG_FILE, "text_config.hidden_size", 0, "text_config.hidden_size is 0, not a whole number >= 1"),
        (
            CONFIG_FILE,
            "text_config.hidden_size",
            64,
            "text_config.hidden_size is 64, but the checkpoint's weights have 32",
        ),
        (CONFIG_FILE, "text_config.num_key_value_heads", None, "num_key_value_heads * text_config.head_dim is 32, but"),
        (CONFIG_FILE, "text_config.num_hidden_layers", 1, "is 1, but the checkpoint has 2 language layers"),
        (CONFIG_FILE, "text_config.rope_scaling.rope_type", "mrope", "rope_type is 'mrope', not one of default"),
        (CONFIG_FILE, "text_config.rope_scaling.mrope_section", [4], "mrope_section is [4], not three whole numbers"),
        (CONFIG_FILE, "vision_config.depth", 3, "vision_config.depth is 3, but the checkpoint has 2 vision blocks"),
        (CONFIG_FILE, "vision_config.num_heads", 5, "vision_config.hidden_size is 32, not a multiple of num_heads 5"),
        (CONFIG_FILE, "vision_config.deepstack_visual_indexes", [2], "deepstack_visual_indexes has 2, but depth is 2"),
        (CONFIG_FILE, "vision_config.deepstack_visual_indexes", [], "has 0 entries, the checkpoint 1"),
        (CONFIG_FILE, "image_token_id", 0, "image_token_id is 0, but the tokenizer's <|image_pad|> is 5"),
        (IMAGES_FILE, "patch_size", True, "preprocessor_config.json: patch_size is True, not a whole number >= 1"),
        (IMAGES_FILE, "image_std", [0.5, 0.5, 0], "image_std is [0.5, 0.5, 0], not three numbers > 0"),
        (IMAGES_FILE, "size.shortest_edge", "x", "size.shortest_edge is 'x', not a whole number >= 1"),
        (TOKENIZER_FILE, "model", {"type": "WordLevel", "vocab": 3}, "tokenizer.json is no tokenizer: "),
    ],
)
def test_what_is_told(refusal, file, path, value, told):
    assert told in refusal(file, path, value)


def test_several_are_told_at_once(base, tmp_path):
    work = shutil.copytree(base, tmp_path / "base")
    for file, section, key in ((CONFIG_FILE, "vision_config", "depth"), (IMAGES_FILE, "size", "longest_edge")):
        content = json.loads((work / "backbone" / file).read_text())
        content[section][key] = None
        (work / "backbone" / file).write_text(json.dumps(content))
    with pytest.raises(
        ConfigError, match=r"vision_config\.depth is None.*; preprocessor_config\.json: size\.longest_edge"
    ):
        check_base({"model_type": "gr00t_n1d7", "model_path": str(work), "embodiment_tag": "new_embodiment"})


def test_a_released_backbone_has_more_language_layers_than_the_checkpoint(base):
    """GR00T cuts the upper ones off; and defaults of transformers are left to it."""
    config = json.loads((base / "backbone" / CONFIG_FILE).read_text())
    shapes = {"backbone.model.model.language_model.layers.0.mlp.gate_proj.weight": (64, 32)}
    config["text_config"]["num_hidden_layers"] = 28
    assert list(agreement_problems(config, shapes)) == []
    assert list(agreement_problems({"text_config": {}, "vision_config": {}}, shapes)) == []


def test_lerobots_own_configuration_of_the_released_backbone_is_accepted():
    from lerobot.policies.groot.groot_n1_7 import _cosmos_reason2_qwen3_vl_config

    from isaaclab_rlinf.models.gr00t_n1d7.backbone_config import value_problems

    config = json.loads(json.dumps(_cosmos_reason2_qwen3_vl_config().to_dict()))
    assert list(value_problems(config, CONFIG)) == [] and list(agreement_problems(config, {})) == []


def test_the_names_are_those_of_transformers():
    from transformers.activations import ACT2CLS
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    assert set(ACTIVATIONS) <= set(ACT2CLS)
    assert set(ROPE_TYPES) <= {"default", *ROPE_INIT_FUNCTIONS}
