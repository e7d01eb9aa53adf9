# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A direct-workflow task on the bundled arm, as a user might write one: no managers, views of live buffers returned."""

import gymnasium as gym
import torch
from isaaclab.envs import DirectRLEnv, DirectRLEnvCfg
from isaaclab.sim import SimulationCfg
from isaaclab.utils import configclass
from isaaclab_newton.physics import MJWarpSolverCfg, NewtonCfg

from isaaclab_rlinf.tasks.touch_color.scene import TouchColorSceneCfg

TASK_ID = "Test-Direct-Arm-v0"


@configclass
class DirectArmCfg(DirectRLEnvCfg):
    decimation = 1
    episode_length_s = 10.0
    action_space = 3
    observation_space = 6
    scene: TouchColorSceneCfg = TouchColorSceneCfg(num_envs=2, env_spacing=3.0)
    sim: SimulationCfg = SimulationCfg(
        dt=0.05,
        physics=NewtonCfg(
            solver_cfg=MJWarpSolverCfg(
                njmax=12, nconmax=4, cone="pyramidal", integrator="implicitfast", disable_contacts=True
            ),
            num_substeps=1,
            use_cuda_graph=False,
        ),
    )


class DirectArm(DirectRLEnv):
    """Terminates with success when joint_1 exceeds 0.6 rad; starts at a random angle of joint_1."""

    def _setup_scene(self):
        self.arm = self.scene.articulations["arm"]

    def _pre_physics_step(self, actions):
        self.actions = actions

    def _apply_action(self):
        self.arm.set_joint_position_target_index(target=self.actions, joint_ids=slice(None))

    def _get_observations(self):
        state = torch.cat([self.arm.data.joint_pos.torch, self.arm.data.joint_vel.torch], dim=-1)
        return {"policy": state, "camera": self.scene.sensors["front_camera"].data.output["rgb"].torch}

    def _get_rewards(self):
        return (self.arm.data.joint_pos.torch[:, 0] > 0.6).float()

    def _get_dones(self):
        reached = self.arm.data.joint_pos.torch[:, 0] > 0.6
        return reached, self.episode_length_buf >= self.max_episode_length

    def _reset_idx(self, env_ids):
        super()._reset_idx(env_ids)
        ids = torch.as_tensor(env_ids, device=self.device).long()
        position = self.arm.data.default_joint_pos.torch[ids].clone()
        position[:, 0] = -0.5 - 0.3 * torch.rand(len(ids), device=self.device)
        self.arm.write_joint_position_to_sim_index(position=position, env_ids=env_ids)
        self.arm.write_joint_velocity_to_sim_index(velocity=torch.zeros_like(position), env_ids=env_ids)


if TASK_ID not in gym.registry:
    gym.register(
        id=TASK_ID,
        entry_point=f"{__name__}:DirectArm",
        disable_env_checker=True,
        kwargs={"env_cfg_entry_point": f"{__name__}:DirectArmCfg"},
    )
