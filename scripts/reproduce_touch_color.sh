#!/usr/bin/env bash
# The numbers of README.md: success of the base, one training, success of what was trained, inputs that the base uses.
# Run from an empty directory on an otherwise idle machine; takes about 40 minutes on two cores.
#   uv run --no-sync bash scripts/reproduce_touch_color.sh [extra training arguments]
# CONFIG_NAME names another task YAML.
set -euo pipefail
name="${CONFIG_NAME:-isaaclab_ppo_tiny_vla_touch_color}"
here="$(cd "$(dirname "$0")" && pwd)"

echo "== base, 200 episodes"
isaaclab play --rl_library rlinf --config_name "$name" --num_episodes 200

echo "== training"
time isaaclab train --rl_library rlinf --config_name "$name" "$@"

echo "== fine-tuned, 200 episodes"
isaaclab play --rl_library rlinf --config_name "$name" --checkpoint latest --num_episodes 200

echo "== what the base uses of its inputs"
python "$here/ablate_inputs.py" --config_name "$name" --episodes 200
