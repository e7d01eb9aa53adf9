# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The hand-written USD files have the dimensions that geometry.py states."""

import math
from importlib import resources

import pytest
from pxr import Usd

from isaaclab_rlinf.tasks.touch_color.geometry import BALL_NAMES, GEOMETRY

ASSETS = resources.files("isaaclab_rlinf.tasks.touch_color") / "assets"


@pytest.fixture(scope="module")
def arm():
    return Usd.Stage.Open(str(ASSETS / "arm3.usda"))


def value(stage, path: str):
    return stage.GetAttributeAtPath(path).Get()


def test_joint_limits(arm):
    for number in (1, 2, 3):
        lower = math.radians(value(arm, f"/Arm/Joints/joint_{number}.physics:lowerLimit"))
        upper = math.radians(value(arm, f"/Arm/Joints/joint_{number}.physics:upperLimit"))
        assert lower == pytest.approx(GEOMETRY.joint_lower[number - 1], abs=1e-5)
        assert upper == pytest.approx(GEOMETRY.joint_upper[number - 1], abs=1e-5)


def test_link_lengths_and_axes(arm):
    offsets = [value(arm, f"/Arm/Joints/joint_{n}.physics:localPos0")[0] for n in (2, 3)]
    offsets.append(value(arm, "/Arm/link_3/peg.xformOp:translate")[0])
    assert offsets == pytest.approx(list(GEOMETRY.link_lengths), abs=1e-6)
    for number in (1, 2, 3):
        beam = value(arm, f"/Arm/link_{number}/beam.xformOp:scale")[0]
        assert beam == pytest.approx(GEOMETRY.link_lengths[number - 1], abs=1e-6)
        assert value(arm, f"/Arm/Joints/joint_{number}.physics:axis") == "Z"


def test_fingertip_reaches_down_to_the_balls_and_links_pass_above_them(arm):
    link_height = value(arm, "/Arm/link_3.xformOp:translate")[2]
    peg = value(arm, "/Arm/link_3/peg.xformOp:translate")[2] + link_height
    half = value(arm, "/Arm/link_3/peg.height") / 2
    assert 0.0 < peg - half < GEOMETRY.ball_height < peg + half
    assert value(arm, "/Arm/link_3/peg.radius") == pytest.approx(GEOMETRY.tip_radius)
    assert link_height - value(arm, "/Arm/link_3/beam.xformOp:scale")[2] / 2 > 2 * GEOMETRY.ball_radius


def test_ball_size_and_colours():
    stage = Usd.Stage.Open(str(ASSETS / "ball.usda"))
    assert value(stage, "/Ball/sphere.radius") == pytest.approx(GEOMETRY.ball_radius)
    colors = stage.GetPrimAtPath("/Ball").GetVariantSets().GetVariantSet("color")
    assert sorted(colors.GetVariantNames()) == sorted(BALL_NAMES)
    for index, name in enumerate(BALL_NAMES):
        colors.SetVariantSelection(name)
        color = value(stage, "/Ball/Looks/Paint/Shader.inputs:diffuseColor")
        assert max(range(3), key=lambda channel, color=color: color[channel]) == index


def test_assets_reference_no_other_file():
    for name in ("arm3.usda", "ball.usda"):
        text = (ASSETS / name).read_text()
        assert "@" not in text
        assert "http" not in text
