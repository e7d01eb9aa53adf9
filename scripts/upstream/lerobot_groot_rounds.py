# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""lerobot 0.6.1, transformers 5.10.4: a bfloat16 backbone config rounds the weights of a model built in float32."""

import torch
from lerobot.policies.groot.groot_n1_7 import Qwen3VLForConditionalGeneration
from transformers import Qwen3VLConfig

small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
text = {**small, "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 32}
vision = {"hidden_size": 16, "intermediate_size": 16, "depth": 1, "num_heads": 2, "out_hidden_size": 16}
config = Qwen3VLConfig(text_config=text, vision_config={**vision, "deepstack_visual_indexes": [0]}, dtype="bfloat16")
model = Qwen3VLForConditionalGeneration._from_config(config)  # what Qwen3Backbone does, with load_bf16 false
dtype = next(model.parameters()).dtype
print(f"torch's default {torch.get_default_dtype()}, load_bf16 false, built: {dtype}")
if dtype == torch.float32:
    raise SystemExit("gone: it is built in float32")
