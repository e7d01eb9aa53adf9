# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The bundled task on the real simulator with real rendering; one simulator start for the module."""

import itertools

import pytest
import torch

from isaaclab_rlinf.compat.warp_settings import configure_warp
from isaaclab_rlinf.tasks import TOUCH_COLOR_ID
from isaaclab_rlinf.tasks.touch_color.geometry import BALL_NAMES, GEOMETRY
from isaaclab_rlinf.tasks.touch_color.ik import forward_kinematics, plan

pytestmark = pytest.mark.integration

NUM_ENVS = 8
CAMERAS = ("front_camera", "wrist_camera")


@pytest.fixture(scope="module")
def env():
    configure_warp()
    import gymnasium
    from isaaclab_tasks.utils import parse_env_cfg

    cfg = parse_env_cfg(TOUCH_COLOR_ID, num_envs=NUM_ENVS, overrides=[])
    assert cfg.sim.device == "cpu"
    cfg.seed = 0
    environment = gymnasium.make(TOUCH_COLOR_ID, cfg=cfg).unwrapped
    environment.reset(seed=0)
    yield environment
    environment.close()


def flat(observation):
    return {f"{g}/{k}": v.clone() for g, terms in observation.items() for k, v in terms.items()}


def hold(env):
    return env.scene["arm"].data.joint_pos.torch.clone()


def goal_term(env):
    return env.command_manager.get_term("goal")


def drive_to(env, ball, steps=40):
    """Moves every fingertip to its ball ``ball`` (N,) by planned paths; returns what each first episode gave.

    Finished environments hold still, and stay out of the result.
    """
    from isaaclab_rlinf.tasks.touch_color.expert import interpolate

    term = goal_term(env)
    rows = torch.arange(NUM_ENVS)
    others = (ball.unsqueeze(1) + torch.tensor([1, 2])) % 3
    # Copies: an environment that finishes gets new balls.
    centre, avoid = term.balls[rows, ball].clone(), term.balls[rows.unsqueeze(1), others].clone()
    end, clear = plan(hold(env), centre, avoid, 0.1)
    done = torch.zeros(NUM_ENVS, dtype=torch.bool)
    total = torch.zeros(NUM_ENVS)
    flags = {name: torch.zeros(NUM_ENVS, dtype=torch.bool) for name in ("success", "wrong_ball", "time_out")}
    for _ in range(steps):
        now = hold(env)
        action = torch.where(done.unsqueeze(1), now, interpolate(now, end, 1, 0.1)[:, 0])
        _, reward, terminated, truncated, _ = env.step(action)
        total += torch.where(done, 0.0, reward)
        for name, flag in flags.items():
            flag |= env.termination_manager.get_term(name) & ~done
        done |= terminated | truncated
    return clear, done, total, flags


def test_spaces_and_instruction(env):
    observation, _ = env.reset(seed=1)
    shapes = {name: (tuple(v.shape[1:]), v.dtype) for name, v in flat(observation).items()}
    image = ((64, 64, 3), torch.uint8)
    assert shapes == {
        "policy/joint_pos": ((3,), torch.float32),
        "policy/joint_vel": ((3,), torch.float32),
        "policy/instruction": ((1,), torch.float32),
        "camera_images/front_camera": image,
        "camera_images/wrist_camera": image,
    }
    assert env.action_manager.total_action_dim == 3
    assert env.max_episode_length == 48
    index = observation["policy"]["instruction"][:, 0].long()
    assert torch.equal(index, goal_term(env).target)
    assert env.cfg.instructions == tuple(f"touch the {name} ball" for name in BALL_NAMES)


def test_assets_carry_the_limits_and_kinematics_of_the_geometry(env):
    from isaaclab.utils.math import quat_apply

    env.reset(seed=2)
    for _ in range(5):
        env.step(torch.tensor([[0.5, 0.9, -0.7]]).expand(NUM_ENVS, -1))
    arm = env.scene["arm"]
    assert arm.joint_names == ["joint_1", "joint_2", "joint_3"]
    limits = arm.data.joint_pos_limits.torch[0]
    torch.testing.assert_close(limits[:, 0], torch.tensor(GEOMETRY.joint_lower), atol=1e-4, rtol=0)
    torch.testing.assert_close(limits[:, 1], torch.tensor(GEOMETRY.joint_upper), atol=1e-4, rtol=0)
    body = arm.body_names.index("link_3")
    along = torch.tensor([[GEOMETRY.link_lengths[2], 0.0, 0.0]]).repeat(NUM_ENVS, 1)
    tip = arm.data.body_link_pos_w.torch[:, body] + quat_apply(arm.data.body_link_quat_w.torch[:, body], along)
    expected = forward_kinematics(arm.data.joint_pos.torch)
    torch.testing.assert_close((tip - env.scene.env_origins)[:, :2], expected, atol=1e-4, rtol=0)


