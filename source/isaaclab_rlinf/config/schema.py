# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The typed form of a task YAML's ``env.<train|eval>.isaaclab`` block.

These frozen dataclasses are the one home of that contract: the validator builds them (and reports every error with
its key path), the mapping and the environment only read them. Import-light on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, field

IMAGE_KEYS = ("main_images", "wrist_images", "extra_view_images")
"""Keys of the block that name cameras, in the order in which a model sees them."""


@dataclass(frozen=True)
class TaskDescription:
    """The instruction given to the model: one text for all environments, or read per environment from the task.

    Exactly one of :attr:`text` and :attr:`obs` is set.
    """

    text: str | None = None
    """The same instruction for every environment."""
    obs: str | None = None
    """Key in the policy group holding, per environment, an index into the task's ``instructions``."""


@dataclass(frozen=True)
class StateSpec:
    """One part of the model's proprioception: an observation key, or columns ``[a, b)`` of it."""

    key: str
    slice: tuple[int, int] | None = None


@dataclass(frozen=True)
class Gr00tStateSpec:
    """Columns ``[a, b)`` of the concatenated ``states`` handed to GR00T under one state key."""

    gr00t_key: str
    slice: tuple[int, int]


@dataclass(frozen=True)
class Gr00tMapping:
    """How the mapped observation is renamed for a GR00T model."""

    main_images: str | None = None
    wrist_images: str | None = None
    extra_view_images: tuple[str, ...] = ()
    state: tuple[Gr00tStateSpec, ...] = ()
    language: str = "annotation.human.action.task_description"


@dataclass(frozen=True)
class ActionMapping:
    """How the model's action parts become the environment's action vector.

    The order of operations is: concatenate :attr:`keys`, apply ``x * scale + offset`` on the model's dims, then pad.
    """

    keys: tuple[str, ...] | None = None
    """Action parts in the order to emit; None keeps the model's own order."""
    prefix_pad: int = 0
    suffix_pad: int = 0
    pad_value: float | tuple[float, ...] = 0.0
    """One value for every padded dim, or one per padded dim (prefix first, then suffix)."""
    scale: float | tuple[float, ...] = 1.0
    offset: float | tuple[float, ...] = 0.0


@dataclass(frozen=True)
class SuccessSpec:
    """What counts as success: a named termination term, or a step reward above a threshold.

    With neither, any termination that is not a time-out counts.
    """

    termination: str | None = None
    reward_above: float | None = None


@dataclass(frozen=True)
class IsaacLabBlock:
    """One ``isaaclab`` block (train or eval)."""

    task_description: TaskDescription
    main_images: str | None = None
    wrist_images: str | None = None
    extra_view_images: tuple[str, ...] = ()
    states: tuple[StateSpec, ...] = ()
    camera_group: str = "camera_images"
    policy_group: str = "policy"
    gr00t_mapping: Gr00tMapping = field(default_factory=Gr00tMapping)
    action_mapping: ActionMapping = field(default_factory=ActionMapping)
    success: SuccessSpec = field(default_factory=SuccessSpec)
    hold_pose_on_midchunk_reset: bool = False
    render_every_action: bool = False
    obs_converter_type: str | None = None
    embodiment_tag: str | None = None
    embodiment_tag_id: int | None = None
    data_config_class: str | None = None

    @property
    def cameras(self) -> tuple[str, ...]:
        """Every camera key the block reads, main first."""
        single = tuple(key for key in (self.main_images, self.wrist_images) if key is not None)
        return single + self.extra_view_images
