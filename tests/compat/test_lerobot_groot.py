# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Our N1.7 against lerobot's own pipeline, number by number, and the private names that we use of it."""

import importlib.util
import inspect
import sys
from pathlib import Path

import pytest
import torch

from isaaclab_rlinf.compat import lerobot_groot
from isaaclab_rlinf.models.gr00t_n1d7.builder import load_weights
from isaaclab_rlinf.models.gr00t_n1d7.modeling import Gr00tN1d7Model, new_config
from isaaclab_rlinf.models.gr00t_n1d7.processing import Gr00tN1d7Processor

_spec = importlib.util.spec_from_file_location("tiny_gr00t", Path(__file__).parents[1] / "models" / "tiny_gr00t.py")
tiny_gr00t = sys.modules.setdefault("tiny_gr00t", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(tiny_gr00t)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tiny_gr00t.make(tmp_path_factory.mktemp("gr00t") / "tiny")


@pytest.fixture(scope="module")
def lerobots(path):
    """What lerobot's pre-processing makes of the test observation."""
    steps = lerobot_groot.groot_processor()
    files = Gr00tN1d7Processor.from_directory(path, "new_embodiment").files
    configs = files.processor["modality_configs"]["new_embodiment"]
    raw = files.statistics["new_embodiment"]
    flatten = steps.flatten_n1_7_modality_stats
    arguments = {"embodiment_stats": raw, "embodiment_config": configs, "use_percentiles": False}
    pack = steps.GrootN17PackInputsStep(
        action_horizon=8,
        valid_action_horizon=8,
        video_horizon=1,
        max_state_dim=16,
        max_action_dim=8,
        embodiment_tag="new_embodiment",
        embodiment_mapping=files.embodiment_ids,
        stats={"observation.state": flatten(modality="state", use_relative_action=True, **arguments)},
        video_modality_keys=["front_view", "wrist_view"],
        raw_stats=raw,
        modality_config=configs,
    )
    encode = steps.GrootN17VLMEncodeStep(
        model_name=str(path / "backbone"), image_crop_size=[64, 64], image_target_size=[64, 64]
    )
    decode = steps.GrootN17ActionDecodeStep(
        raw_stats=raw, modality_config=configs, use_relative_action=True, pack_step=pack
    )
    obs = tiny_gr00t.observation()
    key = steps.TransitionKey
    made = encode(
        pack(
            {
                key.OBSERVATION: {
                    "observation.images.front_view": obs["main_images"].permute(0, 3, 1, 2),
                    "observation.images.wrist_view": obs["wrist_images"].permute(0, 3, 1, 2),
                    "observation.state": obs["states"],
                },
                key.COMPLEMENTARY_DATA: {"task": list(obs["task_descriptions"])},
            }
        )
    )
    sample = torch.randn(4, 8, 8, generator=torch.Generator().manual_seed(0))
    actions = decode({key.ACTION: sample})[key.ACTION]
    return {**made[key.COMPLEMENTARY_DATA], **made[key.OBSERVATION]}, sample, actions


@pytest.fixture(scope="module")
def ours(path):
    processor = Gr00tN1d7Processor.from_directory(path, "new_embodiment")
    # As long as lerobot pads this batch: to the longest prompt, here with 2 x 4 image tokens.
    lengths = [len(processor.prompts.token_ids(text, [4, 4])) for text in tiny_gr00t.INSTRUCTIONS]
    processor.prompts.length = max(lengths)
    return processor


def test_inputs_and_decoded_actions_are_lerobots(ours, lerobots):
    theirs, sample, actions = lerobots
    inputs, raw = ours(tiny_gr00t.observation())
    assert torch.equal(inputs["input_ids"], theirs["input_ids"])
    assert torch.equal(inputs["attention_mask"], theirs["attention_mask"])
    assert torch.allclose(inputs["state"], theirs["state"], atol=1e-6)
    assert torch.equal(inputs["embodiment_id"], theirs["embodiment_id"].long())
    pixels = ours.prompts.patches.patchify(inputs["images"].flatten(0, 1)).flatten(0, 1)
    assert torch.allclose(pixels, theirs["pixel_values"], atol=1e-5)
    assert torch.allclose(ours.decode_actions(sample, raw), actions, atol=1e-5)


def test_features_and_actions_are_lerobots_where_nothing_is_padded(path, ours, lerobots):
    theirs, _, _ = lerobots
    same = {key: value[:1] for key, value in theirs.items() if key not in ("pixel_values", "image_grid_thw")}
    patches = len(theirs["pixel_values"]) // 4
    same |= {"pixel_values": theirs["pixel_values"][:patches], "image_grid_thw": theirs["image_grid_thw"][:2]}
    keep = same["attention_mask"][0] == 1
    same |= {key: same[key][:, keep] for key in ("input_ids", "attention_mask")}
    if "mm_token_type_ids" in same:
        same["mm_token_type_ids"] = same["mm_token_type_ids"][:, keep]
    config = new_config(ours.files.config)
    config.model_name = str(path / "backbone")
    reference = lerobot_groot.groot_n1d7().GR00TN17(config, load_backbone_weights=False).eval()
    model = Gr00tN1d7Model(new_config(ours.files.config), ours.backbone_dir, ours.prompts.patches).eval()
    load_weights(model, path, torch.float32)
    reference.load_state_dict(model.state_dict(), strict=False)
    with torch.no_grad():
        backbone, action = reference.prepare_input(same)
        output = reference.backbone(backbone)
        features = reference.action_head._encode_features(output, action)
        inputs, _ = ours(tiny_gr00t.observation())
        context = model.encode(**{key: value[:1] for key, value in inputs.items()})
        shown = context.mask[0]
        assert torch.allclose(context.features[0, shown], features.backbone_features[0], atol=1e-5)
        assert torch.allclose(context.state, features.state_features, atol=1e-6)
        torch.manual_seed(0)
        expected = reference.action_head.get_action_with_features(
            features.backbone_features, features.state_features, action.embodiment_id, output, action
        ).action_pred
        torch.manual_seed(0)
        sample = torch.randn(1, 8, 8)
        for step in range(4):
            sample = sample + model.velocity(sample, torch.tensor([step * 250]), context) / 4
    assert torch.allclose(sample, expected, atol=1e-4)


def test_the_opencv_transform_is_still_there():
    keywords = {"image_crop_size", "image_target_size", "shortest_image_edge", "crop_fraction", "letter_box_transform"}
    assert keywords <= set(inspect.signature(lerobot_groot.albumentations_transform()).parameters)


def test_lerobots_own_packages_are_importable_afterwards():
    lerobot_groot.groot_n1d7()
    assert not any(
        name in sys.modules and not hasattr(sys.modules[name], "__file__")
        for name in ("lerobot.policies", "lerobot.policies.groot")
    )
