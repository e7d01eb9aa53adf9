# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import torch

from isaaclab_rlinf.models.schedule import learning_rate_factor
from isaaclab_rlinf.models.seeding import seeded


def test_seeded_numbers_repeat_and_leave_the_others_as_they_were():
    torch.manual_seed(3)
    undisturbed = torch.rand(4)
    torch.manual_seed(3)
    with seeded(7):
        first = torch.rand(4)
    assert torch.equal(torch.rand(4), undisturbed)
    with seeded(7):
        assert torch.equal(torch.rand(4), first)
    assert not torch.equal(first, undisturbed)


def test_warm_up_and_floor_of_the_learning_rate_can_be_given():
    factors = [learning_rate_factor(step, 1000, warm_up_steps=50, floor=0.02) for step in range(1001)]
    assert factors[24] < 0.51 and factors.index(max(factors)) == 49
    assert abs(factors[1000] - 0.02) < 1e-9
