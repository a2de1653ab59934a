#!/usr/bin/env bash
# A fresh network of a spec on 20 images of different sizes, in the engine, in LibTorch and, exported, in ONNX Runtime; fails
# where logits differ by more than 1e-4 of the largest. Run from the root of the project:
#
#   bench/agreement.sh '{"unit": "bottleneck_v1", "units": [3, 4, 6, 3]}'
#
# SACT is the program (build/sact). ONNX Runtime is installed as bench/README.md says.
set -euo pipefail
[[ $# == 1 ]] || { echo "usage: bench/agreement.sh SPEC" >&2; exit 2; }
sact=${SACT:-build/sact} onnx=bench/peers/onnx
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$1" >"$work/spec.json"
"$sact" new --spec "$work/spec.json" --seed 7 --out "$work/m.safetensors" -q >/dev/null
"$sact" export "$work/m.safetensors" --onnx "$work/m.onnx" -q >/dev/null
for size in 32x32 33x47 48x64 64x48 65x65 79x80 96x128 97x96 112x112 113x111 128x160 129x130 144x97 150x200 160x161 191x192 \
            224x224 225x223 256x192 255x257; do
  node $onnx/make_input.mjs "$work/in.safetensors" --size $size >/dev/null
  for backend in engine torch; do
    "$sact" predict "$work/m.safetensors" --tensor "$work/in.safetensors" --raw "$work/raw.safetensors" \
      --backend $backend -q >/dev/null
    printf '%s, %s: %s\n' $size $backend \
      "$(node $onnx/compare.mjs "$work/m.onnx" "$work/in.safetensors" "$work/raw.safetensors")"
  done
done
