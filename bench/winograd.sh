#!/usr/bin/env bash
# Layers over tiles against direct products and, where they are installed, ONNX Runtime and oneDNN: plain ResNet-101 at 224x224,
# alone and in batches of 8, and one image of 608x1000; dense, and with positions left out. All of one size take turns. Writes one
# JSON file for each into a folder.
#
#   bench/winograd.sh OUT
#
# SACT is the program (build/sact), THREADS the number of threads (2), ROUNDS how often everything takes its turn (15), ONNX the
# folder of the peer (bench/peers/onnx), ONEDNN the other peer (bench_onednn beside SACT). Keep the machine free of other work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:?"usage: bench/winograd.sh OUT"}
rounds=${ROUNDS:-15} onnx=${ONNX:-bench/peers/onnx}
. bench/common.sh
onednn=${ONEDNN:-$(dirname "$sact")/bench_onednn}

"$sact" new --depth 101 --classes 1000 --out "$work/plain.safetensors" >/dev/null
for run in 224x224:1 608x1000:1 224x224:8; do
  size=${run%%:*} batch=${run##*:}
  peer=()
  if [[ -d $onnx/node_modules ]]; then
    "$sact" export "$work/plain.safetensors" --onnx "$work/m.onnx" --size "$size" --batch "$batch" >/dev/null
    peer=(--peer "node $onnx/onnx_time.mjs $work/m.onnx --threads $threads --batch $batch --size $size" --pause 60)
  fi
  if [[ -x $onednn ]]; then
    peer+=(--peer "$onednn $work/plain.safetensors --threads $threads --batch $batch --size $size")
  fi
  bench "$size-batch$batch" "$work/plain.safetensors" --size "$size" --batch "$batch" --beside-exact --layers \
    --density 0.25,0.5,0.75 --rounds "$rounds" "${peer[@]}"
done
