# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A step-exact fake of a vectorised simulator that resets finished environments inside ``step()``.

Episodes end by schedule. An observation tells which environment, episode and step it is of, so that a test can say
exactly which moment it should have been given. Every applied action is logged under that moment.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import torch

from isaaclab_rlinf.config.schema import IsaacLabBlock, StateSpec, SuccessSpec, TaskDescription
from isaaclab_rlinf.env.protocol import ChunkRequest, FlushVideoRequest, ResetRequest, SimulatorSpec, StepResult
from isaaclab_rlinf.env.simulator_process import _answer, _connect
from isaaclab_rlinf.mapping.actions import ActionTermInfo
from isaaclab_rlinf.mapping.layout import ObservationLayout, describe_observations

SUCCESS, FAILURE, TIME_OUT = "success", "failure", "time-out"


class FakeSimulator:
    """``schedule(env, episode)`` gives ``(length, kind)`` of each episode."""

    can_skip_rendering = True
    viewed = 0
    step_seconds = 0.05
    max_episode_steps = 1000
    instructions = ("zero", "one", "two")
    notices = ()
    action_terms = (ActionTermInfo("joints", 2),)

    def __init__(self, num_envs: int, schedule) -> None:
        self.num_envs, self.schedule = num_envs, schedule
        self.device = torch.device("cpu")
        self.episode = torch.full((num_envs,), -1)
        self.step_of = torch.zeros(num_envs, dtype=torch.long)
        self.clock = torch.zeros(num_envs, dtype=torch.long)
        self.applied: dict[tuple[int, int, int], float] = {}
        self.renders = self.views = 0

    def layout(self, observation) -> ObservationLayout:
        return describe_observations(observation)

    def reset(self, seed=None):
        for env in range(self.num_envs):
            self._begin(env)
        return self._observe(True)

    def pictures(self):
        if not self.viewed:
            return None
        self.views += 1
        moment = torch.stack([torch.arange(self.num_envs), self.episode, self.step_of], dim=1)[: self.viewed]
        return moment.to(torch.uint8)[:, None, None, :].expand(-1, 120, 160, 3).clone()

    def step(self, actions, *, render, active, restart=None, final="truncated", pictures=False) -> StepResult:
        terminated = torch.zeros(self.num_envs, dtype=torch.bool)
        truncated, success = terminated.clone(), terminated.clone()
        reward = torch.zeros(self.num_envs)
        for env in range(self.num_envs):
            self.applied[env, int(self.episode[env]), int(self.step_of[env])] = float(actions[env, 0])
            self.step_of[env] += 1
            self.clock[env] += 1
            reward[env] = 1 + self.episode[env] * 100 + self.step_of[env]
            length, kind = self.schedule(env, int(self.episode[env]))
            if self.step_of[env] >= length:
                success[env] = kind == SUCCESS
                terminated[env] = kind != TIME_OUT
                truncated[env] = kind == TIME_OUT
        ended = terminated | truncated
        wanted = (truncated if final == "truncated" else ended) & active
        last = self._observe(True) if final != "none" and wanted.any() else None
        taken = self.pictures() if pictures else None
        for env in range(self.num_envs):
            if ended[env] or (restart is not None and restart[env]):
                self._begin(env)
        return StepResult(self._observe(render), reward, terminated, truncated, success, last, taken)

    def hold_actions(self) -> torch.Tensor:
        # Names the moment at which the pose was read.
        return (-1000.0 - self.episode * 100 - self.step_of).float()[:, None].expand(-1, 2).clone()

    def restart_clock(self, env_mask) -> None:
        self.clock[env_mask] = 0

    def _begin(self, env: int) -> None:
        self.episode[env] += 1
        self.step_of[env] = self.clock[env] = 0

    def _observe(self, render: bool):
        moment = torch.stack([torch.arange(self.num_envs), self.episode, self.step_of], dim=1)
        observation = {"policy": {"moment": moment.float(), "instruction": (self.episode % 3)[:, None]}}
        observation["camera_images"] = {}
        if render:
            self.renders += 1
            image = moment.to(torch.uint8)[:, None, None, :].expand(-1, 4, 4, 3).clone()
            observation["camera_images"] = {"front": image}
        return observation


