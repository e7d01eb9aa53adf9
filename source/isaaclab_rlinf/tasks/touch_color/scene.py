# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Scene of the touch-colour task: table, arm, three balls, a fixed and a wrist camera.

Nothing collides: the balls are kinematic bodies and the touch is a geometric test (see `commands`), so a control
step costs one solver step whatever the scene looks like. No asset comes from a server.
"""

import math
from pathlib import Path

import isaaclab.sim as sim_utils
from isaaclab.actuators import ImplicitActuatorCfg
from isaaclab.assets import ArticulationCfg, AssetBaseCfg, RigidObjectCfg
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.sensors import CameraCfg
from isaaclab.utils import configclass
from isaaclab_newton.renderers import NewtonWarpRendererCfg

from .geometry import BALL_NAMES, GEOMETRY

ASSETS = Path(__file__).parent / "assets"
JOINT_NAMES = ("joint_1", "joint_2", "joint_3")

IMAGE_SIZE = 64
_APERTURE = 20.955  # USD's default film width; only its ratio to the focal length matters

# Gains. A critically overdamped drive (damping * dt much larger than the inertia) closes the fraction
# stiffness / damping * dt = 0.9 of the remaining error in each 0.05 s step, whatever the load, and cannot oscillate.
DAMPING = 20.0
STIFFNESS = 360.0


def look_at(eye: tuple[float, float, float], target: tuple[float, float, float]) -> tuple[float, float, float, float]:
    """Orientation of a camera that looks from one point to another with its up vector upright.

    Args:
        eye: Camera position, m.
        target: Point in the image centre, m. Must not lie straight above or below the eye.

    Returns:
        Quaternion (x, y, z, w) in Isaac Lab's "world" camera convention (forward x, up z).
    """
    dx, dy, dz = (t - e for t, e in zip(target, eye, strict=True))
    yaw, pitch = math.atan2(dy, dx), math.atan2(-dz, math.hypot(dx, dy))
    cy, sy, cp, sp = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    return (-sy * sp, cy * sp, sy * cp, cy * cp)


def camera_cfg(
    path: str,
    eye: tuple[float, float, float],
    target: tuple[float, float, float],
    fov: float,
    moving: bool = False,
    size: tuple[int, int] = (IMAGE_SIZE, IMAGE_SIZE),
) -> CameraCfg:
    """An RGB camera rendered by Newton's Warp ray caster.

    Args:
        path: Prim path; the parent prim is the frame of `eye` and `target`.
        eye: Position, m.
        target: Point looked at, m.
        fov: Horizontal field of view, rad.
        moving: Whether the parent moves. Without it Isaac Lab keeps the pose that the camera had at start.
        size: Width and height, pixels.

    Returns:
        The sensor configuration.
    """
    return CameraCfg(
        prim_path=path,
        offset=CameraCfg.OffsetCfg(pos=eye, rot=look_at(eye, target), convention="world"),
        data_types=["rgb"],
        spawn=sim_utils.PinholeCameraCfg(
            focal_length=_APERTURE / (2.0 * math.tan(fov / 2.0)),
            horizontal_aperture=_APERTURE,
            clipping_range=(0.01, 10.0),
        ),
        width=size[0],
        height=size[1],
        update_latest_camera_pose=moving,
        renderer_cfg=NewtonWarpRendererCfg(),
    )


def ball_cfg(name: str) -> RigidObjectCfg:
    """A kinematic ball without collider, placed at each reset.

    Args:
        name: Colour, one of `BALL_NAMES` and a variant of the ball's USD.

    Returns:
        The asset configuration, prim ``<env>/Ball_<name>``.
    """
    return RigidObjectCfg(
        prim_path="{ENV_REGEX_NS}/Ball_" + name,
        spawn=sim_utils.UsdFileCfg(usd_path=str(ASSETS / "ball.usda"), variants={"color": name}),
        init_state=RigidObjectCfg.InitialStateCfg(pos=(0.5, 0.3 * (BALL_NAMES.index(name) - 1), GEOMETRY.ball_height)),
    )


def arm_cfg() -> ArticulationCfg:
    """The fixed-base arm, at its home pose, driven by joint position targets.

    Returns:
        The articulation configuration.
    """
    return ArticulationCfg(
        prim_path="{ENV_REGEX_NS}/Arm",
        spawn=sim_utils.UsdFileCfg(usd_path=str(ASSETS / "arm3.usda")),
        init_state=ArticulationCfg.InitialStateCfg(joint_pos=dict(zip(JOINT_NAMES, GEOMETRY.home, strict=True))),
        actuators={
            "joints": ImplicitActuatorCfg(
                joint_names_expr=list(JOINT_NAMES), stiffness=STIFFNESS, damping=DAMPING, effort_limit_sim=1000.0
            )
        },
    )


def viewer_camera_cfg() -> CameraCfg:
    """The camera of videos: the whole workspace from in front, aslant. Its size is set by `video_cfg`.

    Returns:
        The sensor configuration.
    """
    path, eye = "{ENV_REGEX_NS}/ViewerCamera", (1.2, -0.35, 0.9)
    return camera_cfg(path, eye, target=(0.2, 0.0, 0.0), fov=math.radians(58.0), size=(320, 240))


@configclass
class TouchColorSceneCfg(InteractiveSceneCfg):
    """Assets and sensors of one environment."""

    table = AssetBaseCfg(
        prim_path="{ENV_REGEX_NS}/Table",
        spawn=sim_utils.CuboidCfg(
            size=(2.4, 2.4, 0.04),
            visual_material=sim_utils.PreviewSurfaceCfg(diffuse_color=(0.3, 0.32, 0.35), roughness=0.9),
        ),
        init_state=AssetBaseCfg.InitialStateCfg(pos=(0.3, 0.0, -0.02)),
    )
    arm: ArticulationCfg = arm_cfg()
    ball_red: RigidObjectCfg = ball_cfg("red")
    ball_green: RigidObjectCfg = ball_cfg("green")
    ball_blue: RigidObjectCfg = ball_cfg("blue")
    front_camera: CameraCfg = camera_cfg(
        "{ENV_REGEX_NS}/FrontCamera", eye=(0.75, 0.0, 1.1), target=(0.27, 0.0, 0.0), fov=math.radians(54.0)
    )
    wrist_camera: CameraCfg = camera_cfg(
        "{ENV_REGEX_NS}/Arm/link_3/WristCamera",
        eye=(0.02, 0.0, -0.02),
        target=(0.14, 0.0, -0.08),
        fov=math.radians(95.0),
        moving=True,
    )
