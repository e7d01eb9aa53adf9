# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What may stand at one key of RLinf's sections: the vocabulary of the tables in the ``keys_*`` modules."""

from __future__ import annotations

from dataclasses import dataclass

from isaaclab_rlinf.config.seeds import SEED_LIMIT

ALWAYS, TRAIN, EVAL, PPO = "always", "train", "eval", "ppo"
"""When a key is needed: in every run, when training, when the section's environments are evaluated, for PPO losses."""


@dataclass(frozen=True)
class Key:
    """What may stand at one key."""

    kind: str
    """``int``, ``float``, ``bool``, ``str``, ``list``, ``numbers`` (a list of them), ``map`` or ``any``."""
    need: str = ""
    """One of the constants above, or empty for a key that RLinf has a default for."""
    low: float | None = None
    high: float | None = None
    above: float | None = None
    """Exclusive lower bound."""
    choices: tuple[object, ...] = ()
    null: bool = False
    """Whether an explicit null is as good as leaving the key out (RLinf's ``.get`` returns it, default or not)."""


def whole(need: str = "", low: float | None = None, high: float | None = None, null: bool = False) -> Key:
    """Return the :class:`Key` of a whole number."""
    return Key("int", need, low=low, high=high, null=null)


def seed(need: str = "") -> Key:
    """Return the :class:`Key` of a seed."""
    return Key("int", need, low=0, high=SEED_LIMIT - 1)


def number(
    need: str = "",
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    null: bool = False,
) -> Key:
    """Return the :class:`Key` of a number."""
    return Key("float", need, low=low, high=high, above=above, null=null)


def text(need: str = "", *choices: object, null: bool = False) -> Key:
    """Return the :class:`Key` of a text."""
    return Key("str", need, choices=choices, null=null)


BOOL = Key("bool")
TEXT, MAP, LIST, ANY = (Key(kind, null=True) for kind in ("str", "map", "list", "any"))