def test_the_arm_tracks_absolute_targets_without_sag_or_overshoot(env):
    env.reset(seed=3)
    target = hold(env) + torch.tensor([0.3, -0.3, 0.2])
    errors = []
    for _ in range(6):
        env.step(target)
        errors.append((target - hold(env)).abs().amax(dim=0))
    assert float(errors[-1].max()) < 2e-3
    assert all(bool((later <= earlier + 1e-4).all()) for earlier, later in itertools.pairwise(errors))


def test_same_seed_same_episodes_and_images_another_seed_others(env):
    first = flat(env.reset(seed=4)[0])
    balls = goal_term(env).balls.clone()
    second = flat(env.reset(seed=5)[0])
    again = flat(env.reset(seed=4)[0])
    assert torch.equal(balls, goal_term(env).balls)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["camera_images/front_camera"], second["camera_images/front_camera"])


def test_each_environment_has_its_own_image_and_sequence_of_episodes(env):
    front = env.reset(seed=6)[0]["camera_images"]["front_camera"]
    for a in range(NUM_ENVS):
        for b in range(a):
            assert not torch.equal(front[a], front[b])

    def next_episodes(order):
        env.reset(seed=6)
        for ids in order:
            env.reset(env_ids=torch.tensor(ids, dtype=torch.int32))
        return goal_term(env).balls.clone()

    assert torch.equal(next_episodes([[1], [5], [1, 2]]), next_episodes([[1, 2], [1], [5]]))


def test_a_partial_reset_leaves_the_others_alone_and_shows_the_new_balls(env):
    env.reset(seed=7)
    before = flat(env.step(hold(env) + 0.1)[0])
    after = flat(env.reset(env_ids=torch.tensor([2, 6], dtype=torch.int32))[0])
    reset = torch.zeros(NUM_ENVS, dtype=torch.bool)
    reset[[2, 6]] = True
    for name in ("camera_images/front_camera", "camera_images/wrist_camera", "policy/joint_pos"):
        same = (before[name] == after[name]).flatten(1).all(dim=1)
        assert torch.equal(same, ~reset), name
    ball = env.scene["ball_green"].data.root_pos_w.torch - env.scene.env_origins
    torch.testing.assert_close(ball[:, :2], goal_term(env).balls[:, 1], atol=1e-5, rtol=0)


def test_colours_in_the_front_image_are_where_the_balls_are(env):
    """Green pixels lie on the side of the table on which the green ball is: images, balls and reset agree in time."""
    seen = 0
    for seed in (8, 9, 10):
        image = env.reset(seed=seed)[0]["camera_images"]["front_camera"].float()
        for index, name in enumerate(BALL_NAMES):
            rest = [c for c in range(3) if c != index]
            mask = (image[..., index] > 80) & (image[..., index] > 1.6 * image[..., rest].amax(dim=-1))
            count = mask.sum(dim=(1, 2))
            column = (mask * torch.arange(64)).sum(dim=(1, 2)) / count
            side = goal_term(env).balls[:, index, 1]
            clear = side.abs() > 0.1
            seen += int(clear.sum())
            assert bool((count[clear] >= 3).all()), name
            assert bool((((column - 31.5) * side)[clear] > 0).all()), name
    assert seen > 40


def test_the_named_ball_alone_is_success_and_its_return_is_one(env):
    env.reset(seed=11)
    clear, done, total, flags = drive_to(env, goal_term(env).target.clone())
    assert int(clear.sum()) >= NUM_ENVS - 1
    assert torch.equal(flags["success"][clear], done[clear])
    assert bool(done[clear].all())
    assert torch.equal(total[clear], torch.ones(int(clear.sum())))
    assert not bool(flags["wrong_ball"][clear].any())


