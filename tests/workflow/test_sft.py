# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from isaaclab_rlinf.cli import main
from isaaclab_rlinf.config.errors import ConfigError
from isaaclab_rlinf.models.tiny_vla.sft import TinyVLALearner
from isaaclab_rlinf.workflow import sft_cli, sft_loop
from isaaclab_rlinf.workflow.dataset_memory import load_demonstrations
from isaaclab_rlinf.workflow.sft import SftSettings, train_sft
from isaaclab_rlinf.workflow.sft_cli import add_sft_args, run_sft
from isaaclab_rlinf.workflow.sft_loop import learning_rate_factor

_spec = importlib.util.spec_from_file_location("synthetic", Path(__file__).parents[1] / "models" / "synthetic.py")
synthetic = sys.modules.setdefault("synthetic", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(synthetic)

EPISODES, FRAMES = 6, 5


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def dataset_dir(tmp_path_factory) -> Path:
    """A LeRobot dataset whose episodes each show one still scene."""
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    root = tmp_path_factory.mktemp("data") / "discs"
    image = {"dtype": "image", "shape": (64, 64, 3), "names": ["height", "width", "channel"]}
    vector = {"dtype": "float32", "shape": (3,), "names": ["a", "b", "c"]}
    features = {f"observation.images.{view}": image for view in reversed(synthetic.VIEWS)}
    features |= {"observation.state": vector, "action": vector}
    dataset = LeRobotDataset.create("local/discs", fps=20, features=features, root=root, use_videos=False)
    scene = synthetic.make_scenes(EPISODES, seed=3)
    actions = synthetic.expert_chunk(scene, FRAMES)
    for episode in range(EPISODES):
        images = dict(zip(synthetic.VIEWS, scene.images[episode].numpy(), strict=True))
        for frame in range(FRAMES):
            dataset.add_frame(
                {
                    **{f"observation.images.{view}": image for view, image in images.items()},
                    "observation.state": scene.state[episode].numpy(),
                    "action": actions[episode, frame].numpy(),
                    "task": scene.tasks[episode],
                }
            )
        dataset.save_episode()
    dataset.finalize()
    return root


def make_base(path: Path) -> Path:
    """A GR00T N1.7 that fits the dataset."""
    from isaaclab_rlinf.models.gr00t_n1d7.tiny import make_tiny_checkpoint
    from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment, TinySizes

    embodiment = TinyEmbodiment(
        embodiment_id=1, state={"position": 3}, action={"goal": 3}, relative={"goal": "position"}, horizon=4
    )
    sizes = TinySizes(width=32, vision_width=32, action_width=32, heads=2, patch=16, embodiments=2)
    return make_tiny_checkpoint(path, ["touch the red ball"], embodiment, sizes)


@pytest.fixture(scope="module")
def trained(dataset_dir, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("sft") / "model"
    parser = argparse.ArgumentParser()
    add_sft_args(parser)
    arguments = ["--dataset", str(dataset_dir), "--out", str(out), "--steps", "30", "--batch_size", "8", "--seed", "4"]
    assert run_sft(parser.parse_args(arguments)) == 0
    return out


def test_frames_come_back_exactly_and_in_model_order(dataset_dir):
    data = load_demonstrations(dataset_dir)
    scene = synthetic.make_scenes(EPISODES, seed=3)
    assert data.views == synthetic.VIEWS
    assert torch.equal(data.images, scene.images.repeat_interleave(FRAMES, dim=0))
    assert torch.equal(data.state, scene.state.repeat_interleave(FRAMES, dim=0))
    assert list(data.tasks[::FRAMES]) == scene.tasks
    assert (data.episodes, data.fps) == (EPISODES, 20)


def test_chunks_repeat_the_last_action_and_never_cross_episodes(dataset_dir):
    data = load_demonstrations(dataset_dir)
    chunk = data.action_chunks(torch.tensor([0, FRAMES - 2]), 8)
    assert torch.equal(chunk[0, :FRAMES], data.action[:FRAMES])
    assert torch.equal(chunk[0, FRAMES:], data.action[FRAMES - 1].expand(3, -1))
    assert torch.equal(chunk[1, 0], data.action[FRAMES - 2])
    assert torch.equal(chunk[1, 1:], data.action[FRAMES - 1].expand(7, -1))


def test_max_episodes_takes_the_first_ones(dataset_dir):
    data = load_demonstrations(dataset_dir, max_episodes=2)
    assert data.episodes == 2 and len(data.tasks) == 2 * FRAMES
    assert torch.equal(data.action, load_demonstrations(dataset_dir).action[: 2 * FRAMES])
    with pytest.raises(ConfigError, match=rf"--max_episodes: 9, .*; allowed: 1 to {EPISODES}"):
        load_demonstrations(dataset_dir, max_episodes=9)


def test_loss_falls_and_the_result_is_a_checkpoint_rl_can_start_from(trained, dataset_dir):
    from omegaconf import OmegaConf

    from isaaclab_rlinf.models.tiny_vla.builder import build_policy

    summary = json.loads((trained / "sft.json").read_text())
    assert summary["result"]["final_loss"] < 0.7 * summary["result"]["first_loss"]
    assert str(dataset_dir.parent) not in (trained / "sft.json").read_text()
    policy = build_policy(OmegaConf.create({"model_path": str(trained), "action_dim": 3, "num_action_chunks": 8}))
    data = load_demonstrations(dataset_dir)
    observation = {
        "main_images": data.images[:4, 0],
        "wrist_images": data.images[:4, 1],
        "states": data.state[:4],
        "task_descriptions": list(data.tasks[:4]),
    }
    actions, _ = policy.predict_action_batch(observation, mode="eval")
    assert (actions >= data.action.amin(0) - 1e-5).all() and (actions <= data.action.amax(0) + 1e-5).all()


def test_loss_curve_is_written_as_tensorboard_events(trained):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(trained / "tensorboard")).Reload()
    assert [event.step for event in events.Scalars("sft/loss")] == list(range(1, 31))


def test_same_seed_gives_the_same_weights_and_another_does_not(trained, dataset_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("every GPU got the same seed"))
    first = load_file(trained / "model.safetensors")
    for seed, same in ((4, True), (5, False)):
        before = torch.get_rng_state()
        train_sft(dataset_dir, tmp_path / str(seed), SftSettings(steps=30, batch_size=8, seed=seed))
        assert torch.equal(torch.get_rng_state(), before)
        weights = load_file(tmp_path / str(seed) / "model.safetensors")
        assert all(torch.equal(weights[key], first[key]) for key in first) == same


def test_mistakes_are_named_before_anything_is_written(dataset_dir, trained, tmp_path):
    with pytest.raises(FileExistsError, match="never overwritten"):
        train_sft(dataset_dir, trained, SftSettings(steps=1))
    with pytest.raises(ConfigError, match=r"no meta/info\.json"):
        train_sft(tmp_path, tmp_path / "out", SftSettings(steps=1))
    assert not (tmp_path / "out").exists()


def test_learning_rate_warms_up_and_decays():
    factors = [learning_rate_factor(step, 1000) for step in range(1000)]
    assert factors[0] == pytest.approx(0.02, rel=0.01)
    assert max(factors) == factors[49]
    assert factors[-1] == pytest.approx(0.01, abs=1e-4)


def test_cli_modules_are_light():
    code = (
        "import sys; from isaaclab_rlinf.workflow import dataset_memory, sft, sft_cli;"
        "print([m for m in ('torch', 'transformers', 'lerobot') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_gr00t_checkpoint_is_trained_in_place_of_a_new_tiny_vla(dataset_dir, tmp_path, capsys):
    from isaaclab_rlinf.models.gr00t_n1d7.builder import build_policy

    base = make_base(tmp_path / "base")
    parser = argparse.ArgumentParser()
    add_sft_args(parser)
    common = ["--dataset", str(dataset_dir), "--base", str(base), "--steps", "60", "--batch_size", "8"]
    common += ["--lr", "0.005"]
    assert run_sft(parser.parse_args([*common, "--out", str(tmp_path / "out"), "--tune_llm"])) == 0
    assert "front_view of the checkpoint is trained on main_images" in capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "sft.json").read_text())
    assert summary["result"]["final_loss"] < 0.8 * summary["result"]["first_loss"]
    assert summary["settings"]["base"] == "base"
    before, after = (load_file(path / "model.safetensors") for path in (base, tmp_path / "out"))
    changed = {key for key, value in before.items() if not torch.equal(value, after[key])}
    assert any("language_model" in key for key in changed) and not any("visual" in key for key in changed)
    # The dataset's statistics, relative to the state and per step of the chunk, bound what the policy does.
    data = load_demonstrations(dataset_dir)
    chunks = data.action_chunks(torch.arange(len(data.tasks)), 4) - data.state[:, None]
    policy = build_policy({"model_path": str(tmp_path / "out"), "action_dim": 3, "num_action_chunks": 4})
    observation = {
        "main_images": data.images[:4, 0],
        "wrist_images": data.images[:4, 1],
        "states": data.state[:4],
        "task_descriptions": list(data.tasks[:4]),
    }
    actions = policy.predict_action_batch(observation, mode="train")[0] - data.state[:4, None]
    assert (actions >= chunks.amin(0) - 1e-5).all() and (actions <= chunks.amax(0) + 1e-5).all()


