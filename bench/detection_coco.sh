#!/usr/bin/env bash
# Detectors on photographs: a dense one and some of several budgets, all from the same start and with the
# same steps, and what they reach on the validation images. Running it again goes on where it was.
#
#   bench/detection_coco.sh OUT DATA START         # paths from the root of the project
#
# DATA is a folder as 'sact train-detector' takes it: of COCO (train2017, val2017) or of Pascal VOC (train,
# val, at the shorter side of training: bench/shrink_voc.py). START is a classifier, dense or adaptive.
#
# RUNS names what is trained, in this order (dense 0.85 0.72 0.58): 'dense' leaves halting out, a number is a
# budget, a share of the extractor's FLOPs, and tau=X a fixed weight of the ponder cost; @N gives another seed
# than 0. Adaptive ones keep the halting of START, or get new scores that begin where the dense network is;
# HALTING gives other settings for them. HEAD is the budget of what classifies boxes (0.7).
#
# SACT is the program (build/sact), DEVICE where it trains (cuda), PRECISION bf16 (fp32 on the CPU), SIDE the
# shorter side of images (320), EPOCHS (9), BATCH (16), RATE (0.02), WARMUP steps (300), EVAL_EVERY epochs
# (3), SETTINGS further settings for all. ENGINE=1 also evaluates each on the CPU engine (COCO only) and
# keeps its times. MINUTES ends the work after so many, with a checkpoint (none; status 75 when something is left).
#
# Each run is a folder in OUT. OUT/report has what is worth keeping of all runs, a few kB: log, settings and
# the most memory of the GPU that was in use of each, and results.json with a row for each. To go on
# on another machine, take OUT/NAME/checkpoint.safetensors and the small files beside it along.
#
# What it takes on one H200 (ResNet-50, 8 117 photographs of COCO, 9 epochs, bf16): measured were 289 images a
# second dense, and 265 adaptive. One after the other: with others beside it a dense one did 118 to 151, and an
# adaptive one takes up to 42 GB (up to 64 recorded shapes of batches). So, with EVAL_EVERY=9, in minutes:
#
#   5.5   COCO, RUNS=dense      253 s of steps; 901 images are evaluated
#   6     COCO, RUNS=0.72       325 s, measured, of which 45 are the first epoch's recording of shapes
#   4.5   VOC 2012, RUNS=dense  5 717 photographs, 178 s, reckoned; 5 823 are evaluated
#   5     VOC 2012, RUNS=0.72   reckoned
#
# So in half an hour, with some minutes to build: RUNS="0.85 0.58 dense@1" of COCO, and RUNS=dense of VOC; in
# another RUNS="0.72@1" of COCO and RUNS=0.72 of VOC. With commands of at most ten minutes: MINUTES=9, again and
# again until the status is 0. An evaluation is not interrupted. From a machine with nothing but Python's torch
# (scripts/bundle), the tests first, because other work on the GPU takes their memory:
#
#   tar -xzf sact.tar.gz && TARGETS=train_test sact/build.sh && cd sact/src
#   ../build/train_test --gtest_filter='DetectionLossOnCuda*'
#   SACT=../build/sact EVAL_EVERY=9 MINUTES=9 RUNS="0.85 0.58 dense@1" bench/detection_coco.sh ../runs/coco ../coco ../start.safetensors
#
# If memory is short: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (LibTorch 2; not tried yet) puts recordings
# of many shapes into memory that grows as one piece.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage="usage: bench/detection_coco.sh OUT DATA START"
out=${1:?"$usage"} data=${2:?"$usage"} start=${3:?"$usage"}
sact=${SACT:-build/sact}
device=${DEVICE:-cuda}
if [[ $device == cpu ]]; then usual_precision=fp32; else usual_precision=bf16; fi
if [[ -d $data/JPEGImages ]]; then train=train val=val; else train=train2017 val=val2017; fi
train=${TRAIN:-$train} val=${VAL:-$val}
read -ra settings <<<"${SETTINGS:-}"
common=(train="$train" val="$val" shorter_side="${SIDE:-320}" epochs="${EPOCHS:-9}" batch="${BATCH:-16}"
  rate="${RATE:-0.02}" schedule=cosine warmup_steps="${WARMUP:-300}" weight_decay=1e-4
  precision="${PRECISION:-$usual_precision}" eval_every="${EVAL_EVERY:-3}" "${settings[@]}")
