# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

import gc

import pytest

from isaaclab_rlinf.config.errors import ConfigError, Issue
from isaaclab_rlinf.config.stage import config_stage


def test_collector_is_paused_and_comes_back_after_success_and_error():
    frozen = gc.get_freeze_count()
    with config_stage():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
    try:
        with pytest.raises(ConfigError), config_stage():
            raise ConfigError([Issue("key", "found")])
        assert gc.isenabled()
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with config_stage():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
