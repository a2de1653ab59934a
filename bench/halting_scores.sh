#!/usr/bin/env bash
# When do halting scores die out, and when do units? A small plain network is made adaptive with
# different rates, initial biases and warm-ups; one line says what became of the scores of each.
#
#   bench/halting_scores.sh DATA OUT [NAME...]      # all experiments, or those named
#
# bench/experiment.sh has what can be set from outside. Minutes on a GPU.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
data=$1 out=$2
shift 2
size=84 sizes=84
common="batch=128 size=$size schedule=cosine label_smoothing=0.1 weight_decay=5e-4 norm_decay=0.98
  crop_min_area=0.25 brightness=0.1 contrast=0.2 saturation=0.2 hue=0.02 samples=0 seed=0
  precision=${PRECISION:-bf16} ${SETTINGS:-}"
first="units=3,4,6,3 width=32 epochs=${EPOCHS:-10} rate=0.1 warmup_epochs=1 residual_scale=0.2"
second="epochs=${MORE:-4} halting=sact tau=0.005"
. "$here/experiment.sh"

experiments="rate-0.03 rate=0.03
rate-0.1 rate=0.1
rate-0.3 rate=0.3
rate-1 rate=1
rate-1-warmup rate=1 warmup_epochs=1
rate-1-halting-0.1 rate=1 halting_rate=0.1
rate-0.3-bias-1 rate=0.3 halting_bias=-1
rate-0.3-bias-5 rate=0.3 halting_bias=-5
rate-0.3-halting-0.1 rate=0.3 halting_rate=0.1
rate-0.3-act rate=0.3 halting=act
tau-0.05 rate=0.1 tau=0.05
tau-0.05-warmup rate=0.1 tau=0.05 tau_warmup_epochs=2
rate-0.1-task rate=0.1 tau=0 decay_norms=false
rate-1-task rate=1 tau=0 decay_norms=false
rate-0.03-reach rate=0.03 halting_reach=1
rate-0.3-reach rate=0.3 halting_reach=1
rate-0.03-floor rate=0.03 halting_gradient_floor=0.01
rate-1-floor rate=1 halting_gradient_floor=0.01
rate-0.1-bias-8 rate=0.1 halting_bias=-8
rate-0.1-bias-8-floor rate=0.1 halting_bias=-8 halting_gradient_floor=0.01
rate-0.1-bias-8-floor-0.05 rate=0.1 halting_bias=-8 halting_gradient_floor=0.05"

tune() { # NAME SETTING...
  local name=$1
  shift
  [ -s "$out/results/$name.txt" ] && return
  train "$name" --init "$out/plain/last.safetensors" $second "$@"
  python3 "$here/halting_scores.py" "$out/$name" | tee "$out/results/$name.txt"
}
export -f tune
export here

train plain $first eval_every=1000
while read -r name settings; do
  if [[ $# -eq 0 || " $* " == *" $name "* ]]; then echo "tune $name $settings"; fi
done <<<"$experiments" | in_parallel
