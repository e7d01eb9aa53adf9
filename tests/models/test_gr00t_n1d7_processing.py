# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""N1.7's files, normalisation, poses and images, without its network."""

import itertools
import json
import math
import shutil
import subprocess
import sys
import threading

import pytest
import tiny_gr00t
import torch

from isaaclab_rlinf.config.parse import parse_isaaclab_block
from isaaclab_rlinf.models.gr00t_n1d7.files import read_files
from isaaclab_rlinf.models.gr00t_n1d7.image_tokens import fitted_size, image_tokens
from isaaclab_rlinf.models.gr00t_n1d7.images import ImageTransform
from isaaclab_rlinf.models.gr00t_n1d7.inspect import checkpoint_facts
from isaaclab_rlinf.models.gr00t_n1d7.normalization import Normalizer
from isaaclab_rlinf.models.gr00t_n1d7.poses import to_absolute, to_relative
from isaaclab_rlinf.models.gr00t_n1d7.processing import Gr00tN1d7Processor
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment
from isaaclab_rlinf.models.gr00t_n1d7.views import ObservationMapping

BLOCK = {
    "task_description": "touch the red ball",
    "main_images": "front",
    "wrist_images": "wrist",
    "states": ["joint_pos", "joint_vel"],
    "gr00t_mapping": {
        "video": {"main_images": "video.wrist_view", "wrist_images": "video.front_view"},
        "state": [
            {"gr00t_key": "state.joint_vel", "slice": [0, 3]},
            {"gr00t_key": "state.joint_pos", "slice": [3, 6]},
        ],
    },
}


def block(**changes):
    parsed, issues = parse_isaaclab_block({**BLOCK, **changes}, "isaaclab")
    assert not issues
    return parsed


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tiny_gr00t.make(tmp_path_factory.mktemp("gr00t") / "tiny")


@pytest.fixture
def copied(path, tmp_path):
    """A copy whose JSON files a test may change."""
    shutil.copytree(path, tmp_path / "copy")

    def edit(name, change):
        file = tmp_path / "copy" / name
        content = json.loads(file.read_text())
        change(content)
        file.write_text(json.dumps(content))
        return tmp_path / "copy"

    return edit


def modality(content, tag="new_embodiment"):
    return content["processor_kwargs"]["modality_configs"][tag]


def test_facts(path):
    facts = checkpoint_facts(path, "new_embodiment")
    assert (facts.action_dim, facts.state_dim, facts.action_horizon, facts.embodiment_id) == (3, 6, 8, 2)
    assert facts.image_views == ("front_view", "wrist_view")
    assert facts.action[0].relative and facts.action[0].state_key == "joint_pos"


def test_a_missing_tag_is_refused_with_the_present_ones(path):
    with pytest.raises(ValueError, match=r"'gr1' is not in .*statistics\.json.*tags it has: new_embodiment"):
        checkpoint_facts(path, "gr1")
    assert checkpoint_facts(path, None).embodiment_tag == "new_embodiment"


def test_every_missing_file_is_listed(path, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match=r"model\.safetensors.*processor_config\.json.*statistics\.json"):
        read_files(tmp_path)


def test_contradictions_between_the_files_are_refused(copied):
    with pytest.raises(ValueError, match=r"gr00t_n1_5.*use model_type: gr00t"):
        read_files(copied("config.json", lambda c: c.update(model_type="gr00t_n1_5")))
    changed = copied("config.json", lambda c: c.update(model_type="Gr00tN1d7", max_num_embodiments=2, max_action_dim=2))
    with pytest.raises(ValueError, match=r"action width needs 3.*max_action_dim 2.*embodiment id needs 3"):
        checkpoint_facts(changed, "new_embodiment")


