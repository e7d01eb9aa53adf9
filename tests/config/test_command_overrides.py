# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Overrides that do not apply: what is advised is typed as it stands, and then has the value that was meant."""

import re
import shlex

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from isaaclab_rlinf.config.command_overrides import for_the_shell, quoted_override
from isaaclab_rlinf.config.compose import compose_config
from isaaclab_rlinf.config.errors import ConfigError

KEY = "env.train.isaaclab.task_description"


def issue_of(source, override):
    with pytest.raises(ConfigError) as error:
        compose_config(source, [override])
    (issue,) = error.value.issues
    return issue


TEXTS = [
    "touch, then lift",
    "don't touch it",
    "touche l'été",
    "été rouge",
    "红色的球",
    'say "hi", it\'s me',
    "a=b",
    "lift 50% (red)",
    "ends with \\, or '",
    "back\\'slash",
    "costs $5, or `more`!",
    "[not, a list",
    "{nor: a map",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_advised_quoting_gives_the_text_that_was_meant(text):
    (argument,) = shlex.split(quoted_override(KEY, text))
    assert OverridesParser.create().parse_override(argument).value() == text


@pytest.mark.parametrize("text", [text for text in TEXTS if text[0] not in "[{"])
def test_a_text_that_needs_quotes_is_refused_with_the_form_that_works(text, bundled_yaml):
    issue = issue_of(bundled_yaml, f"{KEY}={text}")
    assert issue.where == KEY and repr(text) in issue.found
    advised = re.search(r"for Hydra: (.*?)(; for a list: .*)?$", issue.fix)[1]
    cfg = compose_config(bundled_yaml, shlex.split(advised))
    assert cfg.env.train.isaaclab.task_description == text


@pytest.mark.parametrize(
    ("override", "found", "fix"),
    [
        ("algorithm.gamma=[0.9", "a ] is missing", 'algorithm.gamma=[0.9]"'),
        ("algorithm.gamma={a: 1", "a } is missing", 'algorithm.gamma={a: 1}"'),
        ("algorithm.gamma=${oc.env:X", "not closed", "algorithm.gamma=${oc.env:X}"),
        ("+algorithm.gamma=0.9", "has this key already", "algorithm.gamma=0.9"),
        ("~algorithm.gamma=0.5", "only where its value is", "~algorithm.gamma"),
        ("env.train.isaaclab.states[0]=joint_vel", "one entry of a list", "env.train.isaaclab.states=[a, b]"),
        ("actor.optim.lr=1e-4,1e-5", "has a comma", 'for a list: "actor.optim.lr=[1e-4,1e-5]"'),
        ("hydra.run.dir=here", "has no effect", "remove it"),
    ],
)
def test_other_mistakes_have_their_own_fix(override, found, fix, bundled_yaml):
    issue = issue_of(bundled_yaml, override)
    assert found in issue.found and fix in issue.fix


def test_what_needs_no_quotes_gets_none():
    assert for_the_shell("algorithm.gamma=0.9") == "algorithm.gamma=0.9"
    assert for_the_shell("a='b c'") == "\"a='b c'\""


def test_overrides_that_only_clash_together_are_not_blamed_on_the_yaml(bundled_yaml):
    with pytest.raises(ConfigError) as error:
        compose_config(bundled_yaml, ["+actor.model.lora_rank=8", "+actor.model.lora_rank=4"])
    (issue,) = error.value.issues
    assert issue.on_command_line and "lora_rank=4' does not apply after" in issue.found
