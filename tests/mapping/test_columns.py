# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Columns that are read twice, never, or are not there."""

from isaaclab_rlinf.config.schema import Gr00tStateSpec, StateSpec
from isaaclab_rlinf.mapping.columns import beyond_states, overlapping_states, repeated_states, use_of_states


def test_the_same_columns_twice_are_named():
    states = (StateSpec("q"), StateSpec("dq", (0, 2)), StateSpec("q"), StateSpec("dq", (0, 2)), StateSpec("dq", (1, 3)))
    assert [where for where, _ in repeated_states(states)] == ["states[2]", "states[3]"]
    assert "'q' is states[0] already" in next(iter(repeated_states(states)))[1]
    assert overlapping_states(states) == [
        "states[1] and states[4] share columns: 'dq' [0, 2] and 'dq' [1, 3]",
        "states[3] and states[4] share columns: 'dq' [0, 2] and 'dq' [1, 3]",
    ]
    assert overlapping_states((StateSpec("q"), StateSpec("q", (1, 2))))
    assert not overlapping_states((StateSpec("q", (0, 1)), StateSpec("q", (1, 2)), StateSpec("dq", (0, 1))))
    assert not list(repeated_states((StateSpec(""), StateSpec(""))))  # broken entries of a block in repair


def test_gr00t_slices_are_counted_by_column_not_by_width():
    """Two keys that read the same columns do not make up for those that nobody reads."""
    state = (Gr00tStateSpec("state.a", (0, 3)), Gr00tStateSpec("state.b", (0, 3)))
    assert use_of_states(state, 6) == [
        "gr00t_mapping.state: state.a and state.b both read columns [0, 3] of states",
        "gr00t_mapping.state: no key reads columns [3, 6] of the 6 of states",
    ]
    gaps = (Gr00tStateSpec("state.a", (1, 2)), Gr00tStateSpec("state.b", (3, 4)))
    assert "columns [0, 1], [2, 3], [4, 6] of the 6" in use_of_states(gaps, 6)[0]
    assert use_of_states(gaps, None) == [] == use_of_states((), 6)
    assert [where for where, _, _ in beyond_states(gaps, 3)] == ["gr00t_mapping.state[1].slice"]
