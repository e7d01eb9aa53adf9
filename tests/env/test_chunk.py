# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Chunk semantics against a fake whose every moment is identifiable."""

import dataclasses
import random

import pytest
import torch
from fake_simulator import (
    BLOCK,
    FAILURE,
    SUCCESS,
    TIME_OUT,
    FakeSimulator,
    make_spec,
    schedule_from_table,
)

from isaaclab_rlinf.env.chunk import ChunkStepper
from isaaclab_rlinf.env.shared_buffers import allocate, buffer_specs
from isaaclab_rlinf.mapping.errors import MappingError
from isaaclab_rlinf.mapping.observations import ObservationMap

HOLD = dataclasses.replace(BLOCK, hold_pose_on_midchunk_reset=True)


class Rig:
    """A stepper over the fake, with actions that name themselves."""

    def __init__(self, table, chunk=4, block=BLOCK, **changes):
        self.env = FakeSimulator(len(table), schedule_from_table(table))
        self.spec = make_spec(len(table), chunk, block, **changes)
        first = self.env.reset()
        mapping = ObservationMap.build(block, self.env.layout(first), self.env.instructions)
        self.buffers = allocate(buffer_specs(mapping.shapes(len(table)), len(table), chunk, 2))
        self.stepper = ChunkStepper(self.env, self.spec, mapping, self.buffers)
        self.stepper.begin(first)
        self.chunks = 0

    def step(self):
        numbers = torch.arange(self.spec.chunk_length) + self.chunks * 10.0
        self.buffers["actions"].copy_(numbers[None, :, None].expand_as(self.buffers["actions"]))
        self.chunks += 1
        return self.stepper.step_chunk()

    def rows(self, name):
        return self.buffers[name].tolist()


def test_rewards_and_dones_after_the_first_done_do_not_count():
    rig = Rig([[(2, SUCCESS), (1, FAILURE)], [(100, SUCCESS)]])
    rig.step()
    assert rig.rows("rewards")[0] == [2.0, 3.0, 0.0, 0.0]
    assert rig.rows("rewards")[1] == [2.0, 3.0, 4.0, 5.0]
    # The later failures of env 0 in the same chunk are nobody's episode: the flag is one success, in the last column.
    assert rig.rows("terminations") == [[False, False, False, True], [False] * 4]
    assert rig.rows("metric.success_once") == [True, False]
    assert rig.rows("metric.episode_len") == [2, 4]
    assert rig.rows("metric.return") == [5.0, 14.0]
    assert rig.rows("finished") == [True, False]


def test_without_hold_the_environment_is_reset_again_at_the_chunk_end():
    rig = Rig([[(2, SUCCESS), (100, SUCCESS)]])
    rig.step()
    # Episode 1 was the throw-away that stale actions drove; the policy sees episode 2 at its first moment.
    assert rig.rows("obs.states") == [[0.0, 2.0, 0.0]]
    assert rig.env.applied[0, 1, 0] == 2.0
    assert rig.env.clock.tolist() == [0]
    assert rig.buffers["obs.main_images"][0, 0, 0].tolist() == [0, 2, 0]


def test_done_in_the_last_step_needs_no_second_reset():
    rig = Rig([[(4, SUCCESS), (100, SUCCESS)]])
    rig.step()
    assert rig.rows("obs.states") == [[0.0, 1.0, 0.0]]


def test_hold_pose_replaces_the_stale_actions():
    rig = Rig([[(2, FAILURE), (100, SUCCESS)], [(3, SUCCESS), (100, SUCCESS)]], block=HOLD)
    rig.step()
    # Env 0: the pose read right after the reset (episode 1, step 0) for both remaining steps. Env 1: for one.
    assert [rig.env.applied[0, 1, k] for k in (0, 1)] == [-1100.0, -1100.0]
    assert rig.env.applied[1, 1, 0] == -1100.0
    assert rig.env.applied[1, 0, 2] == 2.0
    assert rig.rows("obs.states") == [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]
    assert rig.env.clock.tolist() == [0, 0], "the episode clock starts when the policy takes over"
    rig.step()
    assert rig.env.applied[0, 1, 2] == 10.0, "the next chunk drives the new episode"
    assert rig.rows("metric.episode_len") == [4, 4]


