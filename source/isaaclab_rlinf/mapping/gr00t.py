# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The model's five inputs -> what a GR00T processor reads, by the YAML's ``gr00t_mapping``. N1.5 and N1.7 alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isaaclab_rlinf.mapping.errors import MappingError

if TYPE_CHECKING:
    from isaaclab_rlinf.config.schema import IsaacLabBlock

WHERE = "gr00t_mapping"


@dataclass(frozen=True)
class Gr00tFormat:
    """A checked ``gr00t_mapping``."""

    images: tuple[tuple[str, tuple[str, ...]], ...]
    """Per image input, the video keys; several for ``extra_view_images``, one per view in its order."""
    state: tuple[tuple[str, int, int], ...]
    """State key and columns ``[a, b)`` of ``states``."""
    language: str

    @classmethod
    def build(cls, block: IsaacLabBlock) -> Gr00tFormat:
        """Check a block's ``gr00t_mapping`` against the views and states that the block maps.

        Raises:
            MappingError: With every problem found.
        """
        problems = list(key_problems(block))
        if problems:
            raise MappingError("\n".join(f"{key}: {text}" for key, text in problems))
        mapping = block.gr00t_mapping
        views = {
            "main_images": (mapping.main_images,) if block.main_images else (),
            "wrist_images": (mapping.wrist_images,) if block.wrist_images else (),
            "extra_view_images": mapping.extra_view_images,
        }
        images = tuple((name, keys) for name, keys in views.items() if keys)
        state = tuple((part.gr00t_key, *part.slice) for part in mapping.state)
        return cls(images, state, mapping.language)

    @property
    def video_keys(self) -> tuple[str, ...]:
        """Every video key, main view first."""
        return tuple(key for _, keys in self.images for key in keys)


def key_problems(block: IsaacLabBlock) -> Iterator[tuple[str, str]]:
    """Yield ``(key path below the block, problem)`` for every key of ``gr00t_mapping`` that GR00T could not take.

    GR00T tells modalities apart by what stands before the first dot, and wants exactly one dot; the instruction is
    found by the word "annotation" in a key of any other form. A key of a wrong form is ignored there without a word.

    Args:
        block: The task YAML's block.
    """
    mapping = block.gr00t_mapping
    for name in ("main_images", "wrist_images", "extra_view_images"):
        keys = getattr(mapping, name)
        if getattr(block, name) and not keys:
            yield f"{WHERE}.video.{name}", f"missing, so the GR00T model would not see {name}"
        for key in (keys,) if isinstance(keys, str) else (keys or ()):
            yield from _form(f"{WHERE}.video.{name}", key, "video")
    if block.states and not mapping.state:
        yield f"{WHERE}.state", "missing, so the GR00T model would not see `states`"
    for index, part in enumerate(mapping.state):
        yield from _form(f"{WHERE}.state[{index}].gr00t_key", part.gr00t_key, "state")
    names = [key for key in (mapping.main_images, mapping.wrist_images, *mapping.extra_view_images) if key]
    names += [part.gr00t_key for part in mapping.state] + [mapping.language]
    for key in sorted({key for key in names if names.count(key) > 1}):
        yield WHERE, f"{key!r} is used twice; the second would replace the first"


def has_mapping(block: IsaacLabBlock) -> bool:
    """Return whether a block says how GR00T's inputs and outputs are named."""
    mapping = block.gr00t_mapping
    named = (mapping.main_images, mapping.wrist_images, mapping.extra_view_images, mapping.state)
    return any(named) or block.action_mapping.keys is not None


def language_problem(key: str) -> str | None:
    """Return why GR00T N1.5 would not find the instruction under a key, None when it does.

    Args:
        key: ``gr00t_mapping.language``.
    """
    if "annotation" not in key or key.count(".") == 1:
        return (
            f"{key!r} is not taken for an instruction by GR00T N1.5, which wants 'annotation' in it and not exactly "
            "one dot; the model would act on its default instruction"
        )
    if "state" in key:
        return f"{key!r} contains 'state', by which RLinf's GR00T model recognises a state"
    return None


def to_gr00t(env_obs: Mapping[str, Any], form: Gr00tFormat) -> dict[str, Any]:
    """Rename and cut an observation; images and states are viewed, not copied, where they are on the CPU.

    Args:
        env_obs: RLinf's observation: ``main_images`` and ``wrist_images`` (B, H, W, 3) uint8, ``extra_view_images``
            (B, N, H, W, 3) uint8, ``states`` (B, D) floating, ``task_descriptions`` B texts.
        form: The checked mapping.

    Returns:
        ``video.*`` (B, 1, H, W, 3) uint8, ``state.*`` (B, 1, b - a) float32, both NumPy, and the B instructions under
        the language key.

    Raises:
        MappingError: If an input is absent or has another dtype, shape or number of views than the mapping needs.
    """
    converted: dict[str, Any] = {}
    for name, keys in form.images:
        images = _array(env_obs, name, 5 if name == "extra_view_images" else 4)
        if images.dtype != np.uint8:
            raise MappingError(f"{name} has dtype {images.dtype}; GR00T takes uint8 images.")
        views = [images[:, view] for view in range(images.shape[1])] if name == "extra_view_images" else [images]
        if len(views) != len(keys):
            raise MappingError(
                f"{name} has {len(views)} views, {WHERE}.video.{name} has {len(keys)} keys: {', '.join(keys)}."
            )
        converted |= {key: view[:, None] for key, view in zip(keys, views, strict=True)}
    if form.state:
        states = _array(env_obs, "states", 2).astype(np.float32, copy=False)
        for key, start, stop in form.state:
            if stop > states.shape[1]:
                raise MappingError(f"{WHERE}.state: {key!r} ends at column {stop} of states, which has {states.shape}.")
            converted[key] = states[:, None, start:stop]
    converted[form.language] = _texts(env_obs, converted)
    return converted


def _form(where: str, key: str, modality: str) -> Iterator[tuple[str, str]]:
    if not key.startswith(f"{modality}.") or key.count(".") != 1 or key.endswith("."):
        yield where, f"{key!r} is not of the form {modality}.<name>, with one dot"
    elif modality == "video" and "state" in key:
        yield where, f"{key!r} contains 'state', by which RLinf's GR00T model recognises a state"


def _array(env_obs: Mapping[str, Any], name: str, ndim: int) -> np.ndarray:
    value = env_obs.get(name)
    if value is None:
        given = ", ".join(sorted(key for key, entry in env_obs.items() if entry is not None))
        raise MappingError(f"the observation has no {name}, which {WHERE} needs; it has: {given}.")
    if not isinstance(value, np.ndarray):
        value = value.detach().cpu()
        value = (value.float() if value.is_floating_point() else value).numpy()
    if value.ndim != ndim:
        raise MappingError(f"{name} has shape {value.shape}; it must have {ndim} axes, batch first.")
    return value


def _texts(env_obs: Mapping[str, Any], converted: Mapping[str, np.ndarray]) -> list[str]:
    texts: Sequence[str] | None = env_obs.get("task_descriptions")
    batch = {len(value) for value in converted.values()}
    if texts is None or {len(texts)} != batch:
        raise MappingError(
            f"task_descriptions has {0 if texts is None else len(texts)} texts for batches of {sorted(batch)}; each "
            "environment needs its instruction."
        )
    return list(texts)
