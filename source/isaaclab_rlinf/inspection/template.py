# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The text of a first task YAML: RLinf's sections with settings to start from, the block filled from a draft."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isaaclab_rlinf.inspection.template_block import block_lines

if TYPE_CHECKING:
    from isaaclab_rlinf.inspection.draft import Draft
    from isaaclab_rlinf.inspection.model_files import ModelFacts


@dataclass(frozen=True)
class Outline:
    """Everything the text needs besides the block."""

    task: str
    name: str
    """Experiment name."""
    extensions: tuple[str, ...]
    model: ModelFacts
    action_dim: int
    """Width of the model's actions; the task's where the checkpoint is unknown."""
    episode_steps: int
    """The task's own time-out, in actions."""

    @property
    def chunk(self) -> int:
        """Actions per chunk."""
        return min(self.model.horizon or 8, self.episode_steps)

    @property
    def rollout_steps(self) -> int:
        """An episode, rounded up to whole chunks."""
        return math.ceil(self.episode_steps / self.chunk) * self.chunk

    @property
    def num_envs(self) -> int:
        """Environments to start with."""
        return 8 if self.model.is_gr00t else 16

    @property
    def batch(self) -> int:
        """Samples of one iteration."""
        return self.num_envs * self.rollout_steps // self.chunk

    @property
    def micro_batch(self) -> int:
        """Largest divisor of the batch that a small machine can hold."""
        most = 8 if self.model.is_gr00t else 256
        return max(size for size in range(1, most + 1) if self.batch % size == 0)


def task_yaml(outline: Outline, draft: Draft) -> str:
    """Return the YAML's text.

    Args:
        outline: Task, model and sizes.
        draft: The block.
    """
    lines = [*_head(outline), *_sections(outline), "", *_env(outline, draft), *_policy(outline)]
    return "\n".join(lines) + "\n"


def _head(outline: Outline) -> list[str]:
    extensions = [f"extensions: [{', '.join(outline.extensions)}]  # modules that register the task", ""]
    return [
        f"# A first task YAML for {outline.task}, written by `isaaclab-rlinf init`.",
        "# What the task and the checkpoint decide is filled in. What you must decide is ???, with the possibilities",
        "# beside it; `isaaclab-rlinf check --config_name THIS_FILE` lists what is left. docs/yaml_reference.md has",
        "# every key of the block `isaaclab`; the other sections are RLinf's, with settings to start from.",
        "",
        *(extensions if outline.extensions else []),
    ]


def _sections(outline: Outline) -> list[str]:
    return f"""\
cluster:
  num_nodes: 1
  component_placement:
    actor,env,rollout: 0-0         # one process each, on the first GPU or the CPU; `all` uses every GPU

runner:
  task_type: embodied
  logger:
    log_path: logs/rlinf           # replaced by the run directory
    project_name: isaaclab-rlinf
    experiment_name: {outline.name}
    logger_backends: [tensorboard]
  max_epochs: 100                  # iterations of rollout and update
  max_steps: -1
  only_eval: false
  val_check_interval: -1
  save_interval: 10
  resume_dir: null
  ckpt_path: null

algorithm:
  adv_type: gae
  loss_type: actor_critic
  loss_agg_func: token-mean
  reward_type: chunk_level
  logprob_type: chunk_level
  entropy_type: chunk_level
  normalize_advantages: true
  group_size: 1
  update_epoch: 2
  gamma: 0.95                      # per chunk of {outline.chunk} actions, not per action
  gae_lambda: 0.9
  clip_ratio_high: 0.2
  clip_ratio_low: 0.2
  value_clip: 0.2
  huber_delta: 10.0
  entropy_bonus: 0.0
  kl_beta: 0.0
  filter_rewards: false
""".splitlines()


def _env(outline: Outline, draft: Draft) -> list[str]:
    return [
        "env:",
        "  group_name: EnvGroup",
        "  enable_offload: false",
        *_env_mode(outline, "train", outline.num_envs, resets=True),
        "    isaaclab: &isaaclab_config",
        *(f"      {line}" for line in block_lines(outline.model, draft)),
        *_env_mode(outline, "eval", outline.num_envs, resets=False),
        "    isaaclab: *isaaclab_config",
        "",
    ]