def test_hold_pose_is_read_again_after_every_reset_of_a_chunk():
    """An episode that begins in a state that ends at once: the pose of the reset before would drive the arm away."""
    rig = Rig([[(1, FAILURE), (2, FAILURE), (1, FAILURE), (100, SUCCESS)], [(100, SUCCESS)]], chunk=6, block=HOLD)
    rig.step()
    assert [rig.env.applied[0, 1, k] for k in (0, 1)] == [-1100.0, -1100.0]
    assert rig.env.applied[0, 2, 0] == -1200.0
    assert [rig.env.applied[0, 3, k] for k in (0, 1)] == [-1300.0, -1300.0]
    assert rig.env.applied[1, 0, 5] == 5.0, "the others go on"


def test_hold_pose_of_a_resting_environment_is_read_again_when_it_is_reset():
    rig = Rig([[(2, SUCCESS), (4, FAILURE), (100, SUCCESS)], [(100, SUCCESS)]], block=HOLD, auto_reset=False)
    rig.step()
    rig.step()
    assert rig.env.applied[0, 1, 3] == -1102.0, "as read when the chunk began"
    assert [rig.env.applied[0, 2, k] for k in (0, 1)] == [-1200.0, -1200.0]


def test_final_observation_only_for_truncation_and_true():
    rig = Rig([[(2, TIME_OUT), (100, SUCCESS)], [(3, SUCCESS), (100, SUCCESS)], [(100, SUCCESS)]])
    result = rig.step()
    assert result.has_final
    assert rig.rows("truncations")[0] == [False, False, False, True]
    assert rig.rows("terminations")[1] == [False, False, False, True]
    # Env 0 as it was before its reset; the others as they are now.
    assert rig.rows("final.states")[0] == [0.0, 0.0, 2.0]
    assert rig.rows("final.states")[1:] == rig.rows("obs.states")[1:]
    assert rig.buffers["final.main_images"][0, 0, 0].tolist() == [0, 0, 2]
    assert rig.rows("final.instruction")[0] == 0
    assert not rig.step().has_final


def test_final_observation_for_every_end_when_asked():
    rig = Rig([[(2, SUCCESS), (100, SUCCESS)]], final_observation="done")
    assert rig.step().has_final
    assert rig.rows("final.states") == [[0.0, 0.0, 2.0]]


def test_what_the_environment_says_while_stepping_is_passed_on_once():
    rig = Rig([[(100, SUCCESS)]])
    assert rig.step().notices == ()
    rig.env.notices = ("said late",)
    assert rig.step().notices == ("said late",)
    assert rig.step().notices == ()


def test_termination_renders_nothing_extra():
    rig = Rig([[(2, SUCCESS), (100, SUCCESS)]])
    before = rig.env.renders
    rig.step()
    assert rig.env.renders - before == 1
    every = Rig([[(100, SUCCESS)]], block=dataclasses.replace(BLOCK, render_every_action=True))
    before = every.env.renders
    every.step()
    assert every.env.renders - before == 4


def test_without_auto_reset_finished_environments_rest_until_reset():
    rig = Rig([[(2, SUCCESS), (3, FAILURE)], [(100, SUCCESS)]], block=HOLD, auto_reset=False)
    rig.step()
    assert rig.rows("terminations") == [[False, True, True, True], [False] * 4], "from the true column to the end"
    held = rig.rows("metric.return")[0]
    for _ in range(2):
        rig.step()
        assert rig.rows("rewards")[0] == [0.0] * 4
        assert rig.rows("terminations")[0] == [False] * 4
        assert rig.rows("metric.return")[0] == held
        assert rig.rows("metric.success_once") == [True, False]
        assert rig.rows("finished") == [False, False]
    assert max(a for (env, episode, _), a in rig.env.applied.items() if env == 0 and episode > 0) < 0, "poses only"
    assert not rig.step().has_final
    rig.stepper.begin(rig.env.reset())
    assert rig.rows("metric.return") == [0.0, 0.0]
    rig.step()
    assert rig.rows("rewards")[0][0] != 0.0


