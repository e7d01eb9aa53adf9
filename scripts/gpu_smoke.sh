#!/usr/bin/env bash
# What a machine with GPUs has to show, as one table; docs/gpu.md says what is checked and where to send it.
#   scripts/gpu_smoke.sh                  everything, under eight minutes on one GPU after `uv sync`
#   scripts/gpu_smoke.sh --device cpu     the same checks in small, without a GPU
#   scripts/gpu_smoke.sh --help
# Finished checks are remembered in ./gpu_smoke_results; the same command goes on where it stopped.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
python="$here/../.venv/bin/python"
[[ -z ${VIRTUAL_ENV:-} ]] || python="$VIRTUAL_ENV/bin/python"
if [[ ! -x $python ]]; then
  echo "[ERROR] no environment: $python does not exist; run 'uv sync' in the repository, or activate one" >&2
  exit 2
fi
PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" exec "$python" -m gpu_smoke "$@"
