#!/usr/bin/env bash
# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

# Builds the wheel, unpacks it beside the installed dependencies, imports it from there and asks for its data files.
# Run in the repository after `uv sync`: scripts/check_wheel.sh
set -euo pipefail
cd "$(dirname "$0")/.."

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
uv build --quiet --wheel --out-dir "$out"
python="$(uv run --no-sync python -c 'import sys; print(sys.executable)')"
"$python" -m zipfile -e "$out"/*.whl "$out/unpacked"

cd "$out" # the source tree is not on the path here
PYTHONPATH="$out/unpacked" "$python" - "$out/unpacked" <<'PYTHON'
import sys
from pathlib import Path

import isaaclab_rlinf
import isaaclab_rlinf.cli
import isaaclab_rlinf.plugin

root = Path(isaaclab_rlinf.__file__).parent
assert root.is_relative_to(sys.argv[1]), f"imported from {root}, not from the wheel"
wanted = [
    "py.typed",
    "models/tiny_vla/checkpoints/touch_color_base/model.safetensors",
    "tasks/touch_color/assets/arm3.usda",
    "tasks/touch_color/config/isaaclab_ppo_tiny_vla_touch_color.yaml",
]
missing = [name for name in wanted if not (root / name).is_file()]
assert not missing, f"the wheel lacks {missing}"
modules = len(list(root.rglob("*.py")))
print(f"the wheel is whole: {modules} modules")
PYTHON