def test_nothing_is_stepped_while_every_environment_rests():
    rig = Rig([[(2, SUCCESS)], [(3, TIME_OUT)]], auto_reset=False)
    assert not rig.step().has_final, "RLinf bootstraps nothing here"
    steps = len(rig.env.applied)
    rig.step()
    assert len(rig.env.applied) == steps
    assert rig.rows("rewards") == [[0.0] * 4] * 2 and rig.rows("finished") == [False, False]


def test_success_at_end_differs_from_success_once():
    class Flicker(FakeSimulator):
        def step(self, actions, **request):
            result = super().step(actions, **request)
            touched = self.step_of == 2
            return dataclasses.replace(result, success=touched)

    rig = Rig([[(100, TIME_OUT)]])
    rig.env.__class__ = Flicker
    rig.step()
    assert rig.rows("metric.success_once") == [True]
    assert rig.rows("metric.success_at_end") == [False]


def test_instruction_of_the_episode_is_the_one_it_began_with():
    rig = Rig([[(4, SUCCESS), (100, SUCCESS)]])
    rig.step()
    assert rig.rows("metric.instruction") == [0]
    assert rig.rows("obs.instruction") == [1]
    rig.step()
    assert rig.rows("metric.instruction") == [1]


def test_non_finite_reward_names_the_environment():
    class Broken(FakeSimulator):
        def step(self, actions, **request):
            result = super().step(actions, **request)
            return dataclasses.replace(result, reward=torch.tensor([1.0, float("nan")]))

    rig = Rig([[(100, SUCCESS)], [(100, SUCCESS)]])
    rig.env.__class__ = Broken
    with pytest.raises(MappingError, match="environment 1 is nan"):
        rig.step()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("hold", [False, True])
def test_random_schedules_against_a_plain_reference(seed, hold):
    """Every reward, done, metric and boundary observation of 8 chunks, recomputed one environment at a time."""
    rng = random.Random(seed)
    chunk, num_envs = rng.randint(1, 6), rng.randint(1, 4)
    table = [
        [(rng.randint(1, 9), rng.choice([SUCCESS, FAILURE, TIME_OUT])) for _ in range(60)] for _ in range(num_envs)
    ]
    rig = Rig(table, chunk, HOLD if hold else BLOCK)
    reference = [Reference(table[env], chunk, hold) for env in range(num_envs)]
    for _ in range(8):
        result = rig.step()
        expected = [ref.step() for ref in reference]
        for env, want in enumerate(expected):
            assert rig.rows("rewards")[env] == want["rewards"]
            assert rig.rows("terminations")[env] == [False] * (chunk - 1) + [want["end"] in (SUCCESS, FAILURE)]
            assert rig.rows("truncations")[env] == [False] * (chunk - 1) + [want["end"] == TIME_OUT]
            assert rig.rows("metric.return")[env] == want["return"]
            assert rig.rows("metric.episode_len")[env] == want["length"]
            assert rig.rows("metric.success_once")[env] == (want["end"] == SUCCESS)
            assert rig.rows("obs.states")[env] == [env, *want["now"]]
            if result.has_final:
                assert rig.rows("final.states")[env] == [env, *(want["final"] or want["now"])]
        assert result.has_final == any(want["final"] for want in expected)


class Reference:
    """One environment of the fake under the documented chunk rules, written for reading."""

    def __init__(self, episodes, chunk, hold):
        self.episodes, self.chunk, self.hold = episodes, chunk, hold
        self.episode = self.moment = 0
        self.total = self.length = 0

    def step(self):
        rewards, end, final = [], None, None
        total, length = self.total, self.length
        for t in range(self.chunk):
            self.moment += 1
            rewards.append(0.0 if end else 1.0 + 100 * self.episode + self.moment)
            total, length = total + rewards[-1], length + (end is None)
            limit, kind = self.episodes[self.episode]
            stale = end is not None
            if self.moment >= limit:
                if not stale:
                    end = kind
                    final = [self.episode, self.moment] if kind == TIME_OUT else None
                self._begin()
            elif stale and not self.hold and t == self.chunk - 1:
                self._begin()
        self.total, self.length = (0, 0) if end else (total, length)
        return {
            "rewards": rewards,
            "end": end,
            "final": final,
            "return": total,
            "length": length,
            "now": [self.episode, self.moment],
        }

    def _begin(self):
        self.episode, self.moment = self.episode + 1, 0
