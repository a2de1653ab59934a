#!/usr/bin/env bash
# What the CPU engine is measured by: against ONNX Runtime and LibTorch, dense and with work skipped,
# in 32 and 16 bits, on photographs. Writes one JSON file for each measurement into a folder.
#
#   bench/engine.sh OUT [PHOTOS [MODEL...]]
#
# Photographs go through the trained network of models/, and every MODEL at 224 pixels.
# SACT is the program (build/sact), THREADS the number of threads (2), ROUNDS how often everything
# takes its turn (31). Keep the machine free of other work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:?"usage: bench/engine.sh OUT [PHOTOS [MODEL...]]"} photos=${2:-}
models=("${@:3}")
rounds=${ROUNDS:-31}
. bench/common.sh

"$sact" new --depth 101 --classes 1000 --out "$work/plain.safetensors" >/dev/null
"$sact" new --depth 101 --classes 1000 --halting sact --out "$work/sact.safetensors" >/dev/null
"$sact" new --depth 50 --classes 1000 --out "$work/r50.safetensors" >/dev/null

# Skipped work, and 16 bits.
bench density "$work/sact.safetensors" --size 224,352 --density 0.25,0.5,0.75,1 --rounds "$rounds"
bench bf16 "$work/sact.safetensors" --size 224 --dtype fp32,bf16 --density 0.25,0.5,0.75 \
  --rounds "$rounds"

# Beside others. ONNX Runtime's threads spin for some 25 ms after a run, hence the pause.
if [[ -d bench/peers/onnx/node_modules ]]; then
  for batch in 1 8; do
    "$sact" export "$work/plain.safetensors" --onnx "$work/$batch.onnx" --size 224 --batch "$batch" \
      >/dev/null
    bench "onnxruntime-batch$batch" "$work/plain.safetensors" --size 224 --batch "$batch" \
      --density 1 --pause 60 --rounds $((batch == 1 ? rounds : (rounds + 2) / 3)) \
      --peer "node bench/peers/onnx/onnx_time.mjs $work/$batch.onnx --threads $threads --batch $batch --size 224x224"
  done
else
  echo "without ONNX Runtime: see bench/README.md for how to install it"
fi
bench libtorch "$work/plain.safetensors" --size 224 --density 1 --torch --rounds $(((rounds + 2) / 3)) ||
  echo "without LibTorch"

# Trained networks on photographs.
if [[ $photos ]]; then
  bench photographs models/imagenette-sact.safetensors "$photos" --size 128,192
  for model in "${models[@]}"; do
    bench "photographs-$(basename "$model" .safetensors)" "$model" "$photos" --size 224
  done
fi

# From the start of the program to its first result.
"$sact" synth --out "$work/images" --count 1 --size 224 --seed 1 >/dev/null
image=$(find "$work/images" -name '*.png' | head -n 1)
TIMEFORMAT=%R
for _ in $(seq 7); do
  { time "$sact" predict "$work/r50.safetensors" "$image" --no-pictures --threads "$threads" \
    >/dev/null 2>&1; } 2>&1
done | sort -n | awk '{t[NR] = $1} END {printf "first result of ResNet-50: %.2f s (median of %d)\n", t[int((NR + 1) / 2)], NR}' |
  tee "$out/start.txt"