def _env_mode(outline: Outline, mode: str, num_envs: int, *, resets: bool) -> list[str]:
    steps, episode = outline.rollout_steps, outline.episode_steps
    text = f"""\
{mode}:
  env_type: isaaclab
  total_num_envs: {num_envs}
  rollout_epoch: 1
  max_steps_per_rollout_epoch: {steps}  # a whole number of chunks
  max_episode_steps: {episode}  # the task's own time-out
  auto_reset: {str(resets).lower()}
  ignore_terminations: false
  use_rel_reward: false
  use_fixed_reset_state_ids: false
  seed: {42 if resets else 1042}
  group_size: 1
  reward_coef: 1.0
  video_cfg:
    save_video: false
    info_on_video: true
    video_base_dir: ${{runner.logger.log_path}}/videos/{mode}
  init_params:
    id: {outline.task}
    num_envs: null
    max_episode_steps: ${{env.{mode}.max_episode_steps}}
    env_overrides: {{}}              # dotted attributes of the env cfg, e.g. {{rewards.progress.weight: 0.5}}
"""
    return textwrap.indent(text, "  ").splitlines()


def _policy(outline: Outline) -> list[str]:
    model = outline.model
    gr00t = model.is_gr00t
    precision, rollout, compute = _precisions(model)
    path = f"{model.path}" if model.path else "???  # DECIDE: a checkpoint directory, or pass --model_path"
    tag = ["    embodiment_tag: ${env.train.isaaclab.embodiment_tag}"] if gr00t else []
    head = textwrap.indent("\n".join(_head_config(model)), "      ").splitlines()
    top = f"""\
rollout:
  group_name: RolloutGroup
  backend: huggingface
  mode: colocate
  enable_offload: {str(gr00t).lower()}
  pipeline_stage_num: 1
  model: {rollout}

actor:
  group_name: ActorGroup
  training_backend: fsdp
  micro_batch_size: {outline.micro_batch}
  global_batch_size: {outline.batch}  # the whole rollout: environments x chunks
  seed: 42
  enable_offload: {str(gr00t).lower()}
  model:
    model_type: {model.model_type}
    model_path: {path}
    precision: {precision}
    is_lora: false
    action_dim: {outline.action_dim}  # width of the model's actions, before padding
    num_action_chunks: {outline.chunk}  # actions executed per call
    denoising_steps: {model.denoising_steps}
    add_value_head: true""".splitlines()
    return [*top, *tag, "    rl_head_config:", *head, *_rest(compute, gr00t)]


def _precisions(model: ModelFacts) -> tuple[str, str, str]:
    """Return the weights' precision, the section ``rollout.model``, and the precision in which the actor computes."""
    inherits = "{}                        # everything from actor.model"
    if not model.is_gr00t:
        return "fp32", inherits, "fp32"
    if (
        model.model_type == "gr00t"
    ):  # N1.5 asks its weights for the dtype of its inputs, also where FSDP has them in fp32
        return "bf16", inherits, "bf16"
    return "fp32", "{precision: bf16}         # the rest from actor.model; computes as param_dtype below", "bf16"


def _head_config(model: ModelFacts) -> list[str]:
    if model.model_type == "gr00t":
        from isaaclab_rlinf.config.checks_gr00t_n1d5 import HEAD_KEYS

        return [f"{key}: {value}" for key, value in HEAD_KEYS.items()]
    if model.model_type == "gr00t_n1d7":
        return ["noise_level: 0.3", "action_noise_scale: 0", "detach_critic_input: true"]
    return [
        "noise_level: 0.4               # exploration, in normalised action units",
        f"stochastic_steps: [{model.denoising_steps - 1}]          # the flow contracts the noise of earlier steps",
        "detach_critic_input: true",
    ]


def _rest(compute: str, gr00t: bool) -> list[str]:
    lr, value_lr = ("5.0e-6", "1.0e-4") if gr00t else ("4.0e-5", "1.0e-3")
    return f"""\
  optim:
    lr: {lr}
    value_lr: {value_lr}
    adam_beta1: 0.9
    adam_beta2: 0.999
    adam_eps: 1.0e-8
    clip_grad: 1.0
    weight_decay: 0.0
    critic_warmup_steps: 0
  fsdp_config:
    strategy: fsdp2
    gradient_checkpointing: false
    cpu_offload: false
    reshard_after_forward: {str(gr00t).lower()}
    enable_gradient_accumulation: true
    use_orig_params: true
    mixed_precision:
      param_dtype: {compute}
      reduce_dtype: fp32
      buffer_dtype: {compute}

weight_syncer:
  type: bucket
  bucket: {{bucket_size: 134217728, bucket_dtype: null, is_agent: false, load_instant: true}}

reward:
  use_reward_model: false
critic:
  use_critic_model: false""".splitlines()