def test_frames_and_references_that_the_environment_cannot_give(copied):
    changed = copied("processor_config.json", lambda c: modality(c)["video"].update(delta_indices=[-15, 0]))
    with pytest.raises(ValueError, match="video needs 2 time steps"):
        checkpoint_facts(changed, "new_embodiment")
    changed = copied(
        "processor_config.json",
        lambda c: (
            modality(c)["video"].update(delta_indices=[0]),
            modality(c)["action"]["action_configs"][0].update(state_key="hand"),
        ),
    )
    with pytest.raises(ValueError, match="relative to state 'hand', which is not a state key"):
        checkpoint_facts(changed, "new_embodiment")


def test_missing_statistics_are_an_error_not_a_pass_through(copied):
    changed = copied("statistics.json", lambda c: c["new_embodiment"].pop("relative_action"))
    with pytest.raises(ValueError, match=r"no new_embodiment\.relative_action\.joint_target with min and max"):
        Gr00tN1d7Processor.from_directory(changed, "new_embodiment")


def test_nothing_is_downloaded(copied):
    changed = copied("config.json", lambda c: c.update(model_name="nvidia/absent"))
    shutil.rmtree(changed / "backbone")
    with pytest.raises(ValueError, match=r"nothing is downloaded.*backbone_model_path"):
        Gr00tN1d7Processor.from_directory(changed)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("min_max", [-1.0, 2.0, 5.0], [1.0, 6.0, 5.0]), ("mean_std", [0.5, -1.0, 2.0], [2.0, 0.5, 0.0])],
)
def test_normalisation_and_back(kind, low, high):
    normalizer = Normalizer(kind, torch.tensor(low), torch.tensor(high), clip=False)
    values = torch.tensor([[0.5, 3.0, 5.0], [-0.25, 2.5, 5.0]])
    scaled = normalizer.normalize(values)
    if kind == "min_max":
        assert torch.allclose(scaled, torch.tensor([[0.5, -0.5, 0.0], [-0.25, -0.75, 0.0]]))
    else:
        assert torch.allclose(scaled[:, :2], (values[:, :2] - torch.tensor(low[:2])) / torch.tensor(high[:2]))
    assert torch.allclose(normalizer.unnormalize(scaled), values, atol=1e-6)


def test_percentiles_clipping_and_statistics_per_step(copied):
    def change(content):
        entry = content["new_embodiment"]["state"]["joint_pos"]
        entry.update(q01=[-1.0] * 3, q99=[1.0] * 3)
        content["new_embodiment"]["relative_action"]["joint_target"].update(
            min=[[-float(step + 1)] * 3 for step in range(8)], max=[[float(step + 1)] * 3 for step in range(8)]
        )

    copied("statistics.json", change)
    changed = copied("processor_config.json", lambda c: c["processor_kwargs"].update(use_percentiles=True))
    processor = Gr00tN1d7Processor.from_directory(changed, "new_embodiment")
    raw = {"joint_pos": torch.tensor([[0.5, 2.0, -2.0]]), "joint_vel": torch.zeros(1, 3)}
    state = processor.encode_state(raw)
    assert state.shape == (1, 1, 16)
    assert torch.allclose(state[0, 0, :3], torch.tensor([0.5, 1.0, -1.0]))
    actions = processor.decode_actions(torch.full((1, 6, 8), 0.5), raw)
    steps = torch.arange(1.0, 7.0)[None, :, None] * 0.5
    assert torch.allclose(actions, raw["joint_pos"][:, None] + steps)
    assert torch.allclose(processor.encode_actions(actions, raw), torch.full((1, 6, 3), 0.5), atol=1e-6)


def test_sine_and_cosine_states(copied):
    def change(content):
        content["processor_kwargs"]["apply_sincos_state_encoding"] = True
        modality(content)["state"]["sin_cos_embedding_keys"] = ["joint_pos"]

    processor = Gr00tN1d7Processor.from_directory(copied("processor_config.json", change), "new_embodiment")
    raw = {"joint_pos": torch.tensor([[0.1, 0.2, 0.3]]), "joint_vel": torch.zeros(1, 3)}
    expected = torch.cat([raw["joint_pos"].sin(), raw["joint_pos"].cos()], dim=-1)
    assert torch.allclose(processor.encode_state(raw)[0, :, :6], expected)


