# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What an instruction is, and its words: one rule, for building a vocabulary and for all that reads by it. No torch."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from isaaclab_rlinf.config.errors import Issue, did_you_mean, listing, show
from isaaclab_rlinf.config.reader import kind_of

_JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners choose the shape of neighbouring letters, in Hindi and Persian, not another word."""

UNPROMPTED = "the model would act unprompted"


def text_problem(value: Any) -> str:
    """Return why a value is no instruction, empty when it is one.

    Args:
        value: What stands in the place of a text.
    """
    if value is None:
        return f"missing; {UNPROMPTED}"
    if not isinstance(value, str):
        return f"{show(value)} is {kind_of(value)}, no text"
    if not value.strip():
        return f"empty; {UNPROMPTED}"
    return "" if split_words(value) else f"{value!r} has no word in it; {UNPROMPTED}"


def read_instructions(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a task's instructions, and everything that is wrong with them.

    Args:
        value: ``cfg.instructions``, which the task's ``task_description.obs`` indexes.

    Returns:
        The texts, empty when something is wrong; and the problems, each of which names the entry.
    """
    if value is None:
        return (), ("the task's env cfg has no `instructions` (a tuple of texts to index into)",)
    if not isinstance(value, tuple | list):
        what = f"`instructions` of the task's env cfg is {kind_of(value)} ({show(value)}), not a tuple of texts"
        return (), (f"{what}; each of its letters would be an instruction" if isinstance(value, str) else what,)
    if not value:
        return (), ("`instructions` of the task's env cfg is empty",)
    found = [(index, text_problem(text)) for index, text in enumerate(value)]
    problems = tuple(f"`instructions[{index}]` of the task's env cfg: {problem}" for index, problem in found if problem)
    return (() if problems else tuple(value)), problems


def fold(text: str) -> str:
    """Return a text in the form in which texts are compared.

    Unicode's canonical caseless form, composed: typing an accent as a letter of its own (NFD) or not (NFC), and upper
    or lower case, make no difference. Folding again changes nothing.

    Args:
        text: Any text.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def split_words(text: str) -> list[str]:
    """Return the folded words of a text, in order: letters, digits and underscores, with their combining marks.

    Punctuation separates. Vowel signs of Hindi or Thai are marks, so they stay within their word; a script without
    spaces gives one word for the whole text.

    Args:
        text: An instruction.
    """
    words, word = [], ""
    for character in f"{fold(text)} ":
        if character in _JOINERS:
            continue
        if character.isalnum() or character == "_" or (word and unicodedata.category(character).startswith("M")):
            word += character
        elif word:
            words.append(word)
            word = ""
    return words


def instruction_issues(
    where: str, text: str, vocabulary: Iterable[str], max_words: int, *, unknown_allowed: bool = False
) -> list[Issue]:
    """Return why a model with a vocabulary of words cannot take an instruction.

    Args:
        where: Key path of the instruction, or what it is.
        text: The instruction.
        vocabulary: Words of the model's tokenizer, in whatever form they were stored.
        max_words: Its ``max_text_length``.
        unknown_allowed: Whether it may have words that the tokenizer does not know.
    """
    words, known, issues = split_words(text), {fold(word): word for word in vocabulary}, []
    if not 0 < len(words) <= max_words:
        found = f"{text!r} has {len(words)} words" if words else f"{text!r} has no word"
        fix = "use fewer words, or train a base that takes more (isaaclab-rlinf sft --max_text_length)"
        allowed = f"1 to {max_words} words (max_text_length of the model)"
        issues.append(Issue(where, found, allowed, fix if words else ""))
    unknown = [word for word in dict.fromkeys(words) if word not in known]
    if unknown and not unknown_allowed:
        found = f"{text!r}; the checkpoint does not know {listing(unknown)}"
        hint = next(filter(None, (did_you_mean(word, known.values()) for word in unknown)), "")
        fix = f"{hint} or " if hint else ""
        fix += "say it in these words, or train a base on demonstrations that use yours (isaaclab-rlinf sft)"
        issues.append(Issue(where, found, f"words of the checkpoint: {listing(sorted(known.values()))}", fix))
    return issues