def test_another_ball_is_failure(env):
    env.reset(seed=12)
    clear, done, total, flags = drive_to(env, (goal_term(env).target + 1) % 3)
    assert bool(done[clear].all())
    assert torch.equal(flags["wrong_ball"][clear], done[clear])
    assert not bool(flags["success"][clear].any())
    assert torch.equal(total[clear], torch.full((int(clear.sum()),), -0.25))


def test_time_out_is_a_truncation_and_its_observation_belongs_to_the_new_episode(env):
    """Image and state that step() returns after an automatic reset are those of the new episode's first moment."""
    env.reset(seed=13)
    still = hold(env)
    for step in range(48):
        last, reward, terminated, truncated, _ = env.step(still)
        assert not bool(terminated.any())
        assert bool(truncated.all()) == (step == 47)
        assert float(reward.abs().max()) == 0.0
    assert int(goal_term(env).episode.min()) == 1
    returned = flat(last)
    torch.testing.assert_close(returned["policy/joint_pos"], hold(env))
    assert float((returned["policy/joint_pos"] - still).abs().max()) > 1e-3
    env.sim.forward()
    for name in CAMERAS:
        env.scene.sensors[name].reset()
    now = flat(env.observation_manager.compute())
    for name in CAMERAS:
        assert torch.equal(returned[f"camera_images/{name}"], now[f"camera_images/{name}"]), name


def test_a_fast_fingertip_cannot_pass_through_a_ball(env):
    env.reset(seed=15)
    term = goal_term(env)
    tip = term.tip.clone()
    rows = torch.arange(NUM_ENVS)
    env.step(hold(env) + torch.tensor([0.2, 0.2, 0.2]))
    moved = term.tip - tip
    assert float(moved.norm(dim=1).min()) > 0.01
    middle = tip + 0.5 * moved
    env.reset(seed=15)
    term.balls[rows, term.target] = middle
    env.step(hold(env) + torch.tensor([0.2, 0.2, 0.2]))
    assert bool(env.termination_manager.get_term("success").all())


def test_shaping_sums_to_the_distance_gained(env):
    from isaaclab_rlinf.tasks.touch_color import mdp

    env.reset(seed=16)
    term = goal_term(env)
    start, total = term.distance.clone(), torch.zeros(NUM_ENVS)
    for _ in range(4):
        env.step(hold(env) + 0.05)
        total += mdp.progress_reward(env) * env.step_dt
    torch.testing.assert_close(total, start - term.distance, atol=1e-5, rtol=0)


def test_the_expert_succeeds_and_replans_consistently(env):
    from isaaclab_rlinf.tasks.touch_color.expert import expert_actions

    env.reset(seed=17)
    with pytest.raises(ValueError, match="horizon is 0"):
        expert_actions(env, 0)
    finished, won = 0, 0
    for _ in range(8):
        actions = expert_actions(env, 8)
        assert actions.shape == (NUM_ENVS, 8, 3)
        assert torch.equal(actions, expert_actions(env, 8))
        ended = torch.zeros(NUM_ENVS, dtype=torch.bool)
        for step in range(8):
            _, _, terminated, truncated, _ = env.step(torch.where(ended.unsqueeze(1), hold(env), actions[:, step]))
            finished += int(((terminated | truncated) & ~ended).sum())
            won += int((env.termination_manager.get_term("success") & ~ended).sum())
            ended |= terminated | truncated
    assert finished >= 2 * NUM_ENVS
    assert won >= finished - 1


def test_cameras_of_unselected_worlds_see_nothing_and_the_others_what_they_always_see(env):
    """The real renderer's part in the final observation of a few environments; see compat/newton_cameras.py."""
    from isaaclab_rlinf.compat.newton_cameras import install_world_selection

    env.reset(seed=0)  # no episode ends within the three steps below
    selection = install_world_selection(env)
    wanted = torch.zeros(NUM_ENVS, dtype=torch.bool)
    wanted[[1, 6]] = True

    def images():
        env.step(hold(env))  # makes the cameras' last images old
        for name in CAMERAS:
            env.scene[name].reset()
        return {name: env.scene[name].data.output["rgb"].torch.clone() for name in CAMERAS}

    seen = images()
    with selection.only(wanted):
        selected = images()
    again = images()
    for name in CAMERAS:
        assert torch.equal(selected[name][wanted], seen[name][wanted]), name
        assert (selected[name][~wanted].flatten(1).float().std(dim=1) == 0).all(), "background only"
        assert torch.equal(again[name], seen[name]), name