@pytest.mark.parametrize(("pose", "width"), [("difference", 4), ("xyz_rot6d", 9), ("xyz_rotvec", 6)])
def test_relative_and_back(pose, width):
    torch.manual_seed(0)
    action, reference = torch.randn(5, 3, width), torch.randn(5, width)
    if pose == "xyz_rotvec":  # angles below pi, beyond which a shorter vector means the same
        action[..., 3:] *= 0.5
    absolute = to_absolute(action, reference, pose)
    back = to_relative(absolute, reference, pose)
    if pose == "xyz_rot6d":  # two rows that are no rotation become the nearest one
        action = to_relative(to_absolute(back, reference, pose), reference, pose)
    assert torch.allclose(back, action, atol=2e-5)


def test_a_pose_moves_in_the_frame_of_its_reference():
    quarter = torch.tensor([[1.0, 2.0, 3.0, 0.0, 0.0, math.pi / 2]])
    absolute = to_absolute(torch.tensor([[[1.0, 0.0, 0.0, 0.0, 0.0, math.pi / 4]]]), quarter, "xyz_rotvec")
    assert torch.allclose(absolute, torch.tensor([[[1.0, 3.0, 3.0, 0.0, 0.0, 0.75 * math.pi]]]), atol=1e-5)


def test_the_yaml_decides_which_view_and_state_goes_where(path):
    facts = checkpoint_facts(path, "new_embodiment")
    mapping = ObservationMapping.from_block(block(), facts)
    obs = tiny_gr00t.observation(2)
    views = mapping.views({name: obs[name] for name in ("main_images", "wrist_images")})
    assert torch.equal(views[:, 0], obs["wrist_images"]) and torch.equal(views[:, 1], obs["main_images"])
    groups = mapping.state_groups(obs["states"])
    assert list(groups) == ["joint_pos", "joint_vel"]
    assert torch.equal(groups["joint_pos"], obs["states"][:, 3:])


def test_keys_that_the_checkpoint_lacks_are_named_all_at_once(path):
    facts = checkpoint_facts(path, "new_embodiment")
    wrong = {"video": {"main_images": "video.front", "wrist_images": "video.wrist_view"}}
    wrong["state"] = [{"gr00t_key": "state.joint_pos", "slice": [0, 2]}]
    with pytest.raises(ValueError, match=r"unknown \['front'\].*\['joint_vel'\].*2 columns, the model takes 3"):
        ObservationMapping.from_block(block(gr00t_mapping=wrong), facts)


def test_surplus_views_and_other_widths_are_refused(path):
    mapping = ObservationMapping.from_block(None, checkpoint_facts(path, "new_embodiment"))
    image = torch.zeros(1, 64, 64, 3, dtype=torch.uint8)
    with pytest.raises(ValueError, match="takes 2 views"):
        mapping.views({"main_images": image})
    with pytest.raises(ValueError, match="uint8"):
        mapping.views({"main_images": image, "wrist_images": image.float()})
    with pytest.raises(ValueError, match="width 7, the model's state groups need 6"):
        mapping.state_groups(torch.zeros(1, 7))


def test_images_are_cropped_around_the_centre():
    settings = {"image_target_size": [32, 32], "image_crop_size": [16, 16], "shortest_image_edge": 64}
    transform = ImageTransform.from_processor(settings)
    image = torch.zeros(1, 64, 64, 3, dtype=torch.uint8)
    image[:, 16:48, 16:48] = 200
    assert (transform(image) == 200).all() and transform(image).shape == (1, 32, 32, 3)


