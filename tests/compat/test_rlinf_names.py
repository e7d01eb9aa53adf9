# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Tables of what RLinf 0.3.0 registers and reads, against the installed RLinf. Fails loudly when RLinf changes."""

import importlib.util
import re
from pathlib import Path

from isaaclab_rlinf.compat.rlinf_names import EMBODIED_MODEL_TYPES
from isaaclab_rlinf.config.rlinf_keys import SECTIONS, TOP_LEVEL

ROOT = Path(importlib.util.find_spec("rlinf").origin).parent
EMBODIED = (
    "config.py",
    "runners/embodied_runner.py",
    "workers/actor/fsdp_actor_worker.py",
    "workers/env/env_worker.py",
    "workers/rollout/hf/huggingface_worker.py",
    "hybrid_engines/fsdp/fsdp_model_manager.py",
    "hybrid_engines/fsdp/strategy/fsdp.py",
    "hybrid_engines/fsdp/strategy/fsdp2.py",
    "utils/metric_logger.py",
)
OTHER_PATHS = re.compile(
    # read for language-model training, dataset co-training, real robots, other simulators, or set by RLinf itself
    r"^(algorithm\.(calculate_entropy|importance_sampling|n_minibatches|ratio_clip_eps|max_num_gen|training_batch|"
    r"logprob_forward|use_reinpp|reinpp|kl_penalty_type)|algorithm\.sampling_params\.temperature$|"
    r"actor\.(config_name|inference|combine|sft|openpi|train_sft|megatron|enable_dp|profiler|data)|"
    r"actor\.model\.(encoder_seq|padded_vocab|tensor_model|variable_seq)|critic\.|reward\.(history|reward_)|"
    r"env\.(train|eval)\.(base_config_name|init_params\.control_mode|main_image_key)|"
    r"rollout\.(return_logprobs|rollout_backend|vllm|sglang)|data\.|cluster\.profiling\.)"
)


def keys_read() -> set[str]:
    """Return the config keys that RLinf's embodied path reads as ``cfg.section.key`` or ``.get("key")``."""
    sections = "|".join(TOP_LEVEL)
    pattern = re.compile(rf"cfg\.((?:{sections})\b(?:\.[A-Za-z_]\w*)*)(?:\.get\(\s*[\"'](\w+)[\"'])?")
    keys = set()
    for file in EMBODIED:
        for path, name in pattern.findall((ROOT / file).read_text(encoding="utf-8")):
            keys.add(f"{path.removesuffix('.get')}.{name}" if name else path.removesuffix(".get"))
    return keys


def is_known(key: str) -> bool:
    section, _, name = key.rpartition(".")
    if key.split(".")[0] not in SECTIONS:
        return True  # a section that is passed through whole
    return not section or key in SECTIONS or name in SECTIONS.get(section, {}) or _inside_free_mapping(section)


def _inside_free_mapping(section: str) -> bool:
    """Whether the section is a mapping whose keys are not checked."""
    parent, _, name = section.rpartition(".")
    known = SECTIONS.get(parent, {}).get(name)
    return section not in SECTIONS and known is not None and known.kind in ("map", "any")


def test_every_key_that_rlinf_reads_is_known():
    keys = keys_read()
    assert len(keys) > 80
    unknown = sorted(key for key in keys if not is_known(key) and not OTHER_PATHS.match(key))
    assert unknown == []


def test_embodied_model_types():
    from rlinf.config import EMBODIED_MODEL, SupportedModel

    # RLinf's own are attributes of the class; what other tests of this process register is not.
    own = {model.value for model in vars(SupportedModel).values() if isinstance(model, SupportedModel)}
    assert set(EMBODIED_MODEL_TYPES) == {model.value for model in EMBODIED_MODEL} & own


def test_choices():
    from rlinf.utils.metric_logger import MetricLogger

    assert MetricLogger.supported_logger == ["wandb", "swanlab", "tensorboard"]
    losses = (ROOT / "algorithms/losses.py").read_text() + (ROOT / "algorithms/advantages.py").read_text()
    algorithm = SECTIONS["algorithm"]
    for kind, key in (("policy_loss", "loss_type"), ("advantage", "adv_type")):
        registered = set(re.findall(rf'@register_{kind}\("(\w+)"\)', losses))
        assert registered == set(algorithm[key].choices) - {"embodied_sac"}
    utils = (ROOT / "hybrid_engines/fsdp/utils.py").read_text()
    for key, choices in (
        ("lr_scheduler", SECTIONS["actor.optim"]),
        ("sharding_strategy", SECTIONS["actor.fsdp_config"]),
    ):
        assert all(f'"{choice}"' in utils for choice in choices[key].choices)


def test_the_asserts_that_the_arithmetic_anticipates():
    source = (ROOT / "workers/actor/fsdp_actor_worker.py").read_text()
    assert "rollout_size % batch_size_per_rank == 0" in source
    assert "batch_size_per_rank = self.cfg.actor.global_batch_size // self._world_size" in source
    assert "// self.model_cfg.num_action_chunks" in (ROOT / "workers/env/env_worker.py").read_text()
    assert "save_interval % val_check_interval == 0" in (ROOT / "utils/runner_utils.py").read_text()


def test_normalize_advantages_still_has_no_effect():
    source = (ROOT / "workers/actor/fsdp_actor_worker.py").read_text()
    embodied = source[source.index("class EmbodiedFSDPActor") :]
    assert "normalize_advantages" not in embodied
