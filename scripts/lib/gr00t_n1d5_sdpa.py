# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Let GR00T N1.5's Eagle backbone attend through PyTorch SDPA, so that flash-attn is not needed.

Eagle asks for ``flash_attention_2`` in its config, sets it once more in its code, and one of its files imports
flash-attn at the top. Isaac Lab's documentation has a patch for the same three files; this script makes the same
changes by meaning rather than by line, refuses files that it does not recognise, and does nothing the second time.

Usage: ``python gr00t_n1d5_sdpa.py Isaac-GR00T/gr00t/model/backbone/eagle2_hg_model``
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Change:
    """One replacement in one file."""

    file: str
    pattern: str
    """Regular expression of what stands there as released; all matches are replaced."""
    replacement: str
    done: str
    """Regular expression of what stands there afterwards."""


CHANGES = (
    Change(
        "config.json",
        r'("_attn_implementation"\s*:\s*)"flash_attention_2"',
        r'\1"sdpa"',
        r'"_attn_implementation"\s*:\s*"sdpa"',
    ),
    Change(
        "modeling_eagle2_5_vl.py",
        r'(config\.vision_config\._attn_implementation\s*=\s*)"flash_attention_2"',
        r'\1"sdpa"',
        r'config\.vision_config\._attn_implementation\s*=\s*"sdpa"',
    ),
    Change(
        "modeling_eagle2_5_vl.py",
        r'assert\s*\(?\s*config\.text_config\._attn_implementation\s*==\s*"flash_attention_2"\s*\)?\s*,\s*f?"[^"\n]*"',
        'config.text_config._attn_implementation = "sdpa"',
        r'config\.text_config\._attn_implementation\s*=\s*"sdpa"',
    ),
    Change(
        "radio_model.py",
        r"(?ms)^try:[^\n]*\n\s+from flash_attn\..*?^from flash_attn\.bert_padding import pad_input, unpad_input\n",
        "try:\n"
        "    from flash_attn.bert_padding import pad_input, unpad_input\n"
        "    from flash_attn.flash_attn_interface import flash_attn_varlen_qkvpacked_func\n"
        "except ImportError:  # only RADIO needs them; GR00T's vision tower is SigLIP\n"
        "    pad_input = unpad_input = flash_attn_varlen_qkvpacked_func = None\n"
        "flash_attn_unpadded_qkvpacked_func = flash_attn_varlen_qkvpacked_func\n",
        r"pad_input = unpad_input = flash_attn_varlen_qkvpacked_func = None",
    ),
)


def apply_sdpa(directory: Path) -> list[str]:
    """Change Eagle's files in place.

    Args:
        directory: ``gr00t/model/backbone/eagle2_hg_model`` of an Isaac-GR00T N1.5 checkout.

    Returns:
        Names of the files that were changed; empty when all were changed before.

    Raises:
        ValueError: If a file is missing or holds neither the released nor the changed text; nothing is written then.
    """
    texts: dict[str, str] = {}
    original: dict[str, str] = {}
    problems: list[str] = []
    for change in CHANGES:
        path = directory / change.file
        if not path.is_file():
            problems.append(f"{path} is missing")
            continue
        if change.file not in texts:
            texts[change.file] = original[change.file] = path.read_text(encoding="utf-8")
        text, count = re.subn(change.pattern, change.replacement, texts[change.file])
        texts[change.file] = text
        if not count and not re.search(change.done, text):
            problems.append(f"{path} has nothing that matches {change.pattern!r}")
    if problems:
        raise ValueError("not the Eagle files of the pinned GR00T N1.5:\n  " + "\n  ".join(dict.fromkeys(problems)))
    changed = [name for name in texts if texts[name] != original[name]]
    for name in changed:
        (directory / name).write_text(texts[name], encoding="utf-8")
    return changed


def main() -> int:
    """Run on the directory given on the command line; 0 done, 1 not recognised, 2 usage."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        changed = apply_sdpa(Path(sys.argv[1]))
    except ValueError as error:
        print(f"[ERROR] {error}", file=sys.stderr)
        return 1
    print(f"[INFO] SDPA: changed {', '.join(changed)}" if changed else "[INFO] SDPA: nothing left to change")
    return 0


if __name__ == "__main__":
    sys.exit(main())
