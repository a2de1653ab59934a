#!/usr/bin/env bash
# Makes a dense network adaptive without labels, for several budgets, as docs/results.md describes:
#
#   bench/adapt.sh DENSE PHOTOS DATA OUT [BUDGET...]      # default: 85 70, in per cent of the dense FLOPs
#
# PHOTOS is a folder of any photographs, DATA one with val/CLASS/ to measure accuracy on. Every network is
# trained at 160 pixels first, then at the dense network's size, and then there with larger and sharper crops:
# FIRST, SECOND and THIRD epochs (8, 8 and 7); JOBS run at once (default 1). SACT names the program, DEVICE cpu
# or cuda, SETTINGS more settings of `sact adapt`.
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
tau_of() { # NAME: where its run left tau
  awk -F, 'NR == 1 {for (i = 1; i <= NF; ++i) if ($i == "tau") column = i} END {print $column}' "$out/$1/log.csv"
}
all() { # BUDGET
  local goes_on="size=224 budget=0.$1 budget_ramp=0 halting_noise=0 steering=0.3"
  adapt "$1-small" size=160 epochs="${FIRST:-8}" rate=0.00025 halting_rate=48 budget=0.$1 steering=0.3 eval_every=4
  adapt "$1-large" start="$out/$1-small/last.safetensors" epochs="${SECOND:-8}" rate=0.00025 halting_rate=48 \
    tau="$(tau_of "$1-small")" eval_every=3 $goes_on
  adapt "$1" start="$out/$1-large/last.safetensors" epochs="${THIRD:-7}" rate=0.0008 halting_rate=15 \
    tau="$(tau_of "$1-large")" eval_every=4 storage_size=288 crop_min_area=0.5 $goes_on
}
export -f adapt tau_of all
export dense photos data out sact
printf '%s\n' "${@:-85 70}" | tr ' ' '\n' | xargs -P "${JOBS:-1}" -I{} bash -c 'set -euo pipefail; all {}'
