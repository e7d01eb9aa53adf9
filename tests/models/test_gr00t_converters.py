# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Converters of the task YAML in RLinf's tables, for N1.5 and N1.7."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from isaaclab_rlinf.mapping.actions import ActionMap, ActionTermInfo, map_actions
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.models.gr00t.converters import register_converters

BLOCK = {
    "task_description": "push",
    "main_images": "a",
    "states": ["joints"],
    "gr00t_mapping": {"video": {"main_images": "video.a"}, "state": [{"gr00t_key": "state.arm", "slice": [0, 2]}]},
}
TABLES = {"n1d5": "ACTION_CONVERSION_N1D5", "n1d7": "ACTION_CONVERSION_N1D7"}


@pytest.fixture
def tables():
    """RLinf's tables, put back afterwards."""
    from rlinf.models.embodiment.gr00t import simulation_io

    names = ("OBS_CONVERSION", *TABLES.values())
    before = {name: dict(getattr(simulation_io, name)) for name in names}
    yield simulation_io
    for name in names:
        getattr(simulation_io, name).clear()
        getattr(simulation_io, name).update(before[name])


def cfg(block=None, **extra):
    return OmegaConf.create({"action_dim": 5, "isaaclab": {**BLOCK, **(block or {})}, **extra})


def parts(prefix, kind=np.ones):
    return {f"{prefix}hand": kind((2, 4, 2)), f"{prefix}arm": kind((2, 4, 3)) * 2}


@pytest.mark.parametrize(("generation", "prefix"), [("n1d5", "action."), ("n1d7", "")])
@pytest.mark.parametrize("spelling", ["", "action."])
def test_both_generations_in_both_spellings(tables, generation, prefix, spelling):
    keys = [f"{spelling}arm", f"{spelling}hand"]
    name = register_converters(cfg({"action_mapping": {"keys": keys}}), generation)
    convert = getattr(tables, TABLES[generation])[name]
    actions = convert(parts(prefix), chunk_size=3)
    assert isinstance(actions, np.ndarray) and actions.dtype == np.float64
    assert actions.shape == (2, 3, 5) and actions[0, 0].tolist() == [2, 2, 2, 1, 1]
    tensors = convert(parts(prefix, torch.ones), chunk_size=3)
    assert isinstance(tensors, torch.Tensor) and tensors[0, 0].tolist() == [2, 2, 2, 1, 1]


def test_the_models_own_order_is_told_once(tables, capsys):
    name = register_converters(cfg(), "n1d5")
    convert = tables.ACTION_CONVERSION_N1D5[name]
    assert convert(parts("action."), chunk_size=1)[0, 0].tolist() == [1, 1, 2, 2, 2]
    convert(parts("action."), chunk_size=1)
    told = capsys.readouterr().out
    assert told.count("in order") == 1
    assert told.index("hand") < told.index("arm")


def test_scale_and_offset_come_before_padding_and_once(tables):
    """The converter gives the model's actions; the environment's side does the rest, in this order."""
    raw = cfg({"action_mapping": {"keys": ["arm", "hand"], "scale": 10.0, "offset": 1.0, "prefix_pad": 2}})
    from isaaclab_rlinf.models.gr00t.converters import block_of

    convert = tables.ACTION_CONVERSION_N1D5[register_converters(raw, "n1d5")]
    actions = torch.from_numpy(convert(parts("action."), chunk_size=4))
    spec = ActionMap.build(block_of(raw).action_mapping, 5, [ActionTermInfo("joints", 7)])
    assert map_actions(actions, spec)[1, 3].tolist() == [0, 0, 21, 21, 21, 11, 11]


def test_a_part_that_is_not_sent_is_named(tables, capsys):
    name = register_converters(cfg({"action_mapping": {"keys": ["arm"]}}), "n1d7")
    assert tables.ACTION_CONVERSION_N1D7[name](parts(""), chunk_size=2).shape == (2, 2, 3)
    assert "(hand: not emitted)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"action.arm": np.ones((2, 4, 3))}, "no action part 'hand'"),
        ({**parts("action."), "action.leg": np.ones((2, 4, 1))}, "6 wide together, actor.model.action_dim is 5"),
        ({"action.arm": np.ones((2, 1, 3)), "action.hand": np.ones((2, 1, 2))}, "predicts 1 actions"),
    ],
)
def test_parts_of_another_model(tables, given, message):
    name = register_converters(cfg({"action_mapping": {"keys": ["arm", "hand"]}}), "n1d5")
    with pytest.raises(MappingError, match=message):
        tables.ACTION_CONVERSION_N1D5[name](given, chunk_size=2)


