# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The tiny backbone's pre-training and the pictures that it sees."""

from dataclasses import replace

import pytest
import tiny_gr00t
import torch
from safetensors.torch import load_file

from isaaclab_rlinf.models.gr00t_n1d7.tiny_pointing import pretrain
from isaaclab_rlinf.models.gr00t_n1d7.tiny_scenes import draw_scenes, named_colours
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinySizes

COLOURS = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1.0]])


def scenes(seed=0, batch=200):
    return draw_scenes(batch, 64, COLOURS, torch.Generator().manual_seed(seed))


def test_every_picture_shows_a_disc_and_some_colours_are_missing():
    drawn = scenes()
    assert drawn.present.any(dim=1).all()
    assert 0.6 < drawn.present.float().mean() < 0.9


def test_a_disc_that_nothing_covers_has_its_colour_at_its_centre():
    drawn = scenes()
    gaps = torch.cdist(drawn.centres, drawn.centres) + 1e3 * torch.eye(3)
    alone = drawn.present & (gaps.amin(dim=-1) > 12)
    rows, index = alone.nonzero(as_tuple=True)
    x, y = drawn.centres[rows, index].long().unbind(dim=-1)
    seen = drawn.images[rows, y, x].float() / 255.0
    nearest = torch.cdist(seen, COLOURS).argmin(dim=1)
    assert len(rows) > 100
    assert torch.equal(nearest, index)


def test_pictures_depend_on_the_generator_alone():
    assert torch.equal(scenes(1).images, scenes(1).images)
    assert not torch.equal(scenes(1).images, scenes(2).images)


def test_each_instruction_names_one_colour_of_its_own():
    assert named_colours(["touch the Red ball", "push the blue one"]).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    for texts in (["pick up the cube"], ["put the red cube on the green one"], ["touch red", "push red"]):
        with pytest.raises(ValueError, match="pre-training"):
            named_colours(texts)


def test_pretraining_changes_the_backbone_and_leaves_the_action_head(tmp_path):
    path = tiny_gr00t.make(tmp_path / "model")
    before = load_file(path / "model.safetensors")
    pretrain(path, tiny_gr00t.INSTRUCTIONS, 2, batch_size=4)
    after = load_file(path / "model.safetensors")
    assert before.keys() == after.keys()
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert any(key.startswith("backbone.model.model.visual.") for key in changed)
    assert any(key.startswith("backbone.model.model.language_model.") for key in changed)
    assert all(key.startswith(("backbone.", "action_head.vl")) for key in changed)


def test_instructions_without_a_colour_change_nothing(tmp_path):
    path = tiny_gr00t.make(tmp_path / "model")
    before = (path / "model.safetensors").read_bytes()
    with pytest.raises(ValueError, match="no colour"):
        pretrain(path, ["pick up the cube"], 1)
    assert (path / "model.safetensors").read_bytes() == before


@pytest.mark.slow
def test_it_learns_to_point_at_what_is_named(tmp_path):
    sizes = TinySizes(max_state_dim=6, max_action_dim=3)
    path = tiny_gr00t.make(tmp_path / "model", replace(tiny_gr00t.ARM, embodiment_id=10), sizes)
    assert pretrain(path, tiny_gr00t.INSTRUCTIONS, 1500) < 18.0  # pixels of 64; 23 without looking
