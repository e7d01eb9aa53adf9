# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Where the Qwen3-VL backbone's configuration, tokenizer and image processor come from. Nothing is downloaded.

A released N1.7 checkpoint holds the backbone's weights but neither its tokenizer nor its image processor; those are
in the backbone's own repository, named by ``model_name`` (nvidia/Cosmos-Reason2-2B).
"""

from __future__ import annotations

from pathlib import Path

from isaaclab_rlinf.models.inspect import read_json
from isaaclab_rlinf.models.weight_files import refuse_pointers

from .files import BACKBONE_DIR, CheckpointFiles

_TOKENIZER = ("tokenizer.json", "vocab.json")


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
    read_json(place / "config.json")
    for file in sorted(place.glob("*.json")):
        with file.open("rb") as stream:
            first = stream.read(64).lstrip()[:1]
            stream.seek(max(0, file.stat().st_size - 64))
            last = stream.read().rstrip()[-1:]
        if (first, last) not in ((b"{", b"}"), (b"[", b"]")):
            raise ValueError(f"{file} is cut short or not JSON")


def _complete(place: Path) -> bool:
    return (place / "config.json").is_file() and any((place / name).is_file() for name in _TOKENIZER)


def _cached(name: str) -> Path | None:
    """Snapshot of a repository in the local cache, None when it is not there."""
    if name.count("/") != 1 or name.startswith(("/", ".")):
        return None
    from huggingface_hub import try_to_load_from_cache

    file = try_to_load_from_cache(name, "config.json")
    return Path(file).parent if isinstance(file, str) else None
