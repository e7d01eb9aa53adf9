# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a GR00T N1.7 checkpoint is for one embodiment, by JSON and weight headers: for checks before heavy imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.inspect import reading

from .files import CheckpointFiles, read_files
from .weights import check_weights


@dataclass(frozen=True)
class Part:
    """One named group of state or action values.

    Attributes:
        key: Name without prefix.
        width: Number of values.
        relative: Whether actions of this group are given relative to the state at the start of the chunk.
        pose: How a relative group composes: ``"difference"``, ``"xyz_rot6d"`` or ``"xyz_rotvec"``.
        state_key: State group that a relative action group refers to.
    """

    key: str
    width: int
    relative: bool = False
    pose: str = "difference"
    state_key: str = ""


@dataclass(frozen=True)
class Gr00tN1d7Facts:
    """Facts about a checkpoint directory and one embodiment tag in it.

    Attributes:
        path: The directory.
        model_type: ``gr00t_n1d7``.
        embodiment_tag: The tag.
        embodiment_id: Index of its projector.
        state: State groups in model order.
        action: Action groups in model order.
        action_horizon: Actions predicted per call that mean something for this tag (length of ``delta_indices``).
        image_views: Video keys in model order, without prefix.
        language_key: Key of the instruction, verbatim.
        num_denoising_steps: Default number of denoising steps.
    """

    path: Path
    model_type: str
    embodiment_tag: str
    embodiment_id: int
    state: tuple[Part, ...]
    action: tuple[Part, ...]
    action_horizon: int
    image_views: tuple[str, ...]
    language_key: str
    num_denoising_steps: int

    @property
    def action_dim(self) -> int:
        """Width of one action."""
        return sum(part.width for part in self.action)

    @property
    def state_dim(self) -> int:
        """Width of the raw state."""
        return sum(part.width for part in self.state)


def checkpoint_facts(model_path: str | Path | CheckpointFiles, embodiment_tag: str | None) -> Gr00tN1d7Facts:
    """Read the facts of a checkpoint directory for one embodiment.

    Args:
        model_path: Directory, or its files already read.
        embodiment_tag: The tag; None is allowed when the checkpoint has only one.

    Raises:
        ValueError: If files are missing, the tag is not in all of modality configs, statistics and embodiment ids (the
            message lists those that are), or the files contradict each other, weights included.
    """
    files = model_path if isinstance(model_path, CheckpointFiles) else read_files(model_path)
    tag = _check_tag(files, embodiment_tag)
    with reading(files.path):
        modality = files.processor["modality_configs"][tag]
        facts = _facts(files, tag, modality)
        _check_consistent(files, facts, modality)
        check_weights(files.path, files.config)
    return facts


def _check_tag(files: CheckpointFiles, tag: str | None) -> str:
    if tag is None and len(files.tags) == 1:
        return files.tags[0]
    if tag in files.tags:
        return tag
    tables = {
        "modality_configs of processor_config.json": files.processor.get("modality_configs", {}),
        "statistics.json": files.statistics,
        "embodiment_id.json": files.embodiment_ids,
    }
    # where no tag is in all of them, what each of the files of the checkpoint itself has tells which one is amiss
    each = "; ".join(f"{name}: {', '.join(sorted(tags)) or 'none'}" for name, tags in list(tables.items())[:2])
    present = ", ".join(files.tags) or f"none that is in all three files ({each})"
    if tag is None:
        raise ValueError(f"embodiment_tag is missing; checkpoint {str(files.path)!r} has: {present}")
    lacking = [name for name, tags in tables.items() if tag not in tags]
    raise ValueError(
        f"embodiment_tag {tag!r} is not in {' nor in '.join(lacking)} of checkpoint {str(files.path)!r}; "
        f"tags it has: {present}"
    )


def _facts(files: CheckpointFiles, tag: str, modality: Mapping[str, Any]) -> Gr00tN1d7Facts:
    statistics = files.statistics[tag]
    relative_allowed = bool(files.processor.get("use_relative_action", False))
    keys = modality["action"]["modality_keys"]
    settings = modality["action"].get("action_configs") or [{}] * len(keys)
    if len(settings) != len(keys):
        raise ValueError(f"{files.path}: {len(settings)} action_configs for {len(keys)} action keys of {tag!r}")
    return Gr00tN1d7Facts(
        path=files.path,
        model_type="gr00t_n1d7",
        embodiment_tag=tag,
        embodiment_id=files.embodiment_ids[tag],
        state=tuple(Part(key, _width(statistics["state"][key])) for key in modality["state"]["modality_keys"]),
        action=tuple(
            _action_part(key, _width(statistics["action"][key]), setting, relative_allowed)
            for key, setting in zip(keys, settings, strict=True)
        ),
        action_horizon=len(modality["action"]["delta_indices"]),
        image_views=tuple(modality["video"]["modality_keys"]),
        language_key=modality["language"]["modality_keys"][0],
        num_denoising_steps=int(files.config.get("num_inference_timesteps", 4)),
    )


def _action_part(key: str, width: int, setting: Mapping[str, Any], relative_allowed: bool) -> Part:
    name = lambda field, default: str(setting.get(field) or default).lower().replace("+", "_")  # noqa: E731
    if name("rep", "absolute") != "relative" or not relative_allowed:
        return Part(key, width)
    pose = "difference" if name("type", "non_eef") == "non_eef" else name("format", "default")
    needed = {"difference": width, "xyz_rot6d": 9, "xyz_rotvec": 6}
    if pose not in needed:
        raise ValueError(
            f"action key {key!r} has format {setting.get('format')!r}; known for EEF: XYZ_ROT6D, XYZ_ROTVEC"
        )
    if needed[pose] != width:
        raise ValueError(f"action key {key!r} has width {width}; a pose of format {pose} has {needed[pose]}")
    return Part(key, width, relative=True, pose=pose, state_key=setting.get("state_key") or key)


def _width(entry: Mapping[str, Sequence[float]]) -> int:
    return len(entry["min"])


def _check_consistent(files: CheckpointFiles, facts: Gr00tN1d7Facts, modality: Mapping[str, Any]) -> None:
    """Compare what the model's configuration says with what the processor's does."""
    config, problems = files.config, []
    limits = {
        "action width": (facts.action_dim, "max_action_dim", 132),
        "state width": (facts.state_dim, "max_state_dim", 132),
        "action delta_indices": (facts.action_horizon, "action_horizon", 40),
        "embodiment id": (facts.embodiment_id + 1, "max_num_embodiments", 32),
    }
    for name, (value, key, default) in limits.items():
        if value > int(config.get(key, default)):
            problems.append(f"{name} needs {value}, but config.json has {key} {config.get(key, default)}")
    for name in ("video", "state"):
        frames = len(modality[name]["delta_indices"])
        if frames != 1:
            problems.append(f"{name} needs {frames} time steps; the environment gives the present one only")
    keys = {"video": facts.image_views, "state": [p.key for p in facts.state], "action": [p.key for p in facts.action]}
    problems += [f"{name} names {key!r} twice" for name, own in keys.items() for key in {*own} if own.count(key) > 1]
    states = {part.key: part.width for part in facts.state}
    problems += [
        f"action {part.key!r} (width {part.width}) is relative to state {part.state_key!r}, which "
        + (f"has width {states[part.state_key]}" if part.state_key in states else "is not a state key")
        for part in facts.action
        if part.relative and states.get(part.state_key) != part.width
    ]
    if problems:
        raise ValueError(f"checkpoint {str(files.path)!r}, embodiment {facts.embodiment_tag!r}: {'; '.join(problems)}")
