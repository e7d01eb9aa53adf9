# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Instructions: what is one, its words, and whether a vocabulary has them."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from isaaclab_rlinf.mapping.instructions import (
    fold,
    instruction_issues,
    read_instructions,
    split_words,
    text_problem,
)

TEXTS = {
    "french": "Touchez la balle à côté, s'il vous plaît!",
    "hindi": "लाल गेंद को छुओ",
    "thai": "แตะลูกบอลสีแดงที่นี่",
    "turkish": "İtici ışığı KIRMIZI topa dokundur",
    "german": "Weiße Straße",
    "vietnamese": "chạm vào quả bóng đỏ",
    "persian": "می\u200cروم",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_unicode_form_and_case_make_no_difference(text):
    words = split_words(text)
    assert words
    for form in ("NFC", "NFD", "NFKD"):
        assert split_words(unicodedata.normalize(form, text)) == words
    for cased in (text.lower(), text.casefold()):
        assert split_words(cased) == words


def test_marks_stay_in_their_word():
    assert split_words("लाल गेंद को छुओ।") == ["लाल", "गेंद", "को", "छुओ"]
    assert split_words(TEXTS["thai"]) == [fold(TEXTS["thai"])]
    assert split_words("e\u0301cole-Maternelle") == ["école", "maternelle"]
    assert split_words("İğne") == split_words("I\u0307g\u0306ne") and len(split_words("İğne")) == 1
    assert split_words("\u2764\ufe0f go") == ["go"]  # a variation selector alone is no word


def test_ascii_is_split_as_it_always_was():
    """The rule of the shipped base checkpoint: lower case, everything that is no word character separates."""
    every = "".join(map(chr, range(128)))
    for text in (every, "Touch the RED ball!", "pick_up 2 cubes, now", "a\tb\nc  d", "it's 100%"):
        assert split_words(text) == re.findall(r"\w+", text.lower())


def test_folding_again_changes_nothing():
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if not 0xD800 <= point <= 0xDFFF:
            folded = fold(character)
            assert fold(folded) == folded == fold(unicodedata.normalize("NFD", character)), hex(point)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "missing"),
        ("", "empty"),
        (" \t", "empty"),
        (3, "3 is a whole number, no text"),
        (["go"], "is a list"),
        ("?!", "has no word in it"),
        ("go", ""),
        ("לך", ""),
    ],
)
def test_what_is_no_instruction(value, words):
    assert words in text_problem(value) and bool(words) == bool(text_problem(value))


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        (("a", "b"), []),
        (["a"], []),
        (None, ["has no `instructions`"]),
        ((), ["is empty"]),
        ("touch the ball", ["is a text ('touch the ball'), not a tuple of texts; each of its letters"]),
        ({"a": 1}, ["is a mapping"]),
        (("a", "", None, "c", 4), ["[1]` of the task's env cfg: empty", "[2]` of", "[4]` of the task's env cfg: 4 is"]),
    ],
)
def test_a_tasks_table_of_instructions(value, problems):
    texts, found = read_instructions(value)
    assert len(found) == len(problems) and all(map(str.__contains__, found, problems))
    assert texts == (() if problems else tuple(value))


def test_a_vocabulary_is_compared_in_folded_form():
    assert instruction_issues("x", "Straße, ÉCOLE", ["straße", "e\u0301cole"], 8) == []
    (issue,) = instruction_issues("x", "touch the crimsn ball", ["touch", "the", "crimson", "ball"], 8)
    assert "does not know crimsn" in issue.found and "did you mean 'crimson'" in issue.fix
    assert instruction_issues("x", "touch it", ["touch"], 8, unknown_allowed=True) == []
    both = instruction_issues("x", "go " * 9 + "home", ["go"], 8)
    assert "has 10 words" in both[0].found and "1 to 8 words (max_text_length of the model)" in both[0].allowed
    assert "does not know home" in both[1].found