read -ra runs <<<"${RUNS:-dense 0.85 0.72 0.58}"
report=$out/report
mkdir -p "$report"

# How adaptive ones halt, from what the start is.
found=$("$sact" info --json "$start" | python3 -c 'import json, sys; print(json.load(sys.stdin)["spec"]["halting"])')
if [[ $found == none ]]; then
  usual_halting="halting=sact score_floor=0.05 scores=hard steepness=1000 halting_scale=0"
else
  usual_halting="halting=auto"
fi
read -ra halting <<<"${HALTING:-$usual_halting}"

# settings_of RUN: its name and what it has besides, one a line.
settings_of() {
  local kind=${1%@*} seed=0
  if [[ $1 == *@* ]]; then seed=${1#*@}; fi
  case $kind in
    dense) printf '%s\n' "dense-seed$seed" halting=none ;;
    tau=*) printf '%s\n' "tau${kind#tau=}-seed$seed" "${halting[@]}" "$kind" ;;
    0.* | 1) printf '%s\n' "budget$kind-seed$seed" "${halting[@]}" tau=0.005 budget="$kind" head_tau=0.005 \
      head_budget="${HEAD:-0.7}" budget_ramp=0.4 ;;
    *)
      echo "bench/detection_coco.sh: RUNS has '$1'; it is 'dense', a budget such as 0.72, or tau=0.005, and @SEED" >&2
      return 2
      ;;
  esac
  printf '%s\n' seed="$seed"
}

# Until it is killed: notes the most memory that is in use on a GPU, in MiB.
watch_memory() {  # FILE
  local most=0 now
  if [[ -f $1 ]]; then most=$(<"$1"); fi
  while now=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null | sort -n | tail -1); do
    if ((now > most)); then
      most=$now
      echo "$most" >"$1"
    fi
    sleep 2
  done
}
watcher=
stop_watching() {
  if [[ -n $watcher ]]; then kill "$watcher" 2>/dev/null || true; fi
  watcher=
}
trap stop_watching EXIT

keep_report() {
  local log name
  for log in "$out"/*/log.csv; do
    if [[ ! -f $log ]]; then continue; fi
    name=$(basename "$(dirname "$log")")
    cp "$log" "$report/$name.csv"
    cp "${log%log.csv}settings.json" "$report/$name.json"
  done
  python3 bench/detection_table.py "$report"
}

# NAME SETTINGS...
run() {
  local name=$1 truth="$data/annotations/instances_$val.json" left=() status=0
  shift
  if [[ -n ${MINUTES:-} ]]; then
    left=(timeout --foreground --signal=TERM $((MINUTES * 60 > SECONDS ? MINUTES * 60 - SECONDS : 1)))
  fi
  if [[ $device != cpu ]]; then
    watch_memory "$report/$name.memory" &
    watcher=$!
  fi
  "${left[@]}" "$sact" train-detector --data "$data" --init "$start" --device "$device" --out "$out/$name" \
    "${common[@]}" "$@" || status=$?
  stop_watching
  if ((status == 124)); then
    keep_report
    echo "time is over in $name: the same command goes on"
    exit 75
  fi
  if ((status != 0)); then exit $status; fi
  if [[ ${ENGINE:-0} == 1 && -f $truth && ! -f $report/$name.engine.json ]]; then
    "$sact" detect "$out/$name/last.safetensors" --eval --gt "$truth" --data "$data/$val" --no-pictures --json \
      >"$report/$name.engine.json.new"
    mv "$report/$name.engine.json.new" "$report/$name.engine.json"
  fi
  keep_report
}

for each in "${runs[@]}"; do settings_of "$each" >/dev/null; done  # before the first takes its time
for each in "${runs[@]}"; do
  mapfile -t of_run < <(settings_of "$each")
  run "${of_run[@]}"
done