def test_names_and_repeated_registration(tables):
    assert register_converters(cfg(), "n1d5") == "isaaclab_rlinf"
    assert register_converters(cfg({"obs_converter_type": "dex3"}), "n1d5") == "dex3"
    assert register_converters(cfg(obs_converter_type="mine"), "n1d5") == "mine"
    first = tables.OBS_CONVERSION["mine"]
    register_converters(cfg(obs_converter_type="mine"), "n1d5")
    assert tables.OBS_CONVERSION["mine"] is not first


def test_a_failed_registration_leaves_nothing_and_can_be_repeated(tables):
    broken = {"video": {"main_images": "a"}, "state": []}
    with pytest.raises(MappingError, match=r"video\.<name>"):
        register_converters(cfg({"gr00t_mapping": broken}, obs_converter_type="mine"), "n1d5")
    assert "mine" not in tables.OBS_CONVERSION and "mine" not in tables.ACTION_CONVERSION_N1D5
    assert register_converters(cfg(obs_converter_type="mine"), "n1d5") == "mine"


def test_the_instruction_must_be_found_by_n1d5(tables):
    language = {**BLOCK["gr00t_mapping"], "language": "annotation.task"}
    with pytest.raises(MappingError, match="default instruction"):
        register_converters(cfg({"gr00t_mapping": language}), "n1d5")
    register_converters(cfg({"gr00t_mapping": language}), "n1d7")  # takes its key verbatim


def test_a_stock_name_is_a_choice_and_never_wins_silently(tables):
    stock = tables.OBS_CONVERSION["libero"]
    with pytest.raises(ValueError, match="'libero' names a converter of RLinf"):
        register_converters(cfg(obs_converter_type="libero"), "n1d5")
    bare = {"gr00t_mapping": None, "action_mapping": None}
    assert register_converters(cfg(bare, obs_converter_type="libero"), "n1d5") == "libero"
    assert tables.OBS_CONVERSION["libero"] is stock


def test_an_extensions_converter_is_kept(tables):
    tables.OBS_CONVERSION["theirs"] = lambda env_obs: {}
    with pytest.raises(ValueError, match="only one of observation and action converter"):
        register_converters(OmegaConf.create({"obs_converter_type": "theirs"}), "n1d5")
    tables.ACTION_CONVERSION_N1D5["theirs"] = lambda action_chunk, chunk_size=1: None
    assert register_converters(OmegaConf.create({"obs_converter_type": "theirs"}), "n1d5") == "theirs"
    with pytest.raises(ValueError, match=r"'nobodys' is not registered.*libero"):
        register_converters(OmegaConf.create({"obs_converter_type": "nobodys"}), "n1d5")


def test_rlinfs_n1d7_gets_converters_and_no_noise_after_the_log_probability(tables, monkeypatch):
    import rlinf.models.embodiment.gr00t as rlinf_gr00t

    from isaaclab_rlinf.models.gr00t.rlinf_models import build_rlinf_policy

    seen = []

    class Model:
        def __init__(self, given):
            seen.append((given, given.obs_converter_type in tables.ACTION_CONVERSION_N1D7))
            self.action_head = type("Head", (), {"value_head": "value head"})

    monkeypatch.setattr(rlinf_gr00t, "get_model", lambda given, dtype: Model(given))
    given = cfg(model_type="gr00t_n1d7", rl_head_config={"noise_level": 0.3})
    model = build_rlinf_policy(given, None, "n1d7")
    assert seen[0][1] and seen[0][0].rl_head_config.action_noise_scale == 0
    assert model.value_head == "value head"
    given.rl_head_config.action_noise_scale = 0.05
    build_rlinf_policy(given, None, "n1d7")
    assert seen[1][0].rl_head_config.action_noise_scale == 0.05