def test_flags_of_the_base_without_it_and_a_base_that_does_not_fit(dataset_dir, tmp_path):
    parser = argparse.ArgumentParser()
    add_sft_args(parser)
    common = ["--dataset", str(dataset_dir), "--out", str(tmp_path / "out")]
    with pytest.raises(ConfigError, match=r"--tune_llm.*no effect without --base"):
        run_sft(parser.parse_args([*common, "--tune_llm"]))
    with pytest.raises(ConfigError, match=r"not a complete GR00T N1\.7 checkpoint; missing"):
        run_sft(parser.parse_args([*common, "--base", str(tmp_path)]))
    assert not (tmp_path / "out").exists()


def sft(*arguments) -> int:
    return main(["sft", *map(str, arguments)])


def test_a_failed_or_interrupted_run_leaves_nothing_and_can_be_repeated(dataset_dir, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    common = ("--dataset", dataset_dir, "--out", out, "--steps", 3, "--batch_size", 2)
    assert sft(*common, "--lr", "1e30") == 1
    told = capsys.readouterr()
    assert "[ERROR] the loss is" in told.err and "lower --lr (1e+30)" in told.err and "Traceback" not in told.err
    assert "on the CPU in float32" in told.out
    with monkeypatch.context() as patch:
        patch.setattr(sft_loop, "_draw_batch", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert sft(*common) == 130
    with monkeypatch.context() as patch:
        patch.setattr(sft_cli, "_check_flags", lambda args: (_ for _ in ()).throw(KeyboardInterrupt))
        assert sft(*common) == 130
    with monkeypatch.context() as patch:
        patch.setattr(TinyVLALearner, "save", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert sft(*common) == 1
        assert "No space left on device; nothing was written" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(TinyVLALearner, "frame_inputs", lambda *_: int("an instruction is empty"))
        assert sft(*common) == 2
    assert "--dataset" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert sft(*common) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"] and (out / "tensorboard").is_dir()


def test_a_base_whose_weights_are_broken_is_one_error(dataset_dir, tmp_path, capsys):
    base = make_base(tmp_path / "base")
    file = base / "model.safetensors"
    weights = {key: value.clone() for key, value in load_file(file).items() if "decoder" not in key}
    for damage in (lambda: save_file(weights, file), lambda: file.write_bytes(b"")):
        damage()
        assert sft("--dataset", dataset_dir, "--out", tmp_path / "out", "--base", base, "--steps", 1) == 2
        told = capsys.readouterr()
        assert "--base" in told.err and "Traceback" not in told.err
        assert "peak learning rate" not in told.out  # told before anything starts
    assert [path.name for path in tmp_path.iterdir()] == ["base"]


def test_the_learning_rate_depends_on_the_base():
    assert SftSettings(steps=1).lr == 1e-3
    assert SftSettings(steps=1, base=Path("base")).lr == 1e-4
    assert SftSettings(steps=1, base=Path("base"), lr=0.5).lr == 0.5
    for rate in ("0", "-1", "nan", "inf", "x"):
        with pytest.raises(SystemExit, match="2"):
            sft("--dataset", "d", "--out", "o", f"--lr={rate}")
