# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The contract between the environment worker and its simulator process: every message and every step interface.

Tensors travel through shared memory (:mod:`.shared_buffers`); the dataclasses here are the small pickled rest. This
module stays free of heavy imports, because the child unpickles a :class:`SimulatorSpec` before it has configured
itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import torch

    from isaaclab_rlinf.config.schema import IsaacLabBlock
    from isaaclab_rlinf.mapping.actions import ActionTermInfo
    from isaaclab_rlinf.mapping.layout import ObservationLayout, RawObs

FinalObservation = Literal["truncated", "done"]
"""For which ended episodes the true last observation is provided."""


class SimulatorError(RuntimeError):
    """The simulator process failed, died or did not answer; the message carries its own traceback or exit status."""


@dataclass(frozen=True)
class VideoSpec:
    """Settings of the video recorder in the simulator process."""

    directory: str
    max_envs: int = 4
    """Environments shown, in a grid."""
    max_seconds: float = 600.0
    """Bound on one file's length; how many steps are not in it is then said."""
    fps: float | None = None
    """Frames per second; None is the task's own step rate, so that the video plays in real time."""
    width: int = 320
    """Width in pixels of the viewer camera's picture of one environment."""
    height: int = 240
    """Height of that picture; without a viewer camera the least height to which the policy's views are enlarged."""
    captions: bool = True
    """Whether each picture has a margin with instruction, step, return and outcome."""
    reward_scale: float = 1.0
    """Factor of the rewards that are shown, so that they are those that training and evaluation report."""
    first_env: int = 0
    """Number of this simulator's first environment among those of all simulators of the run."""
    suffix: str = ""
    """Tells apart the files of several simulators."""


@dataclass(frozen=True)
class SimulatorSpec:
    """Everything the simulator process needs; picklable."""

    task_id: str
    num_envs: int
    seed: int
    device: str
    block: IsaacLabBlock
    chunk_length: int
    """Actions per chunk, T."""
    max_episode_steps: int | None = None
    """Episode length in actions. Shorter than the task's own time-out it truncates; None keeps the task's."""
    auto_reset: bool = True
    """False: an environment that finished rests until the next :meth:`SteppableEnv.reset`."""
    ignore_terminations: bool = False
    """True: only truncation ends an episode; success is still recorded."""
    final_observation: FinalObservation = "truncated"
    import_modules: tuple[str, ...] = ()
    """Modules that register the task, imported in the child."""
    env_overrides: tuple[tuple[str, Any], ...] = ()
    """``(dotted attribute of the env cfg, value)`` pairs."""
    presets: tuple[str, ...] = ()
    """Isaac Lab preset selectors such as ``physics=newton_mjwarp``."""
    video: VideoSpec | None = None
    log_file: str | None = None
    """File for the child's output; None inherits the parent's."""
    cpu_threads: int | None = None
    """Threads of the simulator's runtime, its share of the machine's cores; None is the runtime's own default."""
    factory: str = "isaaclab_rlinf.env.isaac_factory:open_isaac_env"
    """``module:function`` of the spec and a reporter of errors (see :func:`.isaac_factory.open_isaac_env`), returning a
    context manager that yields a :class:`SteppableEnv`."""


@dataclass(frozen=True)
class StepResult:
    """One simulator step. All tensors on the simulator's device, batch first."""

    observation: RawObs
    """After any reset. Cameras are present only if the step was asked to render."""
    reward: torch.Tensor
    """(B,) float."""
    terminated: torch.Tensor
    """(B,) bool; never set together with :attr:`truncated`."""
    truncated: torch.Tensor
    """(B,) bool."""
    success: torch.Tensor
    """(B,) bool, evaluated before any reset."""
    final_observation: RawObs | None = None
    """Before the reset, cameras included; present if an active environment ended in a way that was asked for."""
    pictures: torch.Tensor | None = None
    """(viewed, H, W, 3) uint8 from the viewer camera, before any reset; present if asked for."""


class SteppableEnv(Protocol):
    """A vectorised environment that resets finished environments inside :meth:`step`, as Isaac Lab's do."""

    num_envs: int
    device: torch.device
    step_seconds: float
    """Simulated seconds per action."""
    max_episode_steps: int
    action_terms: tuple[ActionTermInfo, ...]
    instructions: tuple[str, ...] | None
    notices: tuple[str, ...]
    """What the user should be told once; may grow while stepping."""
    can_skip_rendering: bool
    """False: cameras are rendered on every step whatever ``render`` says."""
    viewed: int
    """Environments, from the first one, of which a viewer camera takes pictures for a video; 0 without one."""

    def layout(self, observation: RawObs) -> ObservationLayout:
        """Describes an observation of this environment."""
        ...

    def reset(self, seed: int | None = None) -> RawObs:
        """Resets all environments and returns the observation, cameras included."""
        ...

    def step(
        self,
        actions: torch.Tensor,
        *,
        render: bool,
        active: torch.Tensor,
        restart: torch.Tensor | None = None,
        final: FinalObservation | Literal["none"] = "truncated",
        pictures: bool = False,
    ) -> StepResult:
        """Applies one action.

        Args:
            actions: (B, env_dim) float32.
            render: Whether the returned observation needs cameras.
            active: (B,) bool; only these environments' ends call for a final observation.
            restart: (B,) bool; environments to reset whatever happens, without this being reported as an end.
            final: Which ends of active environments need the final observation.
            pictures: Whether the viewer camera's pictures are wanted.
        """
        ...

    def pictures(self) -> torch.Tensor | None:
        """Returns the viewer camera's pictures (viewed, H, W, 3) uint8 as of now, None without such a camera."""
        ...

    def hold_actions(self) -> torch.Tensor:
        """Returns the actions (B, env_dim) that keep every environment's present joint positions."""
        ...

    def restart_clock(self, env_mask: torch.Tensor) -> None:
        """Sets the episode clock of the environments in ``env_mask`` (B,) to zero."""
        ...


@dataclass(frozen=True)
class Handshake:
    """The child's first message: what it built, and the shared tensors."""

    pid: int
    device: str
    action_terms: tuple[ActionTermInfo, ...]
    instructions: tuple[str, ...]
    max_episode_steps: int
    step_seconds: float
    layout: ObservationLayout
    mapping_table: list[tuple[str, str]]
    buffers: Mapping[str, torch.Tensor]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResetRequest:
    """Reset every environment; the observation is then in the buffers."""

    seed: int | None = None


@dataclass(frozen=True)
class ChunkRequest:
    """Step the chunk in ``buffers['actions']``."""


@dataclass(frozen=True)
class FlushVideoRequest:
    """Close the present video file, if any."""


@dataclass(frozen=True)
class CloseRequest:
    """End the process."""


@dataclass(frozen=True)
class ChunkResult:
    """What a chunk's tensors do not say."""

    has_final: bool = False
    """Whether the ``final.*`` buffers are valid for this chunk."""
    notices: tuple[str, ...] = ()
    """What the environment had to say for the first time."""


@dataclass(frozen=True)
class Done:
    """Answer to a request without a result of its own."""

    notices: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    """A line for each file that was closed, its path first."""


@dataclass(frozen=True)
class Failure:
    """The child failed; it ends after sending this."""

    summary: str
    traceback: str
    details: Mapping[str, Any] = field(default_factory=dict)
