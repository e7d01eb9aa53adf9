# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import json
import shutil
import unicodedata

import pytest
import tokenizers
import torch
from transformers import AutoConfig, AutoModel, AutoProcessor

from isaaclab_rlinf.models.base import bundled_checkpoint
from isaaclab_rlinf.models.tiny_vla import TinyVLAConfig, TinyVLAModel, TinyVLAProcessor, build_tokenizer


def _inputs(checkpoint, scene):
    processor = TinyVLAProcessor.from_pretrained(checkpoint)
    images = {"main_images": scene.images[:, 0], "wrist_images": scene.images[:, 1]}
    return dict(processor(images, scene.tasks, scene.state))


def test_size_is_that_of_a_tiny_model(checkpoint):
    model = TinyVLAModel.from_pretrained(checkpoint)
    assert 1_000_000 < sum(p.numel() for p in model.parameters()) < 3_000_000


def test_round_trip_through_auto_classes_gives_identical_actions(checkpoint, scene, tmp_path):
    inputs = _inputs(checkpoint, scene)
    first = AutoModel.from_pretrained(checkpoint)
    assert isinstance(first, TinyVLAModel)
    assert isinstance(AutoConfig.from_pretrained(checkpoint), TinyVLAConfig)
    first.save_pretrained(tmp_path)
    AutoProcessor.from_pretrained(checkpoint).save_pretrained(tmp_path)
    second = AutoModel.from_pretrained(tmp_path)
    assert torch.equal(first.generate_actions(**inputs), second.generate_actions(**inputs))
    for name in ("config.json", "model.safetensors", "processor_config.json", "tokenizer.json"):
        assert (tmp_path / name).is_file()
    again = _inputs(tmp_path, scene)
    assert all(torch.equal(again[key], inputs[key]) for key in inputs)


def test_every_input_matters(checkpoint, scene):
    inputs = _inputs(checkpoint, scene)
    model = TinyVLAModel.from_pretrained(checkpoint)
    reference = model.generate_actions(**inputs)
    for key in ("pixel_values", "input_ids", "state"):
        changed = {**inputs, key: inputs[key].roll(1, dims=0)}
        assert not torch.allclose(model.generate_actions(**changed), reference, atol=1e-4), key


def test_padding_tokens_do_not_matter(checkpoint, scene):
    inputs = _inputs(checkpoint, scene)
    model = TinyVLAModel.from_pretrained(checkpoint)
    other = {**inputs, "input_ids": torch.where(inputs["attention_mask"] == 0, 1, inputs["input_ids"])}
    assert torch.allclose(model.generate_actions(**other), model.generate_actions(**inputs), atol=1e-6)


def test_bfloat16_runs_and_is_close(checkpoint, scene):
    inputs = _inputs(checkpoint, scene)
    exact = TinyVLAModel.from_pretrained(checkpoint).generate_actions(**inputs)
    rough = TinyVLAModel.from_pretrained(checkpoint, dtype=torch.bfloat16).generate_actions(**inputs)
    assert rough.dtype == torch.float32
    assert (rough - exact).abs().mean() < 0.05 * exact.abs().mean()


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradient_checkpointing_gives_the_same_gradients(checkpoint, scene, reentrant):
    inputs = _inputs(checkpoint, scene)
    target = {"actions": torch.rand(6, 8, 3), "noise": torch.randn(6, 8, 3), "time": torch.rand(6)}
    gradients = []
    for checkpointing in (False, True):
        model = TinyVLAModel.from_pretrained(checkpoint).train()
        if checkpointing:
            model.gradient_checkpointing_enable({"use_reentrant": reentrant})
            assert all(layer.gradient_checkpointing for layer in model.context_encoder.layers)
        model(**inputs, **target).backward()
        assert all(p.grad is not None for p in model.parameters())
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    assert torch.allclose(*gradients, atol=1e-6)


def test_unknown_word_is_an_error_that_names_it_and_the_vocabulary(checkpoint):
    processor = TinyVLAProcessor.from_pretrained(checkpoint)
    with pytest.raises(ValueError, match=r"does not know purple.*ball, blue, green, red, the, touch"):
        processor.token_ids("Touch the purple, ball")
    lenient = TinyVLAProcessor(processor.tokenizer, processor.statistics, unknown_words="unk")
    assert processor.tokenizer.unk_token_id in lenient.token_ids("touch the purple ball")


def test_case_and_punctuation_do_not_matter_but_length_does(checkpoint):
    processor = TinyVLAProcessor.from_pretrained(checkpoint)
    assert processor.token_ids("Touch the RED ball!") == processor.token_ids("touch the red ball")
    for text, found in (("", "has no word"), ("the " * 9, "has 9 words; allowed: 1 to 8 words")):
        with pytest.raises(ValueError, match=found):
            processor.token_ids(text)


TRAINED = ["Touchez la balle à côté", "लाल गेंद को छुओ", "แตะลูกบอลสีแดง", "İtici topu bul", "Weiße Straße"]


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("read", ["NFC", "NFD"])
def test_what_it_was_trained_on_is_known_in_either_unicode_form(checkpoint, tmp_path, written, read):
    tokenizer = build_tokenizer([unicodedata.normalize(written, text) for text in TRAINED], 8)
    statistics = TinyVLAProcessor.from_pretrained(checkpoint).statistics
    TinyVLAProcessor(tokenizer, statistics).save_pretrained(tmp_path)
    processor = TinyVLAProcessor.from_pretrained(tmp_path)
    for text in TRAINED:
        ids = processor.token_ids(unicodedata.normalize(read, text))
        assert processor.tokenizer.unk_token_id not in ids
        assert processor.token_ids(unicodedata.normalize(read, text).lower()) == ids
    processor.save_pretrained(tmp_path / "again")
    assert (tmp_path / "again/processor_config.json").read_text() == (tmp_path / "processor_config.json").read_text()


