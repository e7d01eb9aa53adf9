# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The keys of RLinf's own sections that an embodied run reads: type, range, choices, and when each is needed.

RLinf 0.3.0 checks few of them and most of those late, so this table is the early check. It is a table on purpose:
no logic here. Keys that it does not know are passed through, unless they look like a misspelling of one that it does.
"""

from __future__ import annotations

from isaaclab_rlinf.config.keys import ALWAYS, ANY, BOOL, LIST, MAP, TEXT, TRAIN, Key, number, seed, text, whole
from isaaclab_rlinf.config.keys_env import ENV, INIT, VIDEO
from isaaclab_rlinf.config.keys_learning import LEARNING
from isaaclab_rlinf.config.keys_model import MODEL, PRECISION, RL_HEAD, SAMPLING

SECTIONS: dict[str, dict[str, Key]] = {
    "cluster": {
        "num_nodes": whole(ALWAYS, low=1),
        "component_placement": Key("map", ALWAYS),
        "node_groups": LIST,
        "profiling": MAP,
    },
    "runner": {
        "task_type": text(ALWAYS, "embodied", "embodied_eval"),
        "logger": Key("map", ALWAYS),
        "max_epochs": whole(TRAIN, low=1),
        "max_steps": whole(low=-1),
        "only_eval": BOOL,
        "val_check_interval": whole(low=-1),
        "save_interval": whole(TRAIN, low=-1),
        "weight_sync_interval": whole(low=1),
        "resume_dir": TEXT,
        "ckpt_path": TEXT,
        "expert_ckpt_path": TEXT,
        "eval_policy_path": TEXT,
        "per_worker_log": BOOL,
        "per_worker_log_path": TEXT,
        "overlap_env_bootstrap": BOOL,
        "use_training_pipeline": BOOL,
        "enable_decoupled_mode": BOOL,
        "enable_dynamic_batch_size": BOOL,
        "max_tokens_per_mbs": whole(low=1),
        "seq_length": whole(low=1),
        "max_prompt_length": whole(low=1),
        "experiment_name": TEXT,
        "output_dir": TEXT,
    },
    "runner.logger": {
        "log_path": text(ALWAYS),
        "experiment_name": text(ALWAYS),
        "project_name": TEXT,
        "logger_backends": ANY,
        "wandb_proxy": TEXT,
        "wandb_entity": TEXT,
        "swanlab_mode": text("", "cloud", "local", "offline", "disabled"),
    },
    "algorithm.sampling_params": SAMPLING,
    "env": {
        "group_name": text(ALWAYS),
        "channel": MAP,
        "enable_offload": BOOL,
        # one YAML serves train and play; an evaluation reads nothing of the training's section
        "train": Key("map", TRAIN),
        "eval": Key("map", ALWAYS),
    },
    "env.train": ENV,
    "env.train.video_cfg": VIDEO,
    "env.train.init_params": INIT,
    "env.eval": ENV,
    "env.eval.video_cfg": VIDEO,
    "env.eval.init_params": INIT,
    "rollout": {
        "group_name": text(ALWAYS),
        "channel": MAP,
        "mode": text("", "colocate", "collocated", "disaggregated", "async"),
        "backend": text("", "huggingface"),
        "enable_offload": BOOL,
        "pipeline_stage_num": whole(ALWAYS, low=1),
        "model": Key("map", ALWAYS),
        "model_sharing": text("", "separate"),
        "sampling_params": MAP,
        "collect_transitions": BOOL,
        "collect_prev_infos": BOOL,
        "enable_cuda_graph": BOOL,
        "enable_torch_compile": BOOL,
        "torch_compile_mode": TEXT,
        "rollout_queue_size": whole(low=0),
        "max_new_tokens": whole(low=1, null=True),
        "expert_model": MAP,
        "gpu_memory_utilization": number(above=0, high=1),
    },
    "rollout.model": MODEL,
    "rollout.model.rl_head_config": RL_HEAD,
    "rollout.sampling_params": SAMPLING,
    "actor": {
        "group_name": text(TRAIN),
        "channel": MAP,
        "training_backend": text(TRAIN, "fsdp"),
        "micro_batch_size": whole(TRAIN, low=1),
        "global_batch_size": whole(TRAIN, low=1),
        "seed": seed(TRAIN),
        "enable_offload": BOOL,
        "model": Key("map", ALWAYS),
        "optim": Key("map", TRAIN),
        "critic_optim": MAP,
        "fsdp_config": Key("map", TRAIN),
        "tokenizer": MAP,
        "sync_precision": Key("any", choices=PRECISION, null=True),
        "sync_bucket_capacity": whole(low=1),
        "enable_sft_co_train": BOOL,
        "debug_nan_checks": BOOL,
        "lr_sched_sync_with_optim": BOOL,
        "use_triton": BOOL,
    },
    "actor.model": MODEL,
    "actor.model.rl_head_config": RL_HEAD,
    "reward": {
        "use_reward_model": BOOL,
        "use_realworld_reward": BOOL,
        "standalone_realworld": BOOL,
        "reward_mode": TEXT,
        "group_name": TEXT,
        "model": MAP,
        "reward_weight": number(),
        "env_reward_weight": number(),
    },
    "critic": {"use_critic_model": Key("bool", TRAIN), "training_backend": TEXT},
    **LEARNING,
}
"""Key path of a section -> its keys."""

TOP_LEVEL: dict[str, str] = {
    "cluster": ALWAYS,
    "runner": ALWAYS,
    "algorithm": TRAIN,
    "env": ALWAYS,
    "rollout": ALWAYS,
    "actor": TRAIN,
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
