# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What RLinf's rollout worker hands to a policy, made plain; shared by our policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import torch

# RLinf passes its text-generation settings to every model type; of these only `do_sample` means something here.
SAMPLING_KEYS = frozenset({"do_sample", "temperature", "top_k", "top_p", "max_new_tokens"})


def images_from_env(env_obs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Name the images of an RLinf observation.

    Args:
        env_obs: ``main_images`` and ``wrist_images`` (B, H, W, 3) and ``extra_view_images`` (B, N, H, W, 3), each
            possibly absent or None.

    Returns:
        Images (B, H, W, 3) by view name; extra views are ``extra_view_images_0``, ``extra_view_images_1``, ...
    """
    images = {name: env_obs[name] for name in ("main_images", "wrist_images") if env_obs.get(name) is not None}
    extra = env_obs.get("extra_view_images")
    if extra is not None:
        images.update({f"extra_view_images_{index}": extra[:, index] for index in range(extra.shape[1])})
    return images


def resolve_mode(mode: str | None, do_sample: bool | None) -> Literal["train", "eval"]:
    """Decide between exploring and acting: explicit ``mode``, else ``do_sample`` False means eval, else train.

    Raises:
        ValueError: If ``mode`` is neither "train" nor "eval".
    """
    if mode not in (None, "train", "eval"):
        raise ValueError(f"mode is {mode!r}; allowed: 'train', 'eval'")
    return mode or ("eval" if do_sample is False else "train")


def check_sampling_keys(given: Mapping[str, Any]) -> None:
    """Refuse keywords of ``predict_action_batch`` that nobody knows.

    Raises:
        TypeError: On a keyword that is not one of RLinf's text-generation settings.
    """
    unknown = set(given) - SAMPLING_KEYS
    if unknown:
        raise TypeError(f"predict_action_batch got unknown arguments {sorted(unknown)}")
