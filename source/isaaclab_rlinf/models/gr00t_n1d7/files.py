# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The files of a GR00T N1.7 checkpoint directory: where they are and what JSON they hold. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.inspect import read_json, reading
from isaaclab_rlinf.models.weight_files import INDEX, SINGLE, hint_of_run, refuse_pointers

MODEL_TYPES = ("Gr00tN1d7", "gr00t_n1d7")
"""``model_type`` in a released ``config.json``, and RLinf's name."""
PROCESSOR_FILES = ("processor_config.json", "statistics.json", "embodiment_id.json")
BACKBONE_DIR = "backbone"
"""Sub-directory in which our checkpoints keep the backbone's configuration, tokenizer and image processor."""
DEFAULT_EMBODIMENT_IDS: dict[str, int] = {
    "simpler_env_google": 0,
    "simpler_env_widowx": 1,
    "libero_sim": 2,
    "new_embodiment": 10,
    "robocasa_panda_omron": 10,
    "robocasa_gr1_tabletop": 10,
    "unitree_g1_sonic": 11,
    "oxe_droid_relative_eef_relative_joint": 24,
    "real_g1_relative_eef_relative_joints": 25,
    "unitree_g1_full_body_with_waist_height_nav_cmd": 25,
    "real_r1_pro_sharpa_relative_eef": 26,
    "real_r1_pro_sharpa_relative_eef_human": 26,
    "real_r1_pro_sharpa_relative_eef_maxinsights": 26,
    "real_r1_pro_sharpa_relative_eef_mecka": 26,
    "xdof_relative_eef_relative_joint": 27,
    "xdof_relative_eef_relative_joint_subtask": 27,
}
"""Projector index of the tags that Isaac-GR00T N1.7 knows; ``embodiment_id.json`` wins over it."""


@dataclass(frozen=True)
class CheckpointFiles:
    """A checkpoint directory, read.

    Attributes:
        path: The directory.
        processor_dir: Where the three processor files are: ``path/processor`` or ``path``.
        config: ``config.json``.
        processor: ``processor_kwargs`` of ``processor_config.json``.
        statistics: ``statistics.json``: {tag: {"state" | "action" | "relative_action": {key: {min, max, ...}}}}.
        embodiment_ids: ``embodiment_id.json`` over :data:`DEFAULT_EMBODIMENT_IDS`.
    """

    path: Path
    processor_dir: Path
    config: dict[str, Any]
    processor: dict[str, Any]
    statistics: dict[str, Any]
    embodiment_ids: dict[str, int]

    @property
    def tags(self) -> list[str]:
        """Embodiment tags that have modalities, statistics and a projector."""
        known = set(self.processor.get("modality_configs", {})) & set(self.statistics) & set(self.embodiment_ids)
        return sorted(known)


def read_files(model_path: str | Path) -> CheckpointFiles:
    """Read the JSON files of a checkpoint directory.

    Args:
        model_path: Directory as released, or as written by this package.

    Raises:
        ValueError: If the directory or files are missing (all of them are listed), a file is damaged, or the model
            is another one.
    """
    path = Path(model_path).expanduser()
    if not path.is_dir():
        raise ValueError(f"model_path {str(path)!r} is not a directory; expected a GR00T N1.7 checkpoint directory")
    places = [path / "processor", path]
    complete = next((place for place in places if all((place / name).is_file() for name in PROCESSOR_FILES)), None)
    missing = [] if (path / "config.json").is_file() else ["config.json"]
    if not any((path / name).is_file() for name in (SINGLE, INDEX)):
        missing.append(f"{SINGLE} (or {INDEX} with its shards)")
    if complete is None:
        absent = [name for name in PROCESSOR_FILES if not any((place / name).is_file() for place in places)]
        missing += absent or [f"{', '.join(PROCESSOR_FILES)} all in one of processor/ and the root"]
    if missing:
        hint = hint_of_run(path)
        raise ValueError(
            f"model_path {str(path)!r} is not a complete GR00T N1.7 checkpoint; {hint or f'missing: {missing}'}"
        )
    refuse_pointers(path)
    config = read_json(path / "config.json")
    _check_model_type(path, config)
    with reading(path):
        files = CheckpointFiles(
            path=path,
            processor_dir=complete,
            config=config,
            processor=dict(read_json(complete / "processor_config.json").get("processor_kwargs", {})),
            statistics=read_json(complete / "statistics.json"),
            embodiment_ids={**DEFAULT_EMBODIMENT_IDS, **_given_ids(complete)},
        )
        _ = files.tags
    return files


def _given_ids(processor_dir: Path) -> dict[str, int]:
    return {str(tag): int(index) for tag, index in read_json(processor_dir / "embodiment_id.json").items()}


def _check_model_type(path: Path, config: dict[str, Any]) -> None:
    found = config.get("model_type")
    if found in MODEL_TYPES:
        return
    other = {"gr00t_n1_5": " (GR00T N1.5: use model_type: gr00t)", "Gr00tN1d6": " (GR00T N1.6: use gr00t_n1d6)"}
    raise ValueError(
        f"{path / 'config.json'} has model_type {found!r}{other.get(str(found), '')}, expected {MODEL_TYPES[0]!r}; "
        "model_path and model_type must belong together"
    )
