#!/usr/bin/env bash
# Makes a dense network adaptive without labels, for several budgets, as docs/results.md describes:
#
#   bench/adapt.sh DENSE PHOTOS DATA OUT [BUDGET...]      # default: 85 70 55, in per cent of the dense FLOPs
#
# PHOTOS is a folder of any photographs, DATA one with val/CLASS/ to measure accuracy on. Every network is
# trained at 160 pixels first and then at the dense network's size, FIRST and SECOND epochs (12 and 6); JOBS
# run at once (default 1). SACT names the program, DEVICE cpu or cuda, SETTINGS more settings of `sact adapt`.
# Networks: OUT/BUDGET/last.safetensors; bench/adapt_measure.sh measures them.
set -euo pipefail
dense=${1:?"usage: bench/adapt.sh DENSE PHOTOS DATA OUT [BUDGET...]"} photos=$2 data=$3 out=$4
shift 4
sact=${SACT:-build/sact}
mkdir -p "$out"

adapt() { # NAME SETTING...
  local name=$1
  shift
  "$sact" adapt "$dense" --images "$photos" --val-data "$data" --out "$out/$name" --device "${DEVICE:-cuda}" \
    precision=bf16 cache=memory samples=0 val_split=0.025 eval_size=224 "$@" ${SETTINGS:-} >>"$out/$name.log" 2>&1
}
both() { # BUDGET
  adapt "$1-small" size=160 epochs="${FIRST:-12}" rate=0.002 halting_rate=10 budget=0.$1 steering=0.3 eval_every=3
  local tau
  tau=$(awk -F, 'NR == 1 {for (i = 1; i <= NF; ++i) if ($i == "tau") column = i} END {print $column}' "$out/$1-small/log.csv")
  adapt "$1" start="$out/$1-small/last.safetensors" size=224 epochs="${SECOND:-6}" rate=0.001 halting_rate=10 \
    budget=0.$1 budget_ramp=0 halting_noise=0 tau="$tau" steering=0.3 eval_every=2
}
export -f adapt both
export dense photos data out sact
printf '%s\n' "${@:-85 70 55}" | tr ' ' '\n' | xargs -P "${JOBS:-1}" -I{} bash -c 'set -euo pipefail; both {}'
