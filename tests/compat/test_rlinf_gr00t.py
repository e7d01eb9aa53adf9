# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What we assume of RLinf's GR00T code, read from its text: most of it cannot be imported without ``gr00t``."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
from pathlib import Path

import pytest

from isaaclab_rlinf.compat import rlinf_gr00t, rlinf_names

GR00T = Path(importlib.util.find_spec("rlinf").origin).parent / "models/embodiment/gr00t"


def text_of(file):
    return (GR00T / file).read_text(encoding="utf-8")


def function(file, name, owner=None):
    nodes = ast.walk(ast.parse(text_of(file)))
    if owner is not None:
        nodes = next(node for node in nodes if isinstance(node, ast.ClassDef) and node.name == owner).body
    return next(node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name)


def calls(node):
    return {ast.unparse(call.func): call for call in ast.walk(node) if isinstance(call, ast.Call)}


def test_the_loader_still_knows_three_tags_only():
    """When this fails, RLinf may take any tag: then our replacement of the loader can go."""
    loader = function("gr00t_n1d5/__init__.py", "get_model")
    compared = {
        node.comparators[0].value
        for node in ast.walk(loader)
        if isinstance(node, ast.Compare) and "embodiment_tag" in ast.unparse(node.left)
    }
    assert compared == set(rlinf_gr00t.RLINF_DATA_CONFIGS)
    assert "Invalid embodiment tag" in ast.unparse(loader)
    for reference in rlinf_gr00t.RLINF_DATA_CONFIGS.values():
        assert reference in ast.unparse(loader)


def test_the_loaders_steps_are_those_that_we_take():
    loader = function("gr00t_n1d5/__init__.py", "get_model")
    found = calls(loader)
    load = found["GR00T_N1_5_ForRLActionPrediction.from_pretrained"]
    assert tuple(keyword.arg for keyword in load.keywords) == rlinf_gr00t.LOADER_KWARGS
    assert {"Patcher.clear", "Patcher.add_patch", "Patcher.apply", "model.to"} <= set(found)
    assert {"model.action_head.value_head._init_weights", "replace_dropout_with_identity"} <= set(found)


def test_our_loader_passes_the_same_arguments():
    import inspect

    from isaaclab_rlinf.models.gr00t import n1d5

    load = calls(ast.parse(inspect.getsource(n1d5.build_policy)))["Gr00tN1d5Policy.from_pretrained"]
    assert tuple(keyword.arg for keyword in load.keywords) == rlinf_gr00t.LOADER_KWARGS


@pytest.mark.parametrize(
    ("file", "owner", "actions"),
    [
        ("gr00t_n1d5/gr00t_action_model.py", "GR00T_N1_5_ForRLActionPrediction", "ACTION_CONVERSION_N1D5"),
        ("gr00t_n1d7/gr00t_action_model.py", "GR00T_N1_7_ForRLActionPrediction", "ACTION_CONVERSION_N1D7"),
    ],
)
def test_converters_are_looked_up_in_the_constructor_and_called_as_we_expect(file, owner, actions):
    constructor = ast.unparse(function(file, "__init__", owner))
    assert "self.obs_convert_fn = OBS_CONVERSION[obs_converter_type]" in constructor
    assert f"self.action_convert_fn = {actions}[obs_converter_type]" in constructor
    assert "self.action_convert_fn(unnormalized_action, chunk_size=self.output_action_chunks)" in ast.unparse(
        ast.parse(text_of(file))
    )


def test_the_converter_tables():
    from rlinf.models.embodiment.gr00t import simulation_io

    from isaaclab_rlinf.models.gr00t.converters import ACTION_TABLES, ActionConverter, ObservationConverter

    ours = (ObservationConverter, ActionConverter)
    for name in ("OBS_CONVERSION", *ACTION_TABLES.values()):
        table = {key for key, value in getattr(simulation_io, name).items() if not isinstance(value, ours)}
        assert table == set(rlinf_names.STOCK_GR00T_CONVERTERS)
    import numpy as np

    bare = dict.fromkeys(("x", "y", "z", "roll", "pitch", "yaw", "gripper"), np.ones((1, 2, 1)))
    for name in rlinf_names.STOCK_GR00T_CONVERTERS:
        convert = simulation_io.ACTION_CONVERSION_N1D7[name]
        if name in rlinf_names.BROKEN_N1D7_CONVERTERS:
            with pytest.raises(KeyError, match="action"):
                convert(bare, 2)
        else:
            assert convert(bare, 2).shape == (1, 2, 7)


