# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a check needs from outside: a factory of policies, and observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class RegisteredBuilder:
    """A factory that builds a policy as RLinf's workers do; can be sent to other processes."""

    model_cfg: Mapping[str, Any]
    extensions: tuple[str, ...] = ()

    def __call__(self) -> torch.nn.Module:
        """Register the extensions and build, see :func:`~isaaclab_rlinf.models.build.build_registered`."""
        from isaaclab_rlinf.models.build import build_registered

        return build_registered(self.model_cfg, self.extensions)


def registered_builder(model_cfg: Mapping[str, Any], extensions: Sequence[str] = ()) -> Callable[[], torch.nn.Module]:
    """Return a factory for a model type that is registered with RLinf.

    Args:
        model_cfg: The ``actor.model`` section; ``precision`` defaults to fp32, ``is_lora`` and ``load_to_device``
            (to the first GPU, which other processes may use) to false.
        extensions: Modules whose ``register()`` is called first, as in the YAML's ``extensions:``.
    """
    from omegaconf import OmegaConf

    if OmegaConf.is_config(model_cfg):
        model_cfg = OmegaConf.to_container(model_cfg, resolve=True)
    return RegisteredBuilder(dict(model_cfg), tuple(extensions))


def example_env_obs(
    *,
    batch: int = 4,
    image_size: int | tuple[int, int] = 64,
    state_dim: int = 0,
    wrist: bool = False,
    extra_views: int = 0,
    instructions: Sequence[str] = ("touch the red ball", "touch the blue ball"),
    seed: int = 0,
) -> dict[str, Any]:
    """Return a random observation as RLinf's environment workers send it.

    Args:
        batch: Number of environments B.
        image_size: Height and width in pixels.
        state_dim: Width D of the state; 0 leaves it out (None).
        wrist: Whether there is a wrist image.
        extra_views: Number N of extra views.
        instructions: Used in turn.
        seed: Of images and states.

    Returns:
        ``main_images`` and ``wrist_images`` uint8 (B, H, W, 3), ``extra_view_images`` uint8 (B, N, H, W, 3),
        ``states`` float32 (B, D), ``task_descriptions`` B texts; None for what is absent.
    """
    import torch

    height, width = (image_size, image_size) if isinstance(image_size, int) else image_size
    draw = torch.Generator().manual_seed(seed)

    def images(*shape: int) -> torch.Tensor:
        return torch.randint(0, 256, shape, generator=draw, dtype=torch.uint8)

    return {
        "main_images": images(batch, height, width, 3),
        "wrist_images": images(batch, height, width, 3) if wrist else None,
        "extra_view_images": images(batch, extra_views, height, width, 3) if extra_views else None,
        "states": torch.rand(batch, state_dim, generator=draw) * 2 - 1 if state_dim else None,
        "task_descriptions": [instructions[index % len(instructions)] for index in range(batch)],
    }
