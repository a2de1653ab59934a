#!/usr/bin/env bash
# What int8 is measured by: its speed beside fp32, and what it changes in networks that were trained.
#
#   bench/int8.sh OUT DATA MODEL...
#
# DATA has train/ and val/ with folders of classes. Each MODEL is exported with every way to choose ranges, calibrated on
# photographs of train/, and evaluated on val/ beside itself in fp32; ponder cost maps are compared on PHOTOS (8) photographs
# of every class. SACT is the program (build/sact), THREADS the number of threads (2), ROUNDS how often everything takes its
# turn (31). Keep the machine free of other work for the speeds. ONNX is the folder of the peer (bench/peers/onnx), which runs the
# same whole numbers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:?"usage: bench/int8.sh OUT DATA MODEL..."} data=${2:?"which data?"}
models=("${@:3}")
rounds=${ROUNDS:-31}
. bench/common.sh

"$sact" new --depth 101 --classes 1000 --out "$work/plain.safetensors" >/dev/null
"$sact" export "$work/plain.safetensors" --dtype int8 --calibrate "$data/val" --calibrate-most 24 \
  --out "$work/plain8.safetensors" >/dev/null
for isa in "" ${ISAS:-AVX512-VNNI}; do
  for batch in 1 8; do
    SACT_ISA=$isa bench "int8${isa:+-$isa}-batch$batch" "$work/plain8.safetensors" --size 224 --batch "$batch" \
      --dtype fp32,int8 --density 0.25,0.5,0.75 --rounds $((batch == 1 ? rounds : (rounds + 2) / 3))
  done
done

# ONNX Runtime on the same whole numbers. Peers are measured beside fp32; all take turns.
onnx=${ONNX:-bench/peers/onnx}
if [[ -d $onnx/node_modules ]]; then
  "$sact" export "$work/plain8.safetensors" --dtype int8 --onnx "$work/plain8.onnx" --size 224 --batch 1 >/dev/null
  bench onnxruntime-int8 "$work/plain8.safetensors" --size 224 --dtype fp32,int8 --density 0.5 --pause 60 --rounds "$rounds" \
    --peer "node $onnx/onnx_time.mjs $work/plain8.onnx --threads $threads --batch 1 --size 224x224"
else
  echo "without ONNX Runtime: see bench/README.md for how to install it"
fi

photos=()
for folder in "$data"/val/*/; do
  mapfile -t -O "${#photos[@]}" photos < <(find "$folder" -type f | sort | head -n "${PHOTOS:-8}")
done
accuracy() {  # NAME MODEL DTYPE
  "$sact" eval "$2" --data "$data" --dtype "$3" --json -q >"$work/eval.json"
  python3 - "$work/eval.json" "$1" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
print(f"{sys.argv[2]}: accuracy {100 * result['accuracy']:.2f} %, recall at 5 {100 * result['recall5']:.2f} %, "
      f"{result['images']} photographs")
END
}
for model in "${models[@]}"; do
  name=$(basename "$model" .safetensors)
  accuracy "$name fp32" "$model" fp32
  "$sact" predict "$model" "${photos[@]}" --no-pictures --dtype fp32 --raw "$work/fp32.raw" -q >/dev/null
  for ranges in mse percentile max; do
    "$sact" export "$model" --dtype int8 --calibrate "$data/train" --ranges "$ranges" \
      --out "$work/$ranges.safetensors" -q >/dev/null
    accuracy "$name int8 $ranges" "$work/$ranges.safetensors" int8
    "$sact" predict "$work/$ranges.safetensors" "${photos[@]}" --no-pictures --raw "$work/int8.raw" -q >/dev/null
    python3 bench/compare_maps.py "$work/fp32.raw" "$work/int8.raw" | tail -n 1
  done
done | tee "$out/int8-accuracy.txt"