def test_a_vocabulary_written_by_the_former_rule_still_reads():
    """Lower case kept the sharp s, which folding writes as ss."""
    tokenizer = build_tokenizer(["straße"], 8)
    old = json.loads(tokenizer.backend_tokenizer.to_str())
    old["model"]["vocab"] = {"<pad>": 0, "<unk>": 1, "straße": 2}
    tokenizer._tokenizer = tokenizers.Tokenizer.from_str(json.dumps(old))
    processor = TinyVLAProcessor(tokenizer, {"state": {}, "action": {}})
    assert processor.token_ids("Straße") == [2, 0, 0, 0, 0, 0, 0, 0]


def test_the_shipped_checkpoint_gives_ascii_the_ids_it_was_trained_with():
    processor = TinyVLAProcessor.from_pretrained(bundled_checkpoint())
    tokenizer = processor.tokenizer
    for text in ("touch the red ball", "Touch the GREEN ball!", "touch,the.blue\tball"):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert processor.token_ids(text) == ids + [0] * (8 - len(ids))


def test_token_ids_do_not_depend_on_the_order_of_texts():
    texts = ["touch the red ball", "push a green cube"]
    assert build_tokenizer(texts, 8).get_vocab() == build_tokenizer(texts[::-1], 8).get_vocab()


def test_wrong_views_sizes_and_widths_are_named(checkpoint, scene):
    processor = TinyVLAProcessor.from_pretrained(checkpoint)
    image = scene.images[:, 0]
    with pytest.raises(ValueError, match=r"missing: \['wrist_images'\]"):
        processor({"main_images": image}, scene.tasks, scene.state)
    with pytest.raises(ValueError, match=r"not used by the model: \['extra_view_images_0'\]"):
        processor(
            dict.fromkeys(("main_images", "wrist_images", "extra_view_images_0"), image), scene.tasks, scene.state
        )
    with pytest.raises(ValueError, match="camera's width and height"):
        processor(dict.fromkeys(("main_images", "wrist_images"), image[:, :32]), scene.tasks, scene.state)
    with pytest.raises(ValueError, match="width 2, the checkpoint was trained on width 3"):
        processor.normalize("state", scene.state[:, :2])


def test_normalisation_inverts_and_clamps(checkpoint):
    processor = TinyVLAProcessor.from_pretrained(checkpoint)
    low, high = (torch.tensor(processor.statistics["action"][k]) for k in ("min", "max"))
    inside = low + (high - low) * torch.rand(5, 8, 3)
    assert torch.allclose(processor.unnormalize("action", processor.normalize("action", inside)), inside, atol=1e-6)
    assert torch.allclose(processor.unnormalize("action", torch.full((1, 3), 7.0)), high)
    constant = TinyVLAProcessor(processor.tokenizer, {"action": {"min": [2.0], "max": [2.0]}})
    assert constant.normalize("action", torch.tensor([[2.0]])) == 0.0
    assert constant.unnormalize("action", torch.tensor([[0.3]])) == 2.0


def test_config_rejects_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="image_size 60 is not a multiple"):
        TinyVLAConfig(image_size=60)


def test_facts_come_from_json_and_name_missing_files(checkpoint, tmp_path):
    from isaaclab_rlinf.models.inspect import checkpoint_facts

    facts = checkpoint_facts(checkpoint)
    assert (facts.action_dim, facts.action_horizon, facts.state_dim, facts.image_size) == (3, 8, 3, 64)
    assert facts.image_views == ("main_images", "wrist_images")
    assert facts.vocabulary == ("ball", "blue", "green", "red", "the", "touch")
    broken = tmp_path / "broken"
    shutil.copytree(checkpoint, broken)
    (broken / "tokenizer.json").unlink()
    (broken / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"\['tokenizer.json', 'model.safetensors'\]"):
        checkpoint_facts(broken)
    with pytest.raises(ValueError, match="not a directory"):
        checkpoint_facts(tmp_path / "absent")


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("config.json", {"model_type": "qwen3"}, "model_type 'qwen3'"),
        ("config.json", {"action_dim": 5}, "contradicts itself in action_dim.*says 5.*says 3"),
        ("processor_config.json", {"image_size": 96}, "contradicts itself in image_size"),
    ],
)
def test_facts_reject_contradictions(checkpoint, tmp_path, file, change, message):
    from isaaclab_rlinf.models.inspect import checkpoint_facts

    copy = shutil.copytree(checkpoint, tmp_path / "copy")
    values = json.loads((copy / file).read_text())
    (copy / file).write_text(json.dumps({**values, **change}))
    with pytest.raises(ValueError, match=message):
        checkpoint_facts(copy)


def test_facts_import_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys, isaaclab_rlinf.models.inspect, isaaclab_rlinf.models.registry, isaaclab_rlinf.models.base;"
        "print([m for m in ('torch', 'transformers', 'rlinf') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_building_leaves_the_seeds_of_the_gpus_alone(monkeypatch):
    from omegaconf import OmegaConf

    from isaaclab_rlinf.models.tiny_vla.builder import build_policy

    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("every GPU got the same seed"))
    build_policy(OmegaConf.create({"action_dim": 3, "num_action_chunks": 8}))
