# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Tokenizer of tiny_vla: one token per word, as :func:`~isaaclab_rlinf.mapping.instructions.split_words` finds them."""

from __future__ import annotations

from collections.abc import Iterable

from isaaclab_rlinf.mapping.instructions import split_words

PAD_TOKEN = "<pad>"
UNKNOWN_TOKEN = "<unk>"


def build_tokenizer(texts: Iterable[str], max_length: int):
    """Make a word-level tokenizer that knows every word of ``texts``.

    Args:
        texts: Instructions, for example all task strings of a dataset. Case, punctuation and Unicode form do not
            matter.
        max_length: Number of tokens an instruction is padded to.

    Returns:
        transformers.PreTrainedTokenizerFast: Ids are given in alphabetical order after ``<pad>`` and ``<unk>``, so
        the same set of texts always gives the same ids.

    Raises:
        ValueError: If the texts contain no word.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for text in texts for word in split_words(text)})
    if not words:
        raise ValueError("cannot build a tokenizer: the instructions contain no word")
    vocabulary = {token: index for index, token in enumerate([PAD_TOKEN, UNKNOWN_TOKEN, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN_TOKEN))
    # For other users of the file; the processor splits with split_words, which casefolds, and looks words up.
    punctuation = normalizers.Replace(_regex(r"[^\w\s\p{M}]"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase(), punctuation])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD_TOKEN, unk_token=UNKNOWN_TOKEN, model_max_length=max_length
    )


def _regex(pattern: str):
    from tokenizers import Regex

    return Regex(pattern)
