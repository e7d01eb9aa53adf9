# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Environment configuration of the task ``Isaac-Touch-Color-Arm3-v0``."""

from isaaclab.envs import ManagerBasedRLEnvCfg
from isaaclab.envs import mdp as lab_mdp
from isaaclab.managers import ObservationGroupCfg, ObservationTermCfg, RewardTermCfg, SceneEntityCfg
from isaaclab.managers import TerminationTermCfg as DoneTerm
from isaaclab.sensors import CameraCfg
from isaaclab.sim import SimulationCfg
from isaaclab.utils import configclass
from isaaclab_newton.physics import MJWarpSolverCfg, NewtonCfg

from . import mdp
from .actions import LimitedJointPositionActionCfg
from .commands import TouchGoalCfg
from .geometry import BALL_NAMES, GEOMETRY
from .scene import JOINT_NAMES, TouchColorSceneCfg, viewer_camera_cfg

STEP_DT = 0.05
"""Duration of a control step (s). One solver step each: on a CPU a solver step costs 13 ms for 1 or for 64 arms."""

EPISODE_STEPS = 48
"""Control steps until the time-out: six chunks of eight actions."""


@configclass
class ActionsCfg:
    """Absolute joint positions, 3 numbers (rad)."""

    joints = LimitedJointPositionActionCfg(
        asset_name="arm",
        joint_names=list(JOINT_NAMES),
        clip={
            name: limits for name, *limits in zip(JOINT_NAMES, GEOMETRY.joint_lower, GEOMETRY.joint_upper, strict=True)
        },
    )


@configclass
class CommandsCfg:
    """The episode's goal."""

    goal = TouchGoalCfg()


@configclass
class ObservationsCfg:
    """Proprioception and instruction in ``policy``, images in ``camera_images``; ball positions nowhere."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """State of the arm (N, 3) each, and the instruction's index (N, 1)."""

        joint_pos = ObservationTermCfg(func=mdp.joint_pos)
        joint_vel = ObservationTermCfg(func=mdp.joint_vel)
        instruction = ObservationTermCfg(func=mdp.instruction)

        def __post_init__(self) -> None:
            """Keeps the terms apart."""
            self.concatenate_terms = False
            self.enable_corruption = False

    @configclass
    class CameraImagesCfg(ObservationGroupCfg):
        """RGB images, (N, 64, 64, 3) uint8."""

        front_camera = ObservationTermCfg(func=mdp.camera_rgb, params={"sensor_cfg": SceneEntityCfg("front_camera")})
        wrist_camera = ObservationTermCfg(func=mdp.camera_rgb, params={"sensor_cfg": SceneEntityCfg("wrist_camera")})

        def __post_init__(self) -> None:
            """Keeps the terms apart."""
            self.concatenate_terms = False
            self.enable_corruption = False

    policy: PolicyCfg = PolicyCfg()
    camera_images: CameraImagesCfg = CameraImagesCfg()


@configclass
class RewardsCfg:
    """Sparse by default. Each weight is the term's total over an episode (see `mdp.success_reward`)."""

    success = RewardTermCfg(func=mdp.success_reward, weight=1.0)
    wrong_ball = RewardTermCfg(func=mdp.wrong_ball_reward, weight=-0.25)
    progress = RewardTermCfg(func=mdp.progress_reward, weight=0.0, params={"gamma": 1.0})


@configclass
class TerminationsCfg:
    """An episode ends at the first touch of any ball, or after `EPISODE_STEPS`."""

    success = DoneTerm(func=mdp.success)
    wrong_ball = DoneTerm(func=mdp.wrong_ball)
    time_out = DoneTerm(func=lab_mdp.time_out, time_out=True)


@configclass
class EventsCfg:
    """None: the goal command draws everything that is random (see `commands.TouchGoal`)."""


@configclass
class TouchColorEnvCfg(ManagerBasedRLEnvCfg):
    """Touch the ball that the instruction names. Runs on CPU and GPU, without Kit and without a network."""

    scene: TouchColorSceneCfg = TouchColorSceneCfg(num_envs=16, env_spacing=3.0)
    actions: ActionsCfg = ActionsCfg()
    commands: CommandsCfg = CommandsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()
    events: EventsCfg = EventsCfg()
    instructions: tuple[str, ...] = tuple(f"touch the {name} ball" for name in BALL_NAMES)
    """Text of each instruction. The observation ``policy/instruction`` is an index into this tuple."""

    viewer_camera: CameraCfg = viewer_camera_cfg()
    """Part of the scene only while a video is recorded, see `isaaclab_rlinf.env.viewer`."""

    def __post_init__(self) -> None:
        """Sets time steps and physics."""
        self.decimation = 1
        # Half a step less: Isaac Lab takes the ceiling of a quotient of floats.
        self.episode_length_s = (EPISODE_STEPS - 0.5) * STEP_DT
        self.sim = SimulationCfg(
            device="cpu",
            dt=STEP_DT,
            render_interval=self.decimation,
            physics=NewtonCfg(
                solver_cfg=MJWarpSolverCfg(
                    njmax=12, nconmax=4, cone="pyramidal", integrator="implicitfast", disable_contacts=True
                ),
                num_substeps=1,
                use_cuda_graph=True,  # has no effect on a CPU
            ),
        )
