# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""What a tiny_vla checkpoint is, from its JSON files and weight headers: for checks before heavy imports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.tiny_vla_shapes import VALUE_HEAD, expected_shapes
from isaaclab_rlinf.models.weight_files import (
    INDEX,
    SINGLE,
    differences,
    hint_of_run,
    is_lfs_pointer,
    read_shapes,
    refuse_pointers,
)

_REQUIRED = ("config.json", "processor_config.json", "tokenizer.json", "tokenizer_config.json")


@dataclass(frozen=True)
class CheckpointFacts:
    """Facts about a tiny_vla checkpoint directory.

    Attributes:
        path: The directory.
        model_type: ``tiny_vla``.
        action_dim: Width of one action.
        action_horizon: Actions predicted per call.
        state_dim: Width of the state.
        image_views: View names in model order.
        image_size: Height and width of each image in pixels.
        max_text_length: Tokens per instruction at most.
        num_denoising_steps: Default number of denoising steps.
        action_min: Smallest action in the training data, per dimension, in environment units.
        action_max: Largest.
        vocabulary: Words that the tokenizer knows, sorted.
        unknown_words: What the processor does with others: ``error`` or ``unk``.
    """

    path: Path
    model_type: str
    action_dim: int
    action_horizon: int
    state_dim: int
    image_views: tuple[str, ...]
    image_size: int
    max_text_length: int
    num_denoising_steps: int
    action_min: tuple[float, ...]
    action_max: tuple[float, ...]
    vocabulary: tuple[str, ...]
    unknown_words: str = "error"


def checkpoint_facts(model_path: str | Path) -> CheckpointFacts:
    """Read the facts of a checkpoint directory.

    Args:
        model_path: Directory in Hugging Face format.

    Raises:
        ValueError: If the directory or files are missing or damaged, the model type is another, or the files contradict
            each other, weights included. The message lists everything missing.
    """
    path = Path(model_path)
    if not path.is_dir():
        raise ValueError(f"model_path {str(path)!r} is not a directory; expected a tiny_vla checkpoint directory")
    missing = [name for name in _REQUIRED if not (path / name).is_file()]
    if not any((path / name).is_file() for name in (SINGLE, INDEX)):
        missing.append(SINGLE)
    if missing:
        hint = hint_of_run(path)
        raise ValueError(
            f"model_path {str(path)!r} is not a complete tiny_vla checkpoint; {hint or f'missing: {missing}'}"
        )
    refuse_pointers(path)
    config, processor = read_json(path / "config.json"), read_json(path / "processor_config.json")
    if config.get("model_type") != "tiny_vla":
        raise ValueError(
            f"{path / 'config.json'} has model_type {config.get('model_type')!r}, expected 'tiny_vla'; "
            "model_path and model_type must belong together"
        )
    read_json(path / "tokenizer_config.json")
    tokenizer = read_json(path / "tokenizer.json")
    with reading(path):
        facts = _facts(path, config, processor, tokenizer)
        _check_consistent(facts, config, processor, tokenizer)
        expected = expected_shapes(config)
    problems = differences(read_shapes(path), expected, optional=[VALUE_HEAD])
    if problems:
        raise ValueError(f"the weights in {path} do not fit the model that its config.json describes: {problems}")
    return facts


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what malformed entries of a checkpoint's JSON files lead to into one error that names the checkpoint.

    Args:
        path: The checkpoint directory.

    Raises:
        ValueError: In place of any error that such an entry can raise.
    """
    try:
        yield
    except KeyError as error:
        raise ValueError(f"checkpoint {str(path)!r} lacks the entry {error} in its JSON files") from error
    except (TypeError, AttributeError, IndexError, ArithmeticError) as error:
        raise ValueError(f"checkpoint {str(path)!r} has a malformed entry in its JSON files: {error}") from error
    except ValueError as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"checkpoint {str(path)!r} has a malformed entry in its JSON files: {error}") from error


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    Raises:
        ValueError: If it cannot be read, is not JSON, or holds something else.
    """
    if is_lfs_pointer(path):
        raise ValueError(f"{path} is a Git LFS pointer, not the file; run 'git lfs pull' in {path.parent}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # of the JSON, or of the text's encoding
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no JSON object but a {type(content).__name__}")
    return content


def _facts(path: Path, config: dict, processor: dict, tokenizer: dict) -> CheckpointFacts:
    action = processor["statistics"]["action"]
    words = (word for word in tokenizer["model"]["vocab"] if not word.startswith("<"))
    return CheckpointFacts(
        path=path,
        model_type=config["model_type"],
        action_dim=config["action_dim"],
        action_horizon=config["action_horizon"],
        state_dim=config["state_dim"],
        image_views=tuple(config["image_views"]),
        image_size=config["image_size"],
        max_text_length=config["max_text_length"],
        num_denoising_steps=config["num_denoising_steps"],
        action_min=tuple(action["min"]),
        action_max=tuple(action["max"]),
        vocabulary=tuple(sorted(words)),
        unknown_words=processor.get("unknown_words", "error"),
    )


def _check_consistent(facts: CheckpointFacts, config: dict, processor: dict, tokenizer: dict) -> None:
    highest = max(tokenizer["model"]["vocab"].values(), default=-1)
    if highest >= config["vocab_size"]:
        raise ValueError(
            f"checkpoint {str(facts.path)!r} contradicts itself: tokenizer.json has token {highest}, config.json says "
            f"vocab_size {config['vocab_size']}"
        )
    pairs = {
        "action_dim against statistics.action": (facts.action_dim, len(facts.action_min)),
        "state_dim against statistics.state": (facts.state_dim, len(processor["statistics"]["state"]["min"])),
        "image_views": (config["image_views"], processor["image_views"]),
        "image_size": (config["image_size"], processor["image_size"]),
        "max_text_length": (config["max_text_length"], processor["max_text_length"]),
    }
    for name, (in_config, in_processor) in pairs.items():
        if in_config != in_processor:
            raise ValueError(
                f"checkpoint {str(facts.path)!r} contradicts itself in {name}: config.json says {in_config}, "
                f"processor_config.json says {in_processor}"
            )
