#!/usr/bin/env bash
# Does a network that halts keep halting when it is fine-tuned on other pictures at a high rate? The network of models/
# learns the synthetic set, as the classifier of docs/detection.md did; one line says what became of the scores of each run.
# Then without halting, as that classifier most likely was, and with fresh scores from there.
#
#   bench/shapes_scores.sh OUT [NAME...]       # all runs, or those named; about a minute each on a GPU
#
# SACT names the program, DEVICE the device (default cuda), SETTINGS more settings, COUNT the pictures (default 20000).
set -euo pipefail
out=${1:?"usage: bench/shapes_scores.sh OUT [NAME...]"} root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
shift
wanted=" $* "
mkdir -p "$out"
shapes() { # NAME INIT SETTING...
  local name=$1 init=$2
  shift 2
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  "${SACT:-$root/build/sact}" train --data "synthetic:size=128,count=${COUNT:-20000},val=1000" --out "$out/$name" \
    --init "$init" --device "${DEVICE:-cuda}" size=128 epochs=8 batch=64 rate=0.05 schedule=cosine precision=bf16 tau=0.03 \
    crop_min_area=0.6 brightness=0 contrast=0 saturation=0 hue=0 samples=0 "$@" ${SETTINGS:-}
  python3 "$root/bench/halting_scores.py" "$out/$name" | tee "$out/$name.txt"
}
halts=$root/models/imagenette-sact.safetensors
shapes plain "$halts"
shapes seed-1 "$halts" seed=1
shapes rate-0.3 "$halts" rate=0.3
shapes rate-0.005 "$halts" rate=0.005
shapes floor "$halts" halting_gradient_floor=0.05
shapes warmup "$halts" warmup_epochs=1
shapes slow "$halts" halting_rate=0.1
shapes none "$halts" halting=none
shapes fresh "$out/none/last.safetensors" halting=sact
shapes fresh-reach "$out/none/last.safetensors" halting=sact halting_reach=1
