# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The change that lets N1.5's Eagle do without flash-attn, on stand-ins that hold the lines in question."""

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/lib/gr00t_n1d5_sdpa.py"
# the lines that Isaac Lab's no_flash_attn.patch names, in the code around them that matters here
FILES = {
    "config.json": '{"_attn_implementation": "flash_attention_2", "text_config": {"hidden_size": 8}}\n',
    "modeling_eagle2_5_vl.py": """
def build(config):
    if config.vision_config.model_type == "siglip_vision_model":
        config.vision_config._attn_implementation = "flash_attention_2"
    if config.text_config.architectures[0] == "Qwen2ForCausalLM":
        assert (
            config.text_config._attn_implementation == "flash_attention_2"
        ), f"Qwen2 must use flash_attention_2 but got {config.text_config._attn_implementation}"
        return "qwen2"
    return "qwen3"
""",
    "radio_model.py": """import math

try:  # v1
    from flash_attn.flash_attn_interface import flash_attn_unpadded_qkvpacked_func
except ImportError:  # v2
    from flash_attn.flash_attn_interface import (
        flash_attn_varlen_qkvpacked_func as flash_attn_unpadded_qkvpacked_func,
    )

from flash_attn.bert_padding import pad_input, unpad_input


class FlashAttention:
    call = flash_attn_unpadded_qkvpacked_func
""",
}


@pytest.fixture
def sdpa():
    spec = importlib.util.spec_from_file_location("gr00t_n1d5_sdpa", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def eagle(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


class Box:
    """An attribute bag."""

    def __init__(self, **values):
        self.__dict__.update(values)


def test_changed_files_ask_for_sdpa_and_import_without_flash_attn(sdpa, eagle):
    assert sdpa.apply_sdpa(eagle) == list(FILES)
    assert json.loads((eagle / "config.json").read_text(encoding="utf-8"))["_attn_implementation"] == "sdpa"
    names: dict = {}
    exec((eagle / "modeling_eagle2_5_vl.py").read_text(encoding="utf-8"), names)
    config = Box(
        vision_config=Box(model_type="siglip_vision_model", _attn_implementation=None),
        text_config=Box(architectures=["Qwen2ForCausalLM"], _attn_implementation="eager"),
    )
    assert names["build"](config) == "qwen2"
    assert config.vision_config._attn_implementation == config.text_config._attn_implementation == "sdpa"
    exec((eagle / "radio_model.py").read_text(encoding="utf-8"), names)
    assert names["FlashAttention"].call is None and names["pad_input"] is None


def test_second_time_nothing_changes(sdpa, eagle):
    sdpa.apply_sdpa(eagle)
    before = {name: (eagle / name).read_text(encoding="utf-8") for name in FILES}
    assert sdpa.apply_sdpa(eagle) == []
    assert before == {name: (eagle / name).read_text(encoding="utf-8") for name in FILES}


def test_unknown_files_are_refused_and_nothing_is_written(sdpa, eagle):
    (eagle / "modeling_eagle2_5_vl.py").write_text("x = 1\n", encoding="utf-8")
    (eagle / "radio_model.py").unlink()
    with pytest.raises(ValueError, match=r"(?s)modeling_eagle2_5_vl\.py has nothing.*radio_model\.py is missing"):
        sdpa.apply_sdpa(eagle)
    assert (eagle / "config.json").read_text(encoding="utf-8") == FILES["config.json"]
