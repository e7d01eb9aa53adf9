# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a GR00T N1.5 checkpoint is, from its JSON files and weight headers: for checks before heavy imports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.inspect import reading
from isaaclab_rlinf.models.weight_files import read_shapes, refuse_pointers

MODEL_TYPE = "gr00t_n1_5"
METADATA = Path("experiment_cfg") / "metadata.json"


@dataclass(frozen=True)
class N1d5Facts:
    """Facts about one embodiment of a checkpoint directory.

    Attributes:
        path: The directory.
        tag: The embodiment.
        action_horizon: Actions predicted per call.
        max_action_dim: Width to which actions are padded inside the model.
        max_state_dim: Width to which the state is padded.
        max_embodiments: Number of projectors.
        video: Bare video key -> resolution (width, height) in pixels.
        state: Bare state key -> width.
        action: Bare action key -> width.
    """

    path: Path
    tag: str
    action_horizon: int
    max_action_dim: int
    max_state_dim: int
    max_embodiments: int
    video: Mapping[str, tuple[int, int]]
    state: Mapping[str, int]
    action: Mapping[str, int]

    @property
    def action_dim(self) -> int:
        """Width of an action of this embodiment: RLinf's ``valid_action_dim``."""
        return sum(self.action.values())


def read_facts(model_path: str | Path, tag: str) -> N1d5Facts:
    """Read the facts of a checkpoint directory.

    Args:
        model_path: Directory with ``config.json`` and ``experiment_cfg/metadata.json``.
        tag: Embodiment whose modalities are wanted.

    Raises:
        ValueError: If a file is missing or damaged, weights included, the checkpoint is of another generation, or it
            has no such tag (the message lists those it has).
    """
    path = Path(model_path)
    refuse_pointers(path)
    config = _read(path / "config.json")
    found = config.get("model_type")
    if found != MODEL_TYPE:
        raise ValueError(
            f"{path / 'config.json'} has model_type {found!r}; GR00T N1.5 (model_type: gr00t) has {MODEL_TYPE!r}"
        )
    embodiments = _read(path / METADATA)
    read_shapes(path)
    if tag not in embodiments:
        raise ValueError(f"{path / METADATA} has no embodiment {tag!r}; it has: {', '.join(sorted(embodiments))}")
    with reading(path):
        return _facts(path, tag, config, embodiments[tag]["modalities"])


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ValueError(f"{path} is missing; it is part of every GR00T N1.5 checkpoint") from None
    except (ValueError, RecursionError) as error:  # of the JSON, or of the text's encoding
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no JSON object")
    return content


def _facts(path: Path, tag: str, config: dict[str, Any], modalities: dict[str, Any]) -> N1d5Facts:
    head = config["action_head_cfg"]
    return N1d5Facts(
        path=path,
        tag=tag,
        action_horizon=int(config["action_horizon"]),
        max_action_dim=int(config["action_dim"]),
        max_state_dim=int(head.get("max_state_dim", 64)),
        max_embodiments=int(head.get("max_num_embodiments", 32)),
        video={key: (int(v["resolution"][0]), int(v["resolution"][1])) for key, v in modalities["video"].items()},
        state={key: int(v["shape"][0]) for key, v in modalities.get("state", {}).items()},
        action={key: int(v["shape"][0]) for key, v in modalities["action"].items()},
    )


def has_weights(model_path: str | Path, part: str) -> bool:
    """Return whether the weight files of a checkpoint hold a weight whose name contains ``part``."""
    return any(part in name for name in read_shapes(Path(model_path)))
