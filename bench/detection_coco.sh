#!/usr/bin/env bash
# Detectors on photographs: a dense one and some of several budgets, all from the same start and with the
# same steps, and what they reach on the validation images. Running it again goes on where it was.
#
#   bench/detection_coco.sh OUT DATA START
#
# DATA is a folder as 'sact train-detector' takes it, with the splits TRAIN (train2017) and VAL
# (val2017); for Pascal VOC give TRAIN=train VAL=val. START is a classifier, dense or adaptive. The
# dense detector leaves its halting out. Adaptive ones keep it, or get new scores that begin where the
# dense network is; HALTING gives other settings for them.
#
# SACT is the program (build/sact), DEVICE where it trains (cuda), PRECISION bf16 (fp32 on the CPU),
# SIDE the shorter side of images (320), EPOCHS (9), BATCH (16), RATE (0.02), BUDGETS shares of the
# extractor's FLOPs (0.85 0.72 0.58), HEAD that of what classifies boxes (0.7), TAUS fixed values of tau
# besides (none), SEEDS their seeds (0), DENSE 0 for no dense one, SETTINGS further settings for all. ENGINE=1 also evaluates each on the CPU engine (COCO only) and keeps its times.
#
# Each run is a folder in OUT; OUT/results.json has a row for each, with images a second of training.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage="usage: bench/detection_coco.sh OUT DATA START"
out=${1:?"$usage"} data=${2:?"$usage"} start=${3:?"$usage"}
sact=${SACT:-build/sact}
device=${DEVICE:-cuda}
if [[ $device == cpu ]]; then usual_precision=fp32; else usual_precision=bf16; fi
train=${TRAIN:-train2017} val=${VAL:-val2017}
read -ra settings <<<"${SETTINGS:-}"
common=(train="$train" val="$val" shorter_side="${SIDE:-320}" epochs="${EPOCHS:-9}" batch="${BATCH:-16}"
  rate="${RATE:-0.02}" schedule=cosine warmup_steps="${WARMUP:-300}" weight_decay=1e-4
  precision="${PRECISION:-$usual_precision}" eval_every="${EVAL_EVERY:-3}" "${settings[@]}")
mkdir -p "$out"

# How adaptive ones halt, from what the start is.
found=$("$sact" info --json "$start" | python3 -c 'import json, sys; print(json.load(sys.stdin)["spec"]["halting"])')
if [[ $found == none ]]; then
  usual_halting="halting=sact score_floor=0.05 scores=hard steepness=1000 halting_scale=0"
else
  usual_halting="halting=auto"
fi
read -ra halting <<<"${HALTING:-$usual_halting}"

# NAME SETTINGS...
run() {
  local name=$1
  shift
  "$sact" train-detector --data "$data" --init "$start" --device "$device" --out "$out/$name" "${common[@]}" "$@"
  local truth="$data/annotations/instances_$val.json"
  if [[ ${ENGINE:-0} == 1 && -f $truth && ! -f $out/$name.engine.json ]]; then
    "$sact" detect "$out/$name/last.safetensors" --eval --gt "$truth" --data "$data/$val" --no-pictures --json \
      >"$out/$name.engine.json.new"
    mv "$out/$name.engine.json.new" "$out/$name.engine.json"
  fi
}

for seed in ${SEEDS:-0}; do
  if [[ ${DENSE:-1} == 1 ]]; then run "dense-seed$seed" halting=none seed="$seed"; fi
  for budget in ${BUDGETS-0.85 0.72 0.58}; do
    run "budget$budget-seed$seed" "${halting[@]}" tau=0.005 budget="$budget" head_tau=0.005 head_budget="${HEAD:-0.7}" \
      budget_ramp=0.4 seed="$seed"
  done
  for tau in ${TAUS:-}; do
    run "tau$tau-seed$seed" "${halting[@]}" tau="$tau" seed="$seed"
  done
done

python3 - "$out" <<'PYTHON'
import csv, glob, json, os, sys
out, rows = sys.argv[1], []
for path in sorted(glob.glob(os.path.join(out, "*", "log.csv"))):
    run = os.path.dirname(path)
    settings = json.load(open(os.path.join(run, "settings.json")))
    log = list(csv.DictReader(open(path)))
    last = [line for line in log if line["flops"]][-1]
    number = lambda key: float(last[key]) if last.get(key) else None
    speeds = sorted(float(line["images_per_second"]) for line in log)
    row = {"run": os.path.basename(run), "halting": settings["halting"], "tau": settings["tau"], "budget": settings["budget"], "seed": settings["seed"],
           "epochs": int(float(last["epoch"])), "images_per_second": speeds[len(speeds) // 2],
           "AP": number("AP"), "AP50": number("AP50"), "flops": number("flops"), "flops_std": number("flops_std"),
           "dense_flops": number("dense_flops"), "head_share": number("val_head_share"),
           "units": [float(last[key]) for key in last if key.startswith("units_")]}
    engine = os.path.join(out, row["run"] + ".engine.json")
    if os.path.exists(engine):
        found = json.load(open(engine))
        row["engine"] = {key: found[key] for key in ("AP", "AP50", "flops", "dense_flops", "ms") if key in found}
    rows.append(row)
json.dump({"rows": rows}, open(os.path.join(out, "results.json"), "w"), indent=2)
percent = lambda value: "-" if value is None else f"{100 * value:.1f}"
print(f"{'run':24} {'epochs':>6} {'AP':>6} {'AP50':>6} {'FLOPs %':>14}  {'units':24} images/s")
for row in rows:
    share = f"{100 * row['flops'] / row['dense_flops']:.1f} ± {100 * row['flops_std'] / row['dense_flops']:.1f}"
    units = " ".join(f"{value:.2f}" for value in row["units"])
    print(f"{row['run']:24} {row['epochs']:6} {percent(row['AP']):>6} {percent(row['AP50']):>6} {share:>14}  {units:24} "
          f"{row['images_per_second']:.1f}")
PYTHON
