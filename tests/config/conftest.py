# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Two valid base configurations: the bundled task's, and the one that Isaac Lab ships."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest
from bases import BUNDLED, TROCAR

from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.migrate import migrate
from isaaclab_rlinf.config.validate import Validation, examine
from n1d5_files import write_trocar


@pytest.fixture(autouse=True)
def no_hidden_gpus(monkeypatch):
    """Let the GPUs that a test makes up all be visible, wherever it runs."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture(scope="session")
def trocar_yaml() -> Path:
    """The YAML in the installed isaaclab_tasks wheel."""
    root = Path(importlib.util.find_spec("isaaclab_tasks").origin).parent
    return root / "contrib/assemble_trocar/config" / f"{TROCAR}.yaml"


@pytest.fixture(scope="session")
def bundled_yaml() -> Path:
    """The YAML of the bundled task."""
    root = Path(importlib.util.find_spec("isaaclab_rlinf").origin).parent
    return root / "tasks/touch_color/config" / f"{BUNDLED}.yaml"


@pytest.fixture
def model_dir(tmp_path, monkeypatch) -> Path:
    """A checkpoint directory that fits the trocar YAML, and says that it fits the bundled one."""
    import isaaclab_rlinf.models.inspect as inspect

    directory = write_trocar(tmp_path / "model")
    facts = SimpleNamespace(
        action_dim=3,
        action_horizon=8,
        image_views=("main_images", "wrist_images"),
        state_dim=6,
        vocabulary=("ball", "blue", "green", "red", "the", "touch"),
        max_text_length=8,
        unknown_words="error",
    )
    monkeypatch.setattr(inspect, "checkpoint_facts", lambda path: facts)
    return directory


@pytest.fixture
def load(model_dir, bundled_yaml):
    """Compose and migrate a YAML (the bundled one by default) whose model path exists."""

    def loader(*overrides: str, source: Path = bundled_yaml):
        paths = [f"actor.model.model_path={model_dir}", f"rollout.model.model_path={model_dir}"]
        cfg = compose_config(source, [*paths, *overrides])
        return cfg, migrate(cfg)

    return loader


PINNED = (
    "actor.micro_batch_size=128",
    "actor.global_batch_size=512",
    "env.train.rollout_epoch=4",
    "env.train.max_steps_per_rollout_epoch=48",
    "runner.max_epochs=60",
    "~actor.model.rl_head_config.noise_anneal",
    "~actor.model.rl_head_config.noise_params",
    "+actor.model.rl_head_config.noise_level=0.4",
    "~actor.optim.lr_scheduler",
    "~actor.optim.total_training_steps",
    "~actor.optim.min_lr_rate",
    "runner.save_interval=10",
    "runner.val_check_interval=-1",
    "~env.train.init_params.env_overrides",
)
"""The numbers that the tests speak of, whatever the shipped YAML is tuned to."""


@pytest.fixture
def check(load, bundled_yaml):
    """Validate a YAML with overrides; returns the outcome."""

    def checker(
        *overrides: str,
        mode: str = "train",
        source: Path = bundled_yaml,
        accelerators: int = 0,
        placement: dict | None = None,
    ) -> Validation:
        pinned = PINNED if source == bundled_yaml else ()
        cfg, _ = load(*pinned, *overrides, source=source)
        if placement is not None:
            cfg.cluster.component_placement = placement
        return examine(cfg, source=source, mode=mode, num_accelerators=accelerators)

    return checker
