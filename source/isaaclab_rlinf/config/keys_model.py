# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Keys of ``actor.model`` and ``rollout.model``, and of the sampling parameters."""

from __future__ import annotations

from isaaclab_rlinf.config.keys import ALWAYS, ANY, BOOL, MAP, TEXT, Key, number, text, whole

PRECISION = ("bf16", "bf16-mixed", 16, "16", "fp16", "16-mixed", 32, "32", "fp32", "32-true", None, "null")

MODEL = {
    "model_type": text(ALWAYS),
    "model_path": text(ALWAYS),
    "precision": Key("any", ALWAYS, choices=PRECISION, null=True),
    "action_dim": whole(ALWAYS, low=1),
    "num_action_chunks": whole(ALWAYS, low=1),
    "is_lora": Key("bool", ALWAYS),
    "lora_rank": whole(low=1, null=True),
    "lora_path": TEXT,
    "trust_remote_code": BOOL,
    "denoising_steps": whole(low=1),
    "policy_setup": TEXT,
    "obs_converter_type": TEXT,
    "embodiment_tag": TEXT,
    "add_value_head": BOOL,
    "rl_head_config": MAP,
    "state_dim": whole(low=1),
    "obs_dim": whole(low=1),
    "num_images_in_input": whole(low=1, null=True),
    "rl_model_path": TEXT,
    "load_to_device": ANY,
    # RLinf's OpenVLA, OpenVLA-OFT and pi0
    "attn_implementation": TEXT,
    "implement_version": text("", "rlinf", "official"),
    "unnorm_key": TEXT,
    "value_type": text("", "chunk_level", "action_level"),
    "hidden_size": whole(low=1),
    "vocab_size": whole(low=1),
    "max_prompt_length": whole(low=1),
    "use_proprio": BOOL,
    "use_film": BOOL,
    "center_crop": BOOL,
    "low_cpu_mem_usage": BOOL,
    "openpi": MAP,
    "backbone_model_path": TEXT,
    "implementation": text("", "auto", "lerobot", "isaac_gr00t"),
    "tune_llm": BOOL,
    "tune_visual": BOOL,
    "tune_projector": BOOL,
    "tune_diffusion_model": BOOL,
    "tune_vlln": BOOL,
    "isaaclab": MAP,  # the block, put there for the builder; see config/gr00t_block.py
}
RL_HEAD = {
    "add_value_head": BOOL,
    "noise_method": TEXT,
    "noise_level": number(low=0),
    "noise_anneal": BOOL,
    "noise_params": Key("numbers"),
    "joint_logprob": BOOL,
    "safe_get_logprob": BOOL,
    "ignore_last": BOOL,
    "chunk_critic_input": BOOL,
    "detach_critic_input": BOOL,
    "disable_dropout": BOOL,
    "use_vlm_value": BOOL,
    "value_vlm_mode": TEXT,
    "padding_value": whole(),
    "action_noise_scale": number(low=0),
    "stochastic_steps": Key("numbers", null=True),  # tiny_vla
}

SAMPLING_READ = (
    "do_sample",
    "max_new_tokens",
    "temperature",
    "temperature_eval",
    "temperature_train",
    "top_k",
    "top_p",
)
"""Of the keys below those that RLinf 0.3.0 hands to a model that acts; it picks them by name."""
SAMPLING = {
    "do_sample": BOOL,
    "temperature": number(low=0),
    "temperature_train": number(low=0),
    "temperature_eval": number(low=0),
    "top_k": whole(low=0),
    "top_p": number(above=0, high=1),
    "repetition_penalty": number(above=0),
    "max_new_tokens": whole(low=1, null=True),
    "add_BOS": BOOL,
}
