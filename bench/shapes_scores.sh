#!/usr/bin/env bash
# Does a network that halts keep halting when it is fine-tuned on other pictures at a high rate? The network of models/
# learns the synthetic set, as the classifier of docs/detection.md did; one line says what became of the scores of each run.
#
#   bench/shapes_scores.sh OUT       # SACT names the program, DEVICE the device (default cuda); a minute a run on a GPU
set -euo pipefail
out=${1:?"usage: bench/shapes_scores.sh OUT"} root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
shapes() { # NAME SETTING...
  local name=$1
  shift
  "${SACT:-$root/build/sact}" train --data synthetic:size=128,count=20000,val=1000 --out "$out/$name" \
    --init "$root/models/imagenette-sact.safetensors" --device "${DEVICE:-cuda}" size=128 epochs=8 batch=64 rate=0.05 \
    schedule=cosine precision=bf16 tau=0.03 crop_min_area=0.6 brightness=0 contrast=0 saturation=0 hue=0 samples=0 "$@"
  python3 "$root/bench/halting_scores.py" "$out/$name" | tee -a "$out/shapes.txt"
}
mkdir -p "$out"
shapes plain
shapes seed-1 seed=1
shapes rate-0.3 rate=0.3
shapes rate-0.005 rate=0.005
shapes floor halting_gradient_floor=0.05
shapes warmup warmup_epochs=1
shapes slow halting_rate=0.1
