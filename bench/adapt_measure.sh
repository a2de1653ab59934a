#!/usr/bin/env bash
# Measures adaptive networks beside the dense one that they were made of, with the engine:
#
#   bench/adapt_measure.sh OUT DATA DENSE NAME=MODEL[@SHIFT]...
#
# DATA has val/CLASS/. OUT gets NAME.json and NAME.csv (`sact eval`: accuracy, FLOPs, units; what it said of every
# photograph) and NAME-time.json (`sact bench` on the first PHOTOS photographs of every class, default 4), and
# table.md has them all. @SHIFT is a halting shift, of the compute dial. What is there is not measured again.
set -euo pipefail
out=${1:?"usage: bench/adapt_measure.sh OUT DATA DENSE NAME=MODEL[@SHIFT]..."} data=$2 dense=$3
shift 3
sact=${SACT:-build/sact} here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$out"
names=(dense) models=("$dense") shifts=(0)
for entry in "$@"; do
  names+=("${entry%%=*}")
  model=${entry#*=} shift_=0
  case $model in *@*) shift_=${model##*@} model=${model%@*} ;; esac
  models+=("$model") shifts+=("$shift_")
done
photos=()
for folder in "$data"/val/*/; do
  mapfile -t -O "${#photos[@]}" photos < <(find "$folder" -type f | sort | head -n "${PHOTOS:-4}")
done
for i in "${!names[@]}"; do
  name=${names[i]}
  [[ -s $out/$name.csv ]] || "$sact" eval "${models[i]}" --data "$data" --halting-shift="${shifts[i]}" \
    --predictions "$out/$name.csv" --json -q >"$out/$name.json"
  [[ -s $out/$name-time.json || $name == dense ]] || "$sact" bench "${models[i]}" "${photos[@]}" --halting-shift="${shifts[i]}" \
    --json -q >"$out/$name-time.json"
done
python3 "$here/adapt_table.py" "$out" "${names[@]}" | tee "$out/table.md"
