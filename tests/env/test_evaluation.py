# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""RLinf's own evaluation loop over our environment: whole episodes, each counted once, the same ones every time."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from fake_simulator import InProcessSimulator, SeededSimulator
from omegaconf import OmegaConf

from isaaclab_rlinf.env import generic_env
from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv
from isaaclab_rlinf.workers.env import SimulatorEnvWorker

ENVS, CHUNK, ROUNDS, STEPS = 5, 4, 3, 12
CFG = {
    "seed": 2**32 - 1,  # the largest one; what follows from it wraps around
    "env_type": "isaaclab",
    "auto_reset": False,
    "max_episode_steps": 9,
    "video_cfg": {"save_video": False},
    "init_params": {"id": "Fake-v0", "action_chunk": CHUNK, "report_instruction": True},
    "isaaclab": {"task_description": {"obs": "instruction"}, "main_images": "front", "states": ["moment"]},
}


@pytest.fixture
def worker(monkeypatch):
    return build_worker(monkeypatch)


def build_worker(monkeypatch, **video):
    """RLinf's environment worker with two simulators and, in place of a policy, actions that are all zero."""
    monkeypatch.setattr(generic_env, "Simulator", lambda spec: InProcessSimulator(spec, SeededSimulator(spec.num_envs)))
    worker = object.__new__(SimulatorEnvWorker)
    env_cfg = CFG | {"video_cfg": {"save_video": bool(video), **video}}
    cfg = OmegaConf.create({"env": {"eval": env_cfg}, "rollout": {"group_name": "rollout"}})
    envs = [IsaacLabGenericEnv(cfg.env.eval, ENVS, offset, 2, None) for offset in (0, 1)]
    values = {
        "cfg": cfg,
        "eval_env_list": envs,
        "stage_num": 2,
        "eval_num_envs_per_stage": ENVS,
        "eval_rollout_epoch": ROUNDS,
        "n_eval_chunk_steps": STEPS // CHUNK,
        "eval_batch_size": ENVS,
        "eval_prev_done": [None, None],
        "eval_enable_offload": False,
        "env_decoupled_mode": False,
        "use_external_reward_model": False,
        "model_cfg": SimpleNamespace(model_type="openvla", num_action_chunks=CHUNK, action_dim=2, get=lambda *_: None),
        "send_to": lambda **_: None,
        "recv_from": lambda **_: torch.zeros(ENVS, CHUNK, 2),
    }
    for name, value in values.items():
        object.__setattr__(worker, name, value)
    return worker


def episodes(metrics):
    names = ("env_index", "episode_len", "success_once")
    return list(zip(*(metrics[name].tolist() for name in names), strict=True))


def test_every_evaluation_plays_the_same_whole_episodes_each_counted_once(worker):
    first = worker.evaluate(None, None)
    assert len(first["success_once"]) == 2 * ENVS * ROUNDS
    assert sorted(first["env_index"].tolist()) == sorted(list(range(2 * ENVS)) * ROUNDS)
    assert first["episode_len"].min() >= 1 and 0 < first["success_once"].float().mean() < 1
    # What was drawn before, such as by another number of steps, has no influence.
    worker.eval_env_list[0].simulator.step_chunk()
    second = worker.evaluate(None, None)
    assert episodes(second) == episodes(first)


def test_rounds_and_simulators_have_different_episodes(worker):
    metrics = worker.evaluate(None, None)
    lengths = {}
    for env, length, _ in episodes(metrics):
        lengths.setdefault(env, []).append(length)
    rounds = list(zip(*(lengths[env] for env in range(2 * ENVS)), strict=True))
    assert len(set(rounds)) == ROUNDS
    assert all(row[:ENVS] != row[ENVS:] for row in rounds)


def test_training_goes_on_in_its_random_numbers(worker):
    env = worker.eval_env_list[0]
    drawn = []
    for _ in range(3):
        env.reset()
        drawn.append(dict(env.simulator.env.drawn))
    assert drawn[0] != drawn[1] != drawn[2], "only evaluations are seeded anew"


def test_one_video_for_all_rounds_of_an_evaluation_and_one_for_each_simulator(monkeypatch, tmp_path, capsys):
    worker = build_worker(monkeypatch, video_base_dir=str(tmp_path), max_envs=2, height=64, fps=4)
    for env in worker.eval_env_list:
        env.simulator.video._open = partial(_count_frames, env.simulator.video)
    worker.evaluate(None, None)
    assert capsys.readouterr().out.count("Video written") == 2
    names = [env.simulator.video.names for env in worker.eval_env_list]
    assert names == [["a file-worker0"], ["a file-worker1"]], "all rounds in one"
    worker.evaluate(None, None)
    assert [len(env.simulator.video.names) for env in worker.eval_env_list] == [2, 2]


def _count_frames(video):
    video.names = [*getattr(video, "names", []), f"a file{video._spec.suffix}"]
    video._path = video.names[-1]
    video._writer = SimpleNamespace(append_data=lambda frame: None, close=lambda: None)
