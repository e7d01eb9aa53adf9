# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

import pytest
import torch
from synthetic import COLOURS, VIEWS, Scene, expert_chunk, make_scenes


@pytest.fixture(autouse=True)
def _one_thread(one_thread):
    """Every test of this directory."""


@pytest.fixture(scope="session")
def scene() -> Scene:
    return make_scenes(6, seed=0)


@pytest.fixture(scope="session")
def env_obs(scene: Scene) -> dict:
    return {
        "main_images": scene.images[:, 0],
        "wrist_images": scene.images[:, 1],
        "extra_view_images": None,
        "states": scene.state,
        "task_descriptions": scene.tasks,
    }


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, scene: Scene) -> Path:
    """A complete checkpoint of the default architecture with random weights, none of them zero."""
    from isaaclab_rlinf.models.tiny_vla import (
        TinyVLAConfig,
        TinyVLAModel,
        TinyVLAProcessor,
        build_tokenizer,
        min_max_statistics,
    )

    path = tmp_path_factory.mktemp("tiny_vla")
    tokenizer = build_tokenizer([f"touch the {colour} ball" for colour in COLOURS], 8)
    torch.manual_seed(0)
    model = TinyVLAModel(TinyVLAConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.03 * torch.randn_like(parameter))
    model.save_pretrained(path)
    statistics = min_max_statistics(scene.state, expert_chunk(scene).flatten(0, 1))
    TinyVLAProcessor(tokenizer, statistics, image_views=VIEWS, image_size=64, max_text_length=8).save_pretrained(path)
    return path


@pytest.fixture
def policy_cfg(checkpoint: Path):
    from omegaconf import OmegaConf

    return OmegaConf.create(
        {
            "model_type": "tiny_vla",
            "model_path": str(checkpoint),
            "precision": "fp32",
            "is_lora": False,
            "action_dim": 3,
            "num_action_chunks": 8,
            "rl_head_config": {"noise_level": 0.4},
        }
    )
