# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Where the Qwen3-VL backbone's configuration, tokenizer and image processor come from. Nothing is downloaded.

A released N1.7 checkpoint holds the backbone's weights but neither its tokenizer nor its image processor; those are
in the backbone's own repository, named by ``model_name`` (nvidia/Cosmos-Reason2-2B).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from isaaclab_rlinf.models.inspect import read_json
from isaaclab_rlinf.models.weight_files import read_shapes, refuse_pointers

from .backbone_config import CONFIG, IMAGES, agreement_problems, value_problems
from .files import BACKBONE_DIR, CheckpointFiles

_IMAGES = ("preprocessor_config.json", "processor_config.json")
_TOKENIZER = ("tokenizer.json", "vocab.json")
_IMAGE_TOKEN, _IMAGE_TOKEN_ID = "<|image_pad|>", 151655
"""The piece of an image in a prompt, and its id in transformers' default configuration."""


def backbone_directory(files: CheckpointFiles, backbone_model_path: str | Path | None = None) -> Path:
    """Find the backbone's directory: the given one, the checkpoint's own, or the local Hugging Face cache's.

    Args:
        files: The checkpoint.
        backbone_model_path: ``actor.model.backbone_model_path``.

    Raises:
        ValueError: If none has a configuration and a tokenizer (the message says what to do), or its files are damaged.
    """
    place = _find(files, backbone_model_path)
    _refuse_damaged(place)
    _refuse_malformed(files, place)
    return place


def _find(files: CheckpointFiles, backbone_model_path: str | Path | None) -> Path:
    if backbone_model_path:
        given = Path(backbone_model_path).expanduser()
        if not _complete(given):
            raise ValueError(
                f"backbone_model_path {str(backbone_model_path)!r} is not a Qwen3-VL directory: it needs config.json "
                f"and {' or '.join(_TOKENIZER)}"
            )
        return given.resolve()
    name = str(files.config.get("model_name", ""))
    cached = _cached(name)
    tried = [files.path / BACKBONE_DIR, files.path / name, *([cached] if cached else [])]
    for place in tried:
        if _complete(place):
            return place.resolve()
    raise ValueError(
        f"checkpoint {str(files.path)!r} holds no tokenizer for its backbone {name!r}, and nothing is downloaded. "
        f"Give the directory of that model as actor.model.backbone_model_path (hf download {name} --local-dir DIR), or "
        f"copy its configuration and tokenizer files to {files.path / BACKBONE_DIR}"
    )


def _refuse_damaged(place: Path) -> None:
    """Refuse pointers of Git LFS, and JSON that is cut short: the tokenizer is read only when the model is built."""
    refuse_pointers(place)
    config = read_json(place / "config.json")
    parts = ("text_config", "vision_config")
    if not all(isinstance(config.get(part), dict) for part in parts):
        raise ValueError(f"{place / 'config.json'} is not that of a Qwen3-VL: it lacks {' or '.join(parts)}")
    contents = {file.name: _read_once(file) for file in sorted(place.glob("*.json"))}
    if not any(name in contents for name in _IMAGES):
        raise ValueError(f"{place} has no {' or '.join(_IMAGES)}: how images are cut stands there")
    tokenizer = contents.get(_TOKENIZER[0])
    if tokenizer is not None and not {"model", "added_tokens"} <= tokenizer.keys():
        raise ValueError(f"{place / _TOKENIZER[0]} is no tokenizer: it lacks model or added_tokens")
    template = place / "chat_template.jinja"
    if template.is_file():
        if not template.read_bytes().strip():
            raise ValueError(f"{template} is empty")
    elif "chat_template.json" not in contents and not contents.get("tokenizer_config.json", {}).get("chat_template"):
        raise ValueError(f"the tokenizer in {place} has no chat template; expected {template.name} there")


def _refuse_malformed(files: CheckpointFiles, place: Path) -> None:
    """Refuse values that the network, the image processor or the tokenizer could not be made of, all at once."""
    config = read_json(place / "config.json")
    problems = {"config.json": list(value_problems(config, CONFIG))}
    if not problems["config.json"]:
        problems["config.json"] = list(agreement_problems(config, read_shapes(files.path)))
    # in this order: the second is written by newer versions of transformers, for the whole processor
    name = next(name for name in _IMAGES if (place / name).is_file())
    images = read_json(place / name)
    problems[name] = list(value_problems(images.get("image_processor", images), IMAGES))
    tokenizer = place / _TOKENIZER[0]
    if tokenizer.is_file() and not problems["config.json"]:
        problems["config.json"] += _image_token_problem(config, _read_once(tokenizer))
    if any(problems.values()):
        found = "; ".join(f"{name}: {problem}" for name, own in problems.items() for problem in own)
        raise ValueError(f"the backbone in {place} cannot be built: {found}")
    if tokenizer.is_file():
        status = tokenizer.stat()
        if problem := _tokenizer_problem(tokenizer, status.st_mtime_ns, status.st_size, status.st_ino):
            raise ValueError(f"{tokenizer} is no tokenizer: {problem}")


def _image_token_problem(config: dict[str, Any], tokenizer: dict[str, Any]) -> list[str]:
    """Compare the token that stands for a piece of an image: with another one the network sees no image."""
    added = tokenizer["added_tokens"] if isinstance(tokenizer["added_tokens"], list) else []
    ids = {entry.get("content"): entry.get("id") for entry in added if isinstance(entry, dict)}
    asked, found = config.get("image_token_id", _IMAGE_TOKEN_ID), ids.get(_IMAGE_TOKEN)
    return [f"image_token_id is {asked}, but the tokenizer's {_IMAGE_TOKEN} is {found}"] * (found not in (None, asked))


@lru_cache(maxsize=4)
def _tokenizer_problem(file: Path, *version: int) -> str:
    """Return why a tokenizer cannot be made of a file, empty if it can; transformers asks the same library."""
    from tokenizers import Tokenizer

    try:
        Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises plain exceptions
        return str(error)
    return ""


def _read_once(file: Path) -> dict[str, Any]:
    """Read a JSON file; a tokenizer's has ten megabytes, and is asked for by several checks of one command."""
    if not file.is_file():
        raise ValueError(f"{file} is a directory, or a link to a file that is absent")
    status = file.stat()
    return _read_version(file, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=16)
def _read_version(file: Path, *version: int) -> dict[str, Any]:
    return read_json(file)


def _complete(place: Path) -> bool:
    return (place / "config.json").is_file() and any((place / name).is_file() for name in _TOKENIZER)


def _cached(name: str) -> Path | None:
    """Snapshot of a repository in the local cache, None when it is not there."""
    if name.count("/") != 1 or name.startswith(("/", ".")):
        return None
    from huggingface_hub import try_to_load_from_cache

    file = try_to_load_from_cache(name, "config.json")
    return Path(file).parent if isinstance(file, str) else None
