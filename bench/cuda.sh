#!/usr/bin/env bash
# The CUDA engine on a GPU: its tests, agreement with the CPU engine, and times beside compiled PyTorch.
#
#   bench/cuda.sh [BUILD] [OUT]     # default: build, bench/results/cuda
#
# BUILD has sact, libsact_cuda.so and cuda_engine_test. STEPS names what is done, of: tests sanitize agree dense peers
# adaptive layers (default: all but sanitize and peers).
set -uo pipefail
build=${1:-build} out=${2:-bench/results/cuda}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
steps=" ${STEPS:-tests agree dense adaptive layers} "
sact=$build/sact
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted() { [[ $steps == *" $1 "* ]]; }
say() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
show_rows() {
  python3 - "$1" <<'PY'
import json, sys
for r in json.load(open(sys.argv[1]))["rows"]:
    print(f"{r['what']:30} {r['density']:.2f} {r['ms']['median']:9.4f} ms ({r['ms']['p10']:.4f}-{r['ms']['p90']:.4f}), "
          f"{r['gflops_per_second'] / 1e3:6.1f} TFLOP/s, speed-up {r['speedup']:.3f} of {r['theoretical_speedup']:.3f}: "
          f"{100 * r['realised']:.1f} %")
PY
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,memory.total --format=csv,noheader || true
"$sact" doctor | tee "$out/doctor.txt"
if wanted tests; then
  say "kernels and parity"
  timeout 240 "$build/cuda_engine_test" >"$out/tests.txt" 2>&1
  echo "exit status $?"
  grep -E "FAILED|Failure|worst|PASSED|SKIPPED|actual" "$out/tests.txt" | head -60
fi
if wanted sanitize; then
  for tool in memcheck racecheck; do
    say "compute-sanitizer $tool"
    timeout 240 compute-sanitizer --tool "$tool" "$build/cuda_engine_test" \
      --gtest_filter='*CudaProduct*:*CudaBf16*sact:*CudaParity*/sact:*CudaParity*/budget' >"$out/$tool.txt" 2>&1
    grep -E "ERROR SUMMARY|RACECHECK SUMMARY|Invalid|hazard" "$out/$tool.txt" | head -10
  done
fi

"$sact" new --depth 101 --seed 1 --out "$work/plain.safetensors" -q >/dev/null
"$sact" new --depth 101 --halting sact --seed 1 --out "$work/sact.safetensors" -q >/dev/null
"$sact" new --depth 50 --unit bottleneck_v1 --seed 1 --out "$work/v1.safetensors" -q >/dev/null || true
if wanted agree; then
  say "agreement of whole networks with the CPU engine"
  "$sact" synth --out "$work/photos" --count 8 -q >/dev/null 2>&1
  for model in plain sact; do
    "$sact" predict "$work/$model.safetensors" "$work/photos" --raw "$work/cpu.safetensors" -q >/dev/null
    for dtype in fp32 bf16; do
      "$sact" predict "$work/$model.safetensors" "$work/photos" --device cuda --dtype $dtype \
        --raw "$work/gpu.safetensors" -q >/dev/null
      echo "$model $dtype: $(python3 "$here/compare_logits.py" "$work/cpu.safetensors" "$work/gpu.safetensors")"
    done
  done
fi
if wanted dense; then
  for setting in "1 224" "64 224" "256 224" "1 608x1000"; do
    read -r batch size <<<"$setting"
    peer=()
    if wanted peers; then
      full=$size
      [[ $size == *x* ]] || full=${size}x$size
      peer=(--peer "python3 $here/peers/torch_compile.py --batch $batch --size $full")
    fi
    say "dense ResNet-101, $batch of $size, bf16"
    "$sact" bench "$work/plain.safetensors" --device cuda --dtype bf16 --batch "$batch" --size "$size" --density 1 \
      --rounds 25 --json "${peer[@]}" >"$out/dense-$batch-$size.json" 2>"$work/errors" || tail -3 "$work/errors"
    show_rows "$out/dense-$batch-$size.json"
  done
fi
if wanted adaptive; then
  for setting in "1 224" "64 224" "256 224" "1 608x1000"; do
    read -r batch size <<<"$setting"
    say "adaptive ResNet-101, $batch of $size, bf16"
    "$sact" bench "$work/sact.safetensors" --device cuda --dtype bf16 --batch "$batch" --size "$size" \
      --density 0.25,0.5,0.75,1 --rounds 15 --json >"$out/adaptive-$batch-$size.json" 2>"$work/errors" || tail -3 "$work/errors"
    show_rows "$out/adaptive-$batch-$size.json"
  done
fi
if wanted layers; then
  for setting in "1 224" "64 224"; do
    read -r batch size <<<"$setting"
    say "layers, $batch of $size"
    "$sact" bench "$work/plain.safetensors" --device cuda --dtype bf16 --batch "$batch" --size "$size" --density 1 \
      --rounds 3 --layers --json >"$out/layers-$batch-$size.json" 2>"$work/errors" || tail -3 "$work/errors"
    python3 -c "
import json, sys
seen = {}
for r in json.load(open(sys.argv[1])).get('per_layer', []):
    key = (r['rows'], r['taps'], r['depth'], r['columns'])
    seen.setdefault(key, [r['name'], []])[1].append(r['ms'])
for (rows, taps, depth, columns), (name, times) in seen.items():
    ms = sorted(times)[len(times) // 2]
    print(f'{name:34} {rows:7} rows {taps} x {depth} to {columns}: {1e3 * ms:8.1f} us, {2e-9 * rows * taps * depth * columns / ms:6.1f} TFLOP/s, {len(times)} of them')" "$out/layers-$batch-$size.json"
  done
fi
