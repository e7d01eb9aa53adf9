# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The upstream names and orders of events that the environment bridge relies on. A failure here means: read compat/."""

import inspect
import sys
import types

import pytest

pytestmark = pytest.mark.integration


def test_camera_gate_hooks_the_method_that_compute_calls():
    from isaaclab.managers import ObservationManager

    assert list(inspect.signature(ObservationManager.compute_group).parameters) == [
        "self",
        "group_name",
        "update_history",
    ]
    assert "self.compute_group(group_name, update_history=update_history)" in inspect.getsource(
        ObservationManager.compute
    )
    assert "_group_obs_term_cfgs" in inspect.getsource(ObservationManager._prepare_terms)


def test_manager_based_step_resets_what_the_termination_manager_returns():
    from isaaclab.envs import ManagerBasedRLEnv

    step = inspect.getsource(ManagerBasedRLEnv.step)
    order = [
        "self.reset_buf = self.termination_manager.compute()",
        "self.reset_buf.nonzero",
        "if self.cfg.compute_final_obs:",
        'self.extras["final_obs"] = self.observation_manager.compute()',
        "self._reset_idx(reset_env_ids)",
        "self.observation_manager.compute(update_history=True)",
    ]
    positions = [step.index(line) for line in order]
    assert positions == sorted(positions)


def test_direct_step_resets_what_get_dones_returns():
    from isaaclab.envs import DirectRLEnv

    step = inspect.getsource(DirectRLEnv.step)
    assert "self.reset_terminated[:], self.reset_time_outs[:] = self._get_dones()" in step
    reset = inspect.getsource(DirectRLEnv._reset_envs_from_buffer)
    assert reset.index('self.extras["final_obs"] = self._compute_observations()') < reset.index("self._reset_idx")


def test_joint_position_action_is_affine_in_the_names_we_invert():
    from isaaclab.envs.mdp.actions.joint_actions import JointAction, JointPositionAction

    source = inspect.getsource(JointAction)
    assert "self._raw_actions * self._scale" in source and "add_(self._offset)" in source
    assert all(name in source for name in ("self._asset", "self._joint_ids", "self._joint_names"))
    assert "joint_ids=self._joint_ids" in inspect.getsource(JointPositionAction.apply_actions)


def test_rlinf_reads_what_the_environment_returns():
    from rlinf.workers.env import env_worker

    source = inspect.getsource(env_worker.EnvWorker)
    for text in (
        'final_info["episode"][key][chunk_dones[:, -1]]',
        'infos["final_observation"]',
        "env_output.truncations[:, -1]",
        "RecordVideo(env, env_cfg.video_cfg)",
        'get_env_attr(self.env_list[i], "flush_video")',
    ):
        assert text in source, text


def test_rlinfs_recorder_leaves_our_environment_alone(monkeypatch):
    from isaaclab_rlinf.compat.rlinf_record_video import keep_own_recorder
    from isaaclab_rlinf.env.generic_env import IsaacLabGenericEnv

    worker = types.ModuleType("rlinf.workers.env.env_worker")
    worker.RecordVideo = lambda env, cfg: ("wrapped", env)
    monkeypatch.setitem(sys.modules, worker.__name__, worker)
    keep_own_recorder()
    keep_own_recorder()
    ours = IsaacLabGenericEnv.__new__(IsaacLabGenericEnv)
    assert worker.RecordVideo(ours, {}) is ours
    assert worker.RecordVideo("other", {}) == ("wrapped", "other")