def test_instructions_are_formalised_padded_on_the_left_and_never_cut(path):
    processor = Gr00tN1d7Processor.from_directory(path, "new_embodiment", prompt_length=40)
    inputs, _ = processor(
        tiny_gr00t.observation(2) | {"task_descriptions": ["Touch the red ball!", "touch the red ball"]}
    )
    assert inputs["input_ids"].shape == (2, 40)
    assert torch.equal(inputs["input_ids"][0], inputs["input_ids"][1])
    assert inputs["attention_mask"][0, 0] == 0 and inputs["attention_mask"][0, -1] == 1
    with pytest.raises(ValueError, match="an instruction is empty"):
        processor(tiny_gr00t.observation(2) | {"task_descriptions": ["", "x"]})


def test_other_embodiments(tmp_path):
    arm = TinyEmbodiment(
        tag="two_arms", embodiment_id=1, state={"left": 2, "right": 1}, action={"right": 1, "left": 2}, views=("only",)
    )
    facts = checkpoint_facts(tiny_gr00t.make(tmp_path / "tiny", arm), "two_arms")
    assert [part.key for part in facts.action] == ["right", "left"]
    reordered = {"video": {"main_images": "video.only"}, "state": [{"gr00t_key": "state.left", "slice": [0, 2]}]}
    reordered["state"].append({"gr00t_key": "state.right", "slice": [2, 3]})
    yaml_block = block(
        wrist_images=None, gr00t_mapping=reordered, action_mapping={"keys": ["action.left", "action.right"]}
    )
    processor = Gr00tN1d7Processor.from_directory(tmp_path / "tiny", "two_arms", yaml_block)
    decoded = processor.decode_actions(torch.tensor([[[0.0, 0.5, 1.0]]]), {})
    assert torch.allclose(decoded / math.pi, torch.tensor([[[0.5, 1.0, 0.0]]]))


def test_checks_need_no_torch():
    code = (
        "import sys; from isaaclab_rlinf.config import checks_gr00t_n1d7;"
        "from isaaclab_rlinf.workflow import sft_cli, sft_learner;"
        "print([m for m in ('torch', 'transformers', 'lerobot') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("settings", [{}, {"image_target_size": [64, 96]}, {"image_target_size": [20, 20]}])
def test_tokens_of_a_view_told_from_files_are_those_of_the_prompt(path, settings, tmp_path):
    copied = shutil.copytree(path, tmp_path / "copy")
    file = copied / "processor_config.json"
    config = json.loads(file.read_text())
    config["processor_kwargs"] |= settings
    file.write_text(json.dumps(config))
    processor = Gr00tN1d7Processor.from_directory(copied)
    images = processor.prepare_images(torch.zeros(1, 2, 48, 48, 3, dtype=torch.uint8))
    expected = processor.prompts.patches.tokens(*images.shape[2:4])
    assert image_tokens(processor.files, processor.backbone_dir) == expected


@pytest.mark.parametrize("limits", [(1, 2**24), (65536, 2**24), (64 * 64, 128 * 128)])
def test_sizes_are_fitted_as_qwens_image_processor_does(limits):
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

    for height, width in itertools.product((17, 48, 63, 224, 256, 480), (17, 64, 100, 256, 640)):
        assert fitted_size(height, width, 32, *limits) == smart_resize(height, width, 32, *limits)


@pytest.mark.parametrize("albumentations", [False, True])
def test_images_are_resized_on_all_threads(albumentations, monkeypatch):
    transform = ImageTransform((32, 32), (28, 28), None, None, False, albumentations)
    frames = torch.randint(0, 256, (7, 48, 64, 3), dtype=torch.uint8)
    alone = transform(frames)
    name = "_with_opencv" if albumentations else "_with_torch"
    resize, seen, meet = getattr(ImageTransform, name), set(), threading.Barrier(3, timeout=30)

    def watched(self, images):
        seen.add(threading.get_ident())
        meet.wait()
        return resize(self, images)

    monkeypatch.setattr(ImageTransform, name, watched)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert torch.equal(transform(frames), alone)
    assert len(seen) == 3
