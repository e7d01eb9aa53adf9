# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""tiny_vla: a small, genuine vision-language-action model in Hugging Face format.

Importing this package registers the model with ``AutoConfig``, ``AutoModel`` and ``AutoProcessor``.
"""

from transformers import AutoConfig, AutoModel, AutoProcessor

from .configuration import MODEL_TYPE, TinyVLAConfig
from .modeling import TinyVLAModel
from .processing import TinyVLAProcessor, min_max_statistics
from .tokenizer import build_tokenizer

AutoConfig.register(MODEL_TYPE, TinyVLAConfig, exist_ok=True)
AutoModel.register(TinyVLAConfig, TinyVLAModel, exist_ok=True)
AutoProcessor.register(TinyVLAConfig, TinyVLAProcessor, exist_ok=True)

__all__ = [
    "MODEL_TYPE",
    "TinyVLAConfig",
    "TinyVLAModel",
    "TinyVLAProcessor",
    "build_tokenizer",
    "min_max_statistics",
]