BLOCK = IsaacLabBlock(
    task_description=TaskDescription(obs="instruction"),
    main_images="front",
    states=(StateSpec("moment"),),
    success=SuccessSpec(termination="success"),
)


def make_spec(num_envs: int, chunk: int, block: IsaacLabBlock = BLOCK, **changes) -> SimulatorSpec:
    settings = {"task_id": "Fake-v0", "seed": 0, "device": "cpu", **changes}
    return SimulatorSpec(num_envs=num_envs, chunk_length=chunk, block=block, **settings)


def schedule_from_table(table):
    """``table[env]`` lists ``(length, kind)``; the last entry repeats."""
    return lambda env, episode: table[env][min(episode, len(table[env]) - 1)]


@contextmanager
def open_fake(spec: SimulatorSpec, report) -> Iterator[FakeSimulator]:
    """A well-behaved simulator for a real child process."""
    print("noisy start-up")
    yield FakeSimulator(spec.num_envs, lambda env, episode: (5 + env, SUCCESS))


@contextmanager
def open_failing_at_start(spec: SimulatorSpec, report) -> Iterator[FakeSimulator]:
    raise RuntimeError("no such robot")
    yield


@contextmanager
def open_killed_at_start(spec: SimulatorSpec, report) -> Iterator[FakeSimulator]:
    print("last words before the end", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    yield


class _FailingStep(FakeSimulator):
    def step(self, actions, **request):
        return self._reward_term_of_the_user() if len(self.applied) > 8 else super().step(actions, **request)

    def _reward_term_of_the_user(self):
        raise ZeroDivisionError("reward term divided by zero")


@contextmanager
def open_failing_in_step(spec: SimulatorSpec, report) -> Iterator[FakeSimulator]:
    yield _FailingStep(spec.num_envs, lambda env, episode: (50, SUCCESS))


class _HangingStep(FakeSimulator):
    def step(self, actions, **request):
        time.sleep(600)


@contextmanager
def open_hanging_in_step(spec: SimulatorSpec, report) -> Iterator[FakeSimulator]:
    yield _HangingStep(spec.num_envs, lambda env, episode: (50, SUCCESS))


class SeededSimulator(FakeSimulator):
    """Every episode's length and end come from the seeded random numbers, of which each step uses some up as well."""

    def __init__(self, num_envs: int) -> None:
        super().__init__(num_envs, lambda env, episode: self.drawn[env])
        self.drawn: dict[int, tuple[int, str]] = {}
        self.generator = torch.Generator()

    def reset(self, seed=None):
        if seed is not None:
            self.generator.manual_seed(seed)
        return super().reset()

    def step(self, actions, **request):
        torch.rand(1, generator=self.generator)  # Such as the noise of an observation.
        return super().step(actions, **request)

    def _begin(self, env: int) -> None:
        super()._begin(env)
        length, kind = torch.randint(0, 1000, (2,), generator=self.generator).tolist()
        self.drawn[env] = (1 + length % 9, (SUCCESS, FAILURE, TIME_OUT)[kind % 3])


class InProcessSimulator:
    """The handle :class:`~isaaclab_rlinf.env.simulator.Simulator`, with the child's own code called directly."""

    def __init__(self, spec: SimulatorSpec, env: FakeSimulator) -> None:
        messages = []
        self.env = env
        self._stepper, self.video = _connect(spec, env, SimpleNamespace(send=messages.append))
        self.handshake = messages[0]
        self.buffers = self.handshake.buffers

    def reset(self, seed=None):
        self._answer(ResetRequest(seed))

    def step_chunk(self):
        return self._answer(ChunkRequest())

    def flush_video(self):
        return self._answer(FlushVideoRequest()).videos

    def _answer(self, request):
        return _answer(request, self.env, self._stepper, self.video)

    def close(self):
        pass
