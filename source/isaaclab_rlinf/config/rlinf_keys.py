# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The keys of RLinf's own sections that an embodied run reads: type, range, choices, and when each is needed.

RLinf 0.3.0 checks few of them and most of those late, so this table is the early check. It is a table on purpose:
no logic here. Keys that it does not know are passed through, unless they look like a misspelling of one that it does.
"""

from __future__ import annotations

from dataclasses import dataclass

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


def _int(need: str = "", low: float | None = None, null: bool = False) -> Key:
    return Key("int", need, low=low, null=null)


def _float(
    need: str = "",
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    null: bool = False,
) -> Key:
    return Key("float", need, low=low, high=high, above=above, null=null)


def _str(need: str = "", *choices: object, null: bool = False) -> Key:
    return Key("str", need, choices=choices, null=null)


_BOOL = Key("bool")
_TEXT, _MAP, _LIST, _ANY = (Key(kind, null=True) for kind in ("str", "map", "list", "any"))
_PRECISION = ("bf16", "bf16-mixed", 16, "16", "fp16", "16-mixed", 32, "32", "fp32", "32-true", None, "null")
_DTYPE = ("bf16", "fp16", "fp32", None)

_ENV = {
    "env_type": _str(EVAL, "isaaclab"),
    "total_num_envs": _int(EVAL, low=1),
    "rollout_epoch": _int(low=1),
    "max_steps_per_rollout_epoch": _int(EVAL, low=1),
    "max_episode_steps": _int(EVAL, low=1),
    "auto_reset": Key("bool", EVAL),
    "ignore_terminations": Key("bool", EVAL),
    "use_rel_reward": Key("bool", EVAL),
    "use_fixed_reset_state_ids": _BOOL,
    "seed": _int(EVAL, low=0),
    "group_size": _int(low=1),
    "reward_coef": _float(),
    "enable_offload": _BOOL,
    "use_step_penalty": _BOOL,
    "video_cfg": Key("map", EVAL),
    "init_params": Key("map", ALWAYS),
    "isaaclab": Key("map", EVAL),
    "override_cfg": _MAP,
    "override_cfgs": _LIST,
    "data_collection": _MAP,
    "wm_env_type": _TEXT,
    "reset_gripper_open": _BOOL,
    "is_eval": _BOOL,
    "specific_reset_id": _ANY,
}
_VIDEO = {
    "save_video": Key("bool", EVAL),
    "info_on_video": _BOOL,
    "video_base_dir": _str(EVAL),
    "fps": _float(above=0, null=True),
    "extra_info_on_video": _LIST,
    # read by our environment
    "max_envs": _int(low=1, null=True),
    "max_seconds": _float(above=0, null=True),
    "tile_height": _int(low=1, null=True),
}
_INIT = {
    "id": _str(EVAL),
    "num_envs": _int(low=1, null=True),
    "max_episode_steps": _int(low=1),
    "task_description": _TEXT,
    "env_overrides": _MAP,
    # written by our command line
    "device": _TEXT,
    "action_chunk": _int(low=1),
    "import_modules": _LIST,
    # read by our environment
    "presets": _LIST,
    "log_dir": _TEXT,
    "final_observation": _str("", "truncated", "done"),
    "report_instruction": _BOOL,
    "start_timeout": _float(above=0),
    "step_timeout": _float(above=0),
}
_MODEL = {
    "model_type": _str(ALWAYS),
    "model_path": _str(ALWAYS),
    "precision": Key("any", ALWAYS, choices=_PRECISION, null=True),
    "action_dim": _int(ALWAYS, low=1),
    "num_action_chunks": _int(ALWAYS, low=1),
    "is_lora": Key("bool", TRAIN),
    "lora_rank": _int(low=1, null=True),
    "lora_path": _TEXT,
    "trust_remote_code": _BOOL,
    "denoising_steps": _int(low=1),
    "policy_setup": _TEXT,
    "obs_converter_type": _TEXT,
    "embodiment_tag": _TEXT,
    "add_value_head": _BOOL,
    "rl_head_config": _MAP,
    "state_dim": _int(low=1),
    "obs_dim": _int(low=1),
    "num_images_in_input": _int(low=1, null=True),
    "rl_model_path": _TEXT,
    "load_to_device": _ANY,
    "backbone_model_path": _TEXT,
}
_RL_HEAD = {
    "add_value_head": _BOOL,
    "noise_method": _TEXT,
    "noise_level": _float(low=0),
    "noise_anneal": _BOOL,
    "noise_params": Key("numbers"),
    "joint_logprob": _BOOL,
    "safe_get_logprob": _BOOL,
    "ignore_last": _BOOL,
    "chunk_critic_input": _BOOL,
    "detach_critic_input": _BOOL,
    "disable_dropout": _BOOL,
    "use_vlm_value": _BOOL,
    "value_vlm_mode": _TEXT,
    "padding_value": _int(),
    "action_noise_scale": _float(low=0),
}

_SAMPLING = {
    "do_sample": _BOOL,
    "temperature": _float(low=0),
    "temperature_train": _float(low=0),
    "temperature_eval": _float(low=0),
    "top_k": _int(low=0),
    "top_p": _float(above=0, high=1),
    "repetition_penalty": _float(above=0),
    "max_new_tokens": _int(low=1, null=True),
    "add_BOS": _BOOL,
}

SECTIONS: dict[str, dict[str, Key]] = {
    "cluster": {
        "num_nodes": _int(ALWAYS, low=1),
        "component_placement": Key("map", ALWAYS),
        "node_groups": _LIST,
        "profiling": _MAP,
    },
    "runner": {
        "task_type": _str(ALWAYS, "embodied", "embodied_eval"),
        "logger": Key("map", ALWAYS),
        "max_epochs": _int(TRAIN, low=1),
        "max_steps": _int(low=-1),
        "only_eval": _BOOL,
        "val_check_interval": _int(low=-1),
        "save_interval": _int(TRAIN, low=-1),
        "weight_sync_interval": _int(low=1),
        "resume_dir": _TEXT,
        "ckpt_path": _TEXT,
        "expert_ckpt_path": _TEXT,
        "eval_policy_path": _TEXT,
        "per_worker_log": _BOOL,
        "per_worker_log_path": _TEXT,
        "overlap_env_bootstrap": _BOOL,
        "use_training_pipeline": _BOOL,
        "enable_decoupled_mode": _BOOL,
        "enable_dynamic_batch_size": _BOOL,
        "max_tokens_per_mbs": _int(low=1),
        "seq_length": _int(low=1),
        "max_prompt_length": _int(low=1),
        "experiment_name": _TEXT,
        "output_dir": _TEXT,
    },
    "runner.logger": {
        "log_path": _str(ALWAYS),
        "experiment_name": _str(ALWAYS),
        "project_name": _TEXT,
        "logger_backends": _ANY,
        "wandb_proxy": _TEXT,
        "wandb_entity": _TEXT,
        "swanlab_mode": _TEXT,
    },
    "algorithm": {
        "adv_type": _str(TRAIN, "gae", "grpo", "grpo_dynamic", "reinpp", "raw", "embodied_sac"),
        "loss_type": _str(TRAIN, "actor_critic", "decoupled_actor_critic", "actor", "embodied_sac"),
        "loss_agg_func": _str("", "token-mean", "seq-mean-token-sum", "seq-mean-token-mean"),
        "reward_type": _str(PPO, "chunk_level", "action_level"),
        "logprob_type": _str(PPO, "token_level", "action_level", "chunk_level"),
        "entropy_type": _str(PPO, "token_level", "action_level", "chunk_level"),
        "normalize_advantages": _BOOL,
        "group_size": _int(TRAIN, low=1),
        "reward_coef": _float(),
        "rollout_epoch": _int(low=1),
        "eval_rollout_epoch": _int(low=1),
        "update_epoch": _int(low=1),
        "gamma": _float(TRAIN, low=0, high=1),
        "gae_lambda": _float(low=0, high=1),
        "clip_ratio_high": _float(PPO, above=0),
        "clip_ratio_low": _float(PPO, above=0, high=1),
        "clip_ratio_c": _float(above=1),
        "clip_log_ratio_min": _float(null=True),
        "clip_log_ratio_max": _float(null=True),
        "value_clip": _float(above=0, null=True),
        "huber_delta": _float(above=0, null=True),
        "entropy_bonus": _float(PPO, low=0),
        "kl_beta": _float(low=0),
        "kl_penalty": _TEXT,
        "kl_penalty_type": _TEXT,
        "filter_rewards": _BOOL,
        "rewards_lower_bound": _float(null=True),
        "rewards_upper_bound": _float(null=True),
        "bootstrap_type": _TEXT,
        "shuffle_rollout": _BOOL,
        "sampling_params": _MAP,
        "length_params": _MAP,
        "entropy_tuning": _MAP,
        "replay_buffer": _MAP,
        "demo_buffer": _MAP,
        "tau": _float(above=0, high=1),
        "critic_actor_ratio": _int(low=1),
        "target_update_freq": _int(low=1),
        "backup_entropy": _BOOL,
        "agg_q": _TEXT,
        "q_head_type": _TEXT,
        "dagger": _MAP,
        "recompute_logprobs": _BOOL,
        "entropy_op_type": _TEXT,
    },
    "algorithm.sampling_params": _SAMPLING,
    "env": {
        "group_name": _str(ALWAYS),
        "channel": _MAP,
        "enable_offload": _BOOL,
        # one YAML serves train and play, and the command line writes into both sections
        "train": Key("map", ALWAYS),
        "eval": Key("map", ALWAYS),
    },
    "env.train": _ENV,
    "env.train.video_cfg": _VIDEO,
    "env.train.init_params": _INIT,
    "env.eval": _ENV,
    "env.eval.video_cfg": _VIDEO,
    "env.eval.init_params": _INIT,
    "rollout": {
        "group_name": _str(ALWAYS),
        "channel": _MAP,
        "mode": _str("", "colocate", "collocated", "disaggregated", "async"),
        "backend": _str("", "huggingface"),
        "enable_offload": _BOOL,
        "pipeline_stage_num": _int(ALWAYS, low=1),
        "model": Key("map", ALWAYS),
        "model_sharing": _str("", "separate"),
        "sampling_params": _MAP,
        "collect_transitions": _BOOL,
        "collect_prev_infos": _BOOL,
        "enable_cuda_graph": _BOOL,
        "enable_torch_compile": _BOOL,
        "torch_compile_mode": _TEXT,
        "rollout_queue_size": _int(low=0),
        "max_new_tokens": _int(low=1, null=True),
        "expert_model": _MAP,
        "gpu_memory_utilization": _float(above=0, high=1),
    },
    "rollout.model": _MODEL,
    "rollout.model.rl_head_config": _RL_HEAD,
    "rollout.sampling_params": _SAMPLING,
    "actor": {
        "group_name": _str(TRAIN),
        "channel": _MAP,
        "training_backend": _str(TRAIN, "fsdp"),
        "micro_batch_size": _int(TRAIN, low=1),
        "global_batch_size": _int(TRAIN, low=1),
        "seed": _int(TRAIN, low=0),
        "enable_offload": _BOOL,
        "model": Key("map", ALWAYS),
        "optim": Key("map", TRAIN),
        "critic_optim": _MAP,
        "fsdp_config": Key("map", TRAIN),
        "tokenizer": _MAP,
        "sync_precision": _TEXT,
        "sync_bucket_capacity": _int(low=1),
        "enable_sft_co_train": _BOOL,
        "debug_nan_checks": _BOOL,
        "lr_sched_sync_with_optim": _BOOL,
        "use_triton": _BOOL,
    },
    "actor.model": _MODEL,
    "actor.model.rl_head_config": _RL_HEAD,
    "actor.optim": {
        "lr": _float(TRAIN, above=0),
        "value_lr": _float(above=0),
        "adam_beta1": _float(TRAIN, low=0, high=1),
        "adam_beta2": _float(TRAIN, low=0, high=1),
        "adam_eps": _float(above=0),
        "clip_grad": _float(TRAIN, above=0),
        "weight_decay": _float(low=0),
        "critic_warmup_steps": _int(low=0),
        "lr_scheduler": _str("", "constant", "cosine", "torch_constant", "torch_cosine"),
        "lr_warmup_steps": _int(low=-1),
        "lr_warmup_steps_ratio": _float(low=0, high=1),
        "total_training_steps": _int(low=0),
        "num_cycles": _float(above=0),
        "min_lr": _float(low=0),
        "min_lr_rate": _float(low=0, null=True),
    },
    "actor.fsdp_config": {
        "strategy": _str("", "fsdp", "fsdp2"),
        "sharding_strategy": _str("", "full_shard", "shard_grad_op", "hybrid_shard", "no_shard"),
        "gradient_checkpointing": _BOOL,
        "gradient_checkpointing_use_reentrant": _BOOL,
        "use_reentrant": _BOOL,
        "cpu_offload": _BOOL,
        "offload_pin_memory": _BOOL,
        "reshard_after_forward": _BOOL,
        "enable_gradient_accumulation": _BOOL,
        "forward_prefetch": _BOOL,
        "backward_prefetch": _str("", "pre", "post", null=True),
        "limit_all_gathers": _BOOL,
        "use_orig_params": _BOOL,
        "use_liger_kernel": _BOOL,
        "fsdp_size": _int(low=-1),
        "save_full_model_weights": _BOOL,
        "mixed_precision": Key("map", TRAIN),
        "amp_autocast": _MAP,
        "grad_scaler": _MAP,
        "amp": _MAP,
        "wrap_policy": _MAP,
    },
    "actor.fsdp_config.mixed_precision": {
        "param_dtype": Key("str", choices=_DTYPE, null=True),
        "reduce_dtype": Key("str", choices=_DTYPE, null=True),
        "buffer_dtype": Key("str", choices=_DTYPE, null=True),
    },
    "actor.fsdp_config.amp_autocast": {"enabled": _BOOL, "precision": _str("", "fp16", "bf16", "fp32")},
    "actor.fsdp_config.amp": {
        "enabled": _BOOL,
        "precision": _str("", "fp16", "bf16", "fp32"),
        "use_grad_scaler": _BOOL,
    },
    "actor.fsdp_config.grad_scaler": {
        "enabled": _BOOL,
        "init_scale": _float(above=0, null=True),
        "growth_interval": _int(low=1, null=True),
    },
    "actor.fsdp_config.wrap_policy": {
        "transformer_layer_cls_to_wrap": _LIST,
        "module_classes_to_wrap": _LIST,
        "no_split_names": _LIST,
        "no_split_modules": _LIST,
        "min_num_params": _int(low=0),
    },
    "weight_syncer": {
        "type": _str(TRAIN, "bucket", "patch"),
        "bucket": _MAP,
        "patch": _MAP,
        "use_ring_sync": _BOOL,
        "nccl_max_ctas": _int(low=1),
        "nccl_min_ctas": _int(low=1),
    },
    "weight_syncer.bucket": {
        "bucket_size": _int(TRAIN, low=1),
        "bucket_dtype": _TEXT,
        "bucket_device": _TEXT,
        "is_agent": _BOOL,
        "load_instant": _BOOL,
    },
    "weight_syncer.patch": {
        "snapshot_device": _TEXT,
        "delta_encoding": _BOOL,
        "compression_algorithm": _TEXT,
        "compression": _TEXT,
        "transport_device": _TEXT,
        "init_sync": _MAP,
    },
    "reward": {
        "use_reward_model": _BOOL,
        "use_realworld_reward": _BOOL,
        "standalone_realworld": _BOOL,
        "reward_mode": _TEXT,
        "group_name": _TEXT,
        "model": _MAP,
        "reward_weight": _float(),
        "env_reward_weight": _float(),
    },
    "critic": {"use_critic_model": _BOOL, "training_backend": _TEXT},
}
"""Key path of a section -> its keys."""

TOP_LEVEL: dict[str, str] = {
    "cluster": ALWAYS,
    "runner": ALWAYS,
    "algorithm": TRAIN,
    "env": ALWAYS,
    "rollout": ALWAYS,
    "actor": ALWAYS,
    "weight_syncer": TRAIN,
    "reward": "",
    "critic": "",
    "data": "",
    "tokenizer": "",
    "hydra": "",
    "extensions": "",
    "defaults": "",
}
"""Section -> when it is needed. ``extensions`` is ours: a list of modules whose ``register()`` runs in every worker."""
