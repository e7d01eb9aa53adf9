# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Tokenizer of tiny_vla: one token per lower-cased word."""

from __future__ import annotations

import re
from collections.abc import Iterable

PAD_TOKEN = "<pad>"
UNKNOWN_TOKEN = "<unk>"


def build_tokenizer(texts: Iterable[str], max_length: int):
    """Make a word-level tokenizer that knows every word of ``texts``.

    Args:
        texts: Instructions, for example all task strings of a dataset. Case and punctuation do not matter.
        max_length: Number of tokens an instruction is padded to.

    Returns:
        transformers.PreTrainedTokenizerFast: Ids are given in alphabetical order after ``<pad>`` and ``<unk>``, so
        the same set of texts always gives the same ids.

    Raises:
        ValueError: If the texts contain no word.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})
    if not words:
        raise ValueError("cannot build a tokenizer: the instructions contain no word")
    vocabulary = {token: index for index, token in enumerate([PAD_TOKEN, UNKNOWN_TOKEN, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN_TOKEN))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(_regex(r"[^\w\s]"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD_TOKEN, unk_token=UNKNOWN_TOKEN, model_max_length=max_length
    )


def _regex(pattern: str):
    from tokenizers import Regex

    return Regex(pattern)
