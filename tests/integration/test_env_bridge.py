# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The environment bridge on the bundled task with the real simulator: one simulator process for the whole module."""

import dataclasses
import itertools

import pytest
import torch
from bridge_factory import CHECK_HOLD, RENDER_EVERY_ACTION

from isaaclab_rlinf.config.schema import IsaacLabBlock, StateSpec, SuccessSpec, TaskDescription
from isaaclab_rlinf.env.protocol import SimulatorSpec
from isaaclab_rlinf.env.simulator import Simulator
from isaaclab_rlinf.tasks import TOUCH_COLOR_ID

pytestmark = pytest.mark.integration

NUM_ENVS, CHUNK, EPISODE = 6, 4, 18
BLOCK = IsaacLabBlock(
    task_description=TaskDescription(obs="instruction"),
    main_images="front_camera",
    wrist_images="wrist_camera",
    states=(StateSpec("joint_pos"), StateSpec("joint_vel")),
    success=SuccessSpec(termination="success"),
)
SPEC = SimulatorSpec(
    task_id=TOUCH_COLOR_ID,
    num_envs=NUM_ENVS,
    seed=5,
    device="cpu",
    block=BLOCK,
    chunk_length=CHUNK,
    max_episode_steps=EPISODE,
    factory="bridge_factory:open_switchable",
)


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    log = tmp_path_factory.mktemp("simulator") / "output.log"
    handle = Simulator(dataclasses.replace(SPEC, log_file=str(log)))
    yield handle
    handle.close()


def snapshot(simulator, *without):
    """Copies of the buffers whose names do not start with one of ``without``."""
    return {name: tensor.clone() for name, tensor in simulator.buffers.items() if not name.startswith(without)}


def drive(simulator, generator):
    """Steps one chunk of random joint targets and returns the buffers that are valid after it."""
    simulator.buffers["actions"].copy_(torch.rand(NUM_ENVS, CHUNK, 3, generator=generator) * 3 - 1.5)
    result = simulator.step_chunk()
    return snapshot(simulator, *(() if result.has_final else ("final.",)), "actions")


def roll(simulator, seed, chunks):
    """Resets with ``seed`` and returns the observation, then what each of ``chunks`` random chunks gave."""
    generator = torch.Generator().manual_seed(seed % RENDER_EVERY_ACTION)
    simulator.reset(seed)
    first = {name: tensor for name, tensor in snapshot(simulator).items() if name.startswith(("obs.", "metric."))}
    return [first, *(drive(simulator, generator) for _ in range(chunks))]


def test_chunk_aware_stepping_changes_nothing_that_the_policy_sees(simulator):
    lean = roll(simulator, 5, 8)
    full = roll(simulator, 5 + RENDER_EVERY_ACTION, 8)
    assert any("final.states" in snapshot for snapshot in lean), "the comparison covers truncation"
    for number, (a, b) in enumerate(zip(lean, full, strict=True)):
        assert a.keys() == b.keys(), f"chunk {number}"
        for name in a:
            assert torch.equal(a[name], b[name]), f"chunk {number}, {name}"


def test_episode_length_is_the_yaml_one_and_truncation_has_the_old_episodes_last_view(simulator):
    snapshots = roll(simulator, 7, 6)
    seen = 0
    for previous, now in itertools.pairwise(snapshots):
        truncated = now["truncations"][:, -1]
        assert not (truncated & now["terminations"][:, -1]).any()
        assert (now["metric.episode_len"][truncated] == EPISODE).all()
        for env in truncated.nonzero().flatten().tolist():
            seen += 1
            # The old episode's instruction, and a pose reachable from the last boundary at the arm's limited speed.
            assert now["final.instruction"][env] == previous["obs.instruction"][env]
            moved = now["final.states"][env, :3] - previous["obs.states"][env, :3]
            assert moved.abs().max() < 0.25 * CHUNK
            assert not torch.equal(now["final.main_images"][env], now["obs.main_images"][env])
        running = ~now["finished"]
        if "final.states" in now:
            assert torch.equal(now["final.states"][running], now["obs.states"][running])
    assert seen > 0


def test_image_and_state_after_a_reset_come_from_the_same_time(simulator):
    generator = torch.Generator().manual_seed(11)
    simulator.reset(11)
    compared = 0
    for _ in range(8):
        now = drive(simulator, generator)
        if not now["finished"].any():
            continue
        # Hold every arm where the state says it is: what the cameras see must then stay as it is.
        simulator.buffers["actions"].copy_(now["obs.states"][:, None, :3].expand(-1, CHUNK, -1))
        simulator.step_chunk()
        still = now["finished"] & ~simulator.buffers["finished"]
        later = simulator.buffers["obs.states"][still, :3]
        assert (later - now["obs.states"][still, :3]).abs().max() < 0.02
        for camera in ("obs.main_images", "obs.wrist_images"):
            before, after = now[camera][still].int(), simulator.buffers[camera][still].int()
            changed = ((before - after).abs().amax(-1) > 24).float().mean(dim=(1, 2))
            assert changed.max() < 0.01, f"{camera} was of another moment than the state"
        compared += int(still.sum())
    assert compared > 0


def test_hold_actions_hold_and_skipped_cameras_are_absent(simulator):
    simulator.reset(CHECK_HOLD)


def test_simulator_output_goes_to_the_log_file(simulator):
    with open(simulator._spec.log_file, encoding="utf-8") as log:
        assert "Observation Manager" in log.read()