def test_the_table_of_projectors():
    from rlinf.models.embodiment.gr00t import embodiment_tags

    known = {tag: embodiment_tags.EMBODIMENT_TAG_MAPPING.get(tag) for tag in rlinf_names.GR00T_TAG_IDS}
    assert known == rlinf_names.GR00T_TAG_IDS
    # as the file states them, whatever was registered in this process
    table = text_of("embodiment_tags.py").partition("EMBODIMENT_TAG_MAPPING = {")[2].partition("}")[0]
    assert table.count("EmbodimentTag.") == len(known)


def test_what_the_model_reads_and_what_it_lacks():
    source = text_of("gr00t_n1d5/gr00t_action_model.py")
    # reasons of our checks and overrides
    assert "self.config.num_steps" in source  # joint_logprob
    assert "self.global_step" in source and "def set_global_step" not in source  # noise_anneal
    assert "env_obs['states'] = env_obs['states'].to(torch.bfloat16)" in ast.unparse(ast.parse(source))
    assert "torch.nn.functional.pad" in source  # cuts a prompt that is too long
    assert "if 'state' in k and len(v.shape) < 3" in ast.unparse(ast.parse(source))
    head = function("gr00t_n1d5/gr00t_action_model.py", "__init__", "FlowMatchingActionHeadForRLActionPrediction")
    assert "self.value_head = ValueHead(" in ast.unparse(head)
    n1d7 = text_of("gr00t_n1d7/gr00t_action_model.py")
    assert 'rl_config.get("action_noise_scale", 0.1)' in n1d7
    assert "self.value_head = ValueHead(" in n1d7


def test_the_value_head_is_exposed_once_and_without_a_parameter():
    import torch

    class Head(torch.nn.Module):
        def __init__(self, with_value):
            super().__init__()
            if with_value:
                self.value_head = torch.nn.Linear(2, 1)

    class Model(torch.nn.Module):
        def __init__(self, with_value=True):
            super().__init__()
            self.action_head = Head(with_value)

    model = Model()
    rlinf_gr00t.expose_value_head(model)
    rlinf_gr00t.expose_value_head(model)
    assert model.value_head is model.action_head.value_head
    assert set(model.state_dict()) == {"action_head.value_head.weight", "action_head.value_head.bias"}
    assert not hasattr(Model(with_value=False), "value_head")


# --- RLinf's newer revision


@dataclasses.dataclass
class Released:
    save_flags: object = None


@dataclasses.dataclass
class Newer:
    intervene_flags: object = None


@dataclasses.dataclass
class Unknown:
    actions: object = None


def test_the_name_of_the_rollout_flags():
    from rlinf.data.embodied_io_struct import RolloutResult

    assert rlinf_names.rollout_flag_field(RolloutResult) == "save_flags"
    assert rlinf_names.rollout_flag_field(Released) == "save_flags"
    assert rlinf_names.rollout_flag_field(Newer) == "intervene_flags"
    with pytest.raises(AttributeError, match="is neither"):
        rlinf_names.rollout_flag_field(Unknown)


def test_model_types_are_read_from_the_installed_revision(tmp_path):
    assert rlinf_names.embodied_model_types() == tuple(sorted(rlinf_names.EMBODIED_MODEL_TYPES))
    assert rlinf_names.embodied_model_types(tmp_path) == rlinf_names.EMBODIED_MODEL_TYPES
    (tmp_path / "config.py").write_text(
        'SupportedModel.RLT = SupportedModel.register("rlt_mlp_policy", force=True)\n'
        'SupportedModel.QWEN3 = SupportedModel.register("qwen3", force=True)\n'
        "EMBODIED_MODEL = set(\n    {\n        SupportedModel.RLT,\n    }\n)\n"
    )
    assert rlinf_names.embodied_model_types(tmp_path) == ("rlt_mlp_policy",)


def test_where_rlinfs_n1d5_draws_noise():
    """Our evaluation replaces these two; a third would make it random again."""
    source = text_of("gr00t_n1d5/gr00t_action_model.py")
    drawn = [ast.unparse(call.func) for call in ast.walk(ast.parse(source)) if isinstance(call, ast.Call)]
    assert [name for name in drawn if name.startswith("torch.") and ("rand" in name or "normal" in name)] == [
        "torch.randn",
        "torch.normal",
    ]
    for name in ("torch.randn", "torch.normal"):
        call = next(c for c in ast.walk(ast.parse(source)) if isinstance(c, ast.Call) and ast.unparse(c.func) == name)
        assert {"size", "dtype", "device"} <= {keyword.arg for keyword in call.keywords}
