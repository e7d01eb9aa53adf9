# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""A rank that ends without a traceback is reported all the same."""

import os
import signal

import pytest

from isaaclab_rlinf.testing import rank_process
from isaaclab_rlinf.testing.checks_sharding import _last_lines


def _killed():
    os.kill(os.getpid(), signal.SIGKILL)


def _silent():
    os._exit(3)


def _raises():
    raise ValueError("from the policy")


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (_killed, "rank 1 was killed by signal 9 (out of memory?)"),
        (_silent, "rank 1 ended with code 3 and wrote nothing"),
        (_raises, "ValueError: from the policy"),
    ],
)
def test_how_a_rank_ended_is_the_last_line(end, text, tmp_path, monkeypatch):
    monkeypatch.setattr(rank_process, "run_rank", lambda folder, rank, size: end() if rank == 1 else None)
    assert rank_process.run_ranks(tmp_path, 2).splitlines()[-1] == text


def test_ranks_that_all_succeed_say_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(rank_process, "run_rank", lambda folder, rank, size: None)
    assert rank_process.run_ranks(tmp_path, 2) == ""


def test_a_failed_run_never_looks_like_a_good_one():
    assert _last_lines(1, "") == ["the ranks' parent ended with code 1 and wrote nothing"]
    assert _last_lines(-9, "importing") == ["importing", "the ranks' parent was killed by signal 9 (out of memory?)"]
    assert _last_lines(1, "a\nb") == ["a", "b"]
