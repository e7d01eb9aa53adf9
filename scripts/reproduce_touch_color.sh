#!/usr/bin/env bash
# The numbers of README.md: success of the base, a training for each of three seeds with the success of what it made,
# what the failed episodes share, and what the base uses of its inputs.
# Run from an empty directory on an otherwise idle machine; takes about an hour on two cores.
#   uv run --no-sync bash scripts/reproduce_touch_color.sh [extra training arguments]
# CONFIG_NAME names another task YAML, SEEDS other seeds.
set -euo pipefail
name="${CONFIG_NAME:-isaaclab_ppo_tiny_vla_touch_color}"
here="$(cd "$(dirname "$0")" && pwd)"

echo "== base, 200 episodes"
isaaclab play --rl_library rlinf --config_name "$name" --num_episodes 200

for seed in ${SEEDS:-42 43 44}; do
    echo "== training with seed $seed"
    time isaaclab train --rl_library rlinf --config_name "$name" --seed "$seed" "$@"

    echo "== fine-tuned with seed $seed, 200 episodes"
    isaaclab play --rl_library rlinf --config_name "$name" --checkpoint latest --num_episodes 200
done

echo "== what the failed episodes of the last one share"
weights="$(ls -t logs/rlinf/*/*/checkpoints/global_step_*/actor/model_state_dict/full_weights.pt | head -n 1)"
python "$here/analyze_failures.py" --config_name "$name" --weights "$weights"

echo "== what the base uses of its inputs"
python "$here/ablate_inputs.py" --config_name "$name" --episodes 200
