# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Every length, limit and colour of the touch-colour task, in one place.

All positions are metres in the environment's own frame: the arm's first joint is at the origin, x points away from
the base over the table, z up. The lengths here and those in ``assets/arm3.usda`` must agree; a test compares them.
"""

import math
from dataclasses import dataclass

BALL_NAMES: tuple[str, ...] = ("red", "green", "blue")
"""Ball colours. Index i is the ball that instruction i names."""


@dataclass(frozen=True)
class TouchGeometry:
    """Dimensions of arm, balls and workspace (metres, radians).

    Attributes:
        link_lengths: Distances joint 1 to joint 2, joint 2 to joint 3, joint 3 to fingertip.
        joint_lower: Lower joint limits.
        joint_upper: Upper joint limits.
        home: Joint positions at the start of an episode, before noise.
        home_noise: Half-width of the uniform noise on each joint at the start.
        ball_radius: Radius of a ball.
        tip_radius: Radius of the fingertip peg.
        ball_height: Height of a ball's centre above the table.
        ball_range: Smallest and largest distance of a ball from the base.
        ball_angle: Balls lie at polar angles between minus and plus this value.
        ball_separation: Smallest distance between two ball centres.
        start_clearance: Smallest distance between a ball centre and the fingertip at the start.
    """

    link_lengths: tuple[float, float, float] = (0.28, 0.22, 0.14)
    joint_lower: tuple[float, float, float] = (-2.2, -2.5, -2.0)
    joint_upper: tuple[float, float, float] = (2.2, 2.5, 2.0)
    home: tuple[float, float, float] = (-1.3, 2.45, 1.2)
    home_noise: float = 0.05
    ball_radius: float = 0.036
    tip_radius: float = 0.012
    ball_height: float = 0.036
    ball_range: tuple[float, float] = (0.34, 0.59)
    ball_angle: float = math.radians(90.0)
    ball_separation: float = 0.20
    start_clearance: float = 0.10

    @property
    def touch_distance(self) -> float:
        """Horizontal distance fingertip axis to ball centre at which they touch (m)."""
        return self.ball_radius + self.tip_radius


GEOMETRY = TouchGeometry()
"""The dimensions that the bundled assets have."""
