#!/usr/bin/env bash
# The CUDA engine on a GPU: its kernels one by one, its tests, agreement with the CPU engine, and times, beside
# compiled PyTorch where that is wanted. Made for a machine that is there for minutes: every step has an end, a step
# that fails stops no other, and where a kernel is wrong the rest is measured without it (SACT_CUDA_WITHOUT).
#
#   bench/cuda.sh [BUILD] [OUT]     # default: build, bench/results/cuda
#
# BUILD has sact, libsact_cuda.so and cuda_engine_test. STEPS names what is done, of: kernels networks agree dense
# adaptive pays layers trained detect sanitize profile (default: all but the last two); PEERS=1 measures PyTorch, too;
# LIMIT=540: seconds after which nothing more is begun. TRAINED, PHOTOS: an adaptive model of post-activation ResNet-50 and
# photographs in folders of classes under val/, for `trained`. DETECTOR (models/resnet50-coco.safetensors): a detector, for
# `detect` on the first 48 of these photographs.
set -uo pipefail
build=$(realpath "${1:-build}") out=${2:-bench/results/cuda}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
steps=" ${STEPS:-kernels networks agree dense adaptive pays layers trained detect} " limit=${LIMIT:-540} peers=${PEERS:-}
sact=$build/sact tests=$build/cuda_engine_test
PATH=$PATH:/usr/local/cuda/bin:$(printf '%s:' /opt/nvidia/nsight-compute/*/)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
summary=$out/summary.txt
: >"$summary"

wanted() { [[ $steps == *" $1 "* ]] && ((SECONDS < limit)); }
say() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
note() { printf '%s\n' "$*" | tee -a "$summary"; }
# bounded MOST COMMAND...: ends it after that many seconds, or where the time of all is up.
bounded() {
  local most=$1 left=$((limit - SECONDS))
  shift
  ((left > 3)) || return 124
  timeout -k 5 $((most < left ? most : left)) "$@"
}
# bench NAME MOST ARGUMENTS...: one `sact bench`, its result and its rows.
bench() {
  local name=$1 most=$2
  shift 2
  if bounded "$most" "$sact" bench "$@" --backend cuda --device cuda --dtype "${DTYPE:-bf16}" --json \
    >"$out/$name.json" 2>"$out/$name.errors"; then
    python3 "$here/show_cuda.py" "$name" "$out/$name.json" | tee -a "$summary"
  else
    note "$name: FAILED ($?) $(tail -1 "$out/$name.errors")"
    return 1
  fi
}

# beside NAME MOST ARGUMENTS...: the same beside the peer of that name where it runs, and without one that fails.
beside() {
  local name=$1 most=$2
  shift 2
  if grep -qs '^ready' "$out/peer-$name.errors"; then
    bench "$name" "$most" "$@" --peer "$work/connect $work/peer-$name" && return
  fi
  bench "$name" "$most" "$@"
}

say "the machine"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,memory.total --format=csv,noheader | tee -a "$summary"
bounded 60 "$sact" doctor >"$out/doctor.txt" 2>&1 || note "sact doctor: FAILED ($?)"
grep -iE "gpu|cuda" "$out/doctor.txt"
if [[ $("$tests" --gtest_filter='CudaLists.HaveTheRowsThatGoOnAndWhereTheyLook' 2>&1) == *SKIPPED* ]]; then
  note "there is no GPU that can be used: nothing was measured"
  exit 1
fi
dtypes=(fp32 bf16)
"$sact" predict --help | grep -q fp16 && dtypes+=(fp16)

settings=("1 224" "64 224" "256 224" "1 608x1000")
full_size() { [[ $1 == *x* ]] && echo "$1" || echo "$1x$1"; }
v1=(--depth 50 --unit bottleneck_v1)

# Peers take a minute and more to compile. They start at once, beside the tests, and wait for their turn at two pipes;
# `sact bench` gets a program that connects it with them.
running_peers=()
start_peer() { # NAME BATCH SIZE ARGUMENTS...
  local at=$work/peer-$1
  mkfifo "$at.in" "$at.out"
  timeout 400 python3 "$here/peers/torch_compile.py" --batch "$2" --size "$(full_size "$3")" "${@:4}" \
    0<>"$at.in" 1<>"$at.out" 2>"$out/peer-$1.errors" &
  running_peers+=("$1 $!")
}
cat >"$work/connect" <<'CONNECT'
#!/bin/sh
cat "$1.out" &
exec cat >"$1.in"
CONNECT
chmod +x "$work/connect"
wait_for_peers() {
  local peer
  for peer in "${running_peers[@]}"; do
    until grep -q '^ready' "$out/peer-${peer% *}.errors" || ! kill -0 "${peer#* }" 2>/dev/null; do sleep 0.2; done
  done
}
if [[ $peers ]] && wanted dense; then
  for setting in "${settings[@]}"; do
    read -r batch size <<<"$setting"
    start_peer "dense-$batch-$size" "$batch" "$size"
  done
  for batch in 1 64; do start_peer "v1-$batch" "$batch" 224 "${v1[@]}"; done
fi
if [[ $peers && ${TRAINED:-} ]] && wanted trained; then
  for batch in 64 256; do start_peer "trained-$batch" "$batch" 224 "${v1[@]}"; done
fi

if wanted kernels; then
  say "kernels, each alone"
  "$tests" --gtest_list_tests --gtest_filter='*CudaProduct*:CudaLists*:CudaLimit*:CudaLinear*:CudaScores*:CudaHalt*:CudaCrops*:CudaCheckFinite*' |
    awk '/^[^ ]/ {suite = $1; next} {print suite $1}' >"$work/names"
  run_alone() {
    local status log=$3/${2//\//.}.txt
    timeout -k 2 40 "$1" --gtest_filter="$2" >"$log" 2>&1
    status=$?
    if [[ $status == 0 ]] && grep -q 'SKIPPED' "$log"; then status=skipped; fi
    echo "$status $2"
  }
  export -f run_alone
  bounded 120 xargs -P 6 -I{} bash -c 'run_alone "$@"' - "$tests" {} "$work" <"$work/names" >"$out/kernels.txt"
  note "kernels: $(grep -c '^0 ' "$out/kernels.txt") of $(wc -l <"$work/names") are right," \
    "$(grep -c '^skipped ' "$out/kernels.txt") were skipped"
  grep -vE '^(0|skipped) ' "$out/kernels.txt" >"$work/wrong"
  while read -r status name; do
    log=${name//\//.}.txt
    note "  WRONG $name (exit status $status): $(grep -hE 'actual|error|emulated|CUDA' "$work/$log" | head -1)"
    cp "$work/$log" "$out/"
  done <"$work/wrong"
  without=""
  grep -q 'Hopper' "$work/wrong" && without=hopper
  grep -q 'OtherTensorCores' "$work/wrong" && without=tensor-cores
  if [[ $without ]]; then
    export SACT_CUDA_WITHOUT=$without
    note "what follows runs with SACT_CUDA_WITHOUT=$without"
  fi
fi

# networks_pass MOST FILTER FILE: whether these tests pass, some at a time.
networks_pass() {
  local shard status=0 running=()
  for shard in 0 1 2 3 4 5; do
    GTEST_TOTAL_SHARDS=6 GTEST_SHARD_INDEX=$shard bounded "$1" "$tests" --gtest_filter="$2" >"$work/shard-$shard" 2>&1 &
    running+=($!)
  done
  for shard in "${running[@]}"; do wait "$shard" || status=$?; done
  cat "$work"/shard-? >"$3"
  return $status
}
failed_in() { sed -nE 's/^\[  FAILED  \] ([^ ,]+),? .*ms\)$/\1/p' "$1"; }
if wanted networks; then
  say "whole networks beside the CPU engine"
  if networks_pass 150 '*CudaParity*:*CudaHalf*:CudaSettings*:CudaSession*:CudaLayers*:*CudaDetector*' "$out/networks.txt"; then
    note "networks: all $(grep -c '^\[       OK \]' "$out/networks.txt") agree with the CPU engine"
  else
    wrong=$(failed_in "$out/networks.txt" | paste -sd:)
    note "networks: $(grep -c '^\[       OK \]' "$out/networks.txt") agree, FAILED ${wrong:-(ended early)}"
    grep -hE '^The difference|actual|error|terminate|Which is' "$out/networks.txt" | sort | uniq -c | sort -rn | head -12
    kept=${SACT_CUDA_WITHOUT:-}
    for word in overlap sharing scores dense graphs hopper tensor-cores; do
      SACT_CUDA_WITHOUT=$kept,$word networks_pass 20 "${wrong:-*CudaHalf*sact}" "$out/networks-without-$word.txt"
      status=$?
      note "  without $word: exit status $status, wrong: $(failed_in "$out/networks-without-$word.txt" | paste -sd:)"
      if [[ $status == 0 ]]; then
        export SACT_CUDA_WITHOUT=$kept,$word
        note "what follows runs with SACT_CUDA_WITHOUT=$SACT_CUDA_WITHOUT"
        break
      fi
    done
  fi
fi

"$sact" new --depth 101 --seed 1 --out "$work/plain.safetensors" -q >/dev/null || note "sact new: FAILED"
"$sact" new --depth 101 --halting sact --seed 1 --out "$work/sact.safetensors" -q >/dev/null || note "sact new: FAILED"
"$sact" new --depth 50 --unit bottleneck_v1 --seed 1 --out "$work/v1.safetensors" -q >/dev/null || note "sact new: FAILED"
if wanted agree; then
  say "logits beside the CPU engine"
  "$sact" synth --out "$work/photos" --count 8 -q >/dev/null 2>&1 || note "sact synth: FAILED"
  for model in plain sact v1; do
    bounded 60 "$sact" predict "$work/$model.safetensors" "$work/photos" --no-pictures --raw "$work/cpu.safetensors" -q >/dev/null 2>&1
    for dtype in "${dtypes[@]}"; do
      rm -f "$work/gpu.safetensors"
      bounded 60 "$sact" predict "$work/$model.safetensors" "$work/photos" --backend cuda --device cuda --dtype $dtype \
        --no-pictures --raw "$work/gpu.safetensors" -q >/dev/null 2>"$out/agree-$model-$dtype.errors"
      if [[ -e $work/gpu.safetensors ]]; then
        note "$model $dtype: $(python3 "$here/compare_logits.py" "$work/cpu.safetensors" "$work/gpu.safetensors" 2>&1 | head -1)"
      else
        note "$model $dtype: FAILED $(tail -1 "$out/agree-$model-$dtype.errors")"
      fi
    done
  done
fi
wait_for_peers
if wanted dense; then
  for setting in "${settings[@]}"; do
    read -r batch size <<<"$setting"
    say "dense ResNet-101, $batch of $size"
    beside "dense-$batch-$size" 40 "$work/plain.safetensors" --batch "$batch" --size "$size" --density 1 --rounds 25
  done
  for batch in 1 64; do
    beside "v1-$batch" 40 "$work/v1.safetensors" --batch $batch --size 224 --density 1 --rounds 25
  done
fi
if wanted adaptive; then
  for setting in "${settings[@]}"; do
    read -r batch size <<<"$setting"
    say "adaptive ResNet-101, $batch of $size"
    bench "adaptive-$batch-$size" 60 "$work/sact.safetensors" --batch "$batch" --size "$size" --density 0.25,0.5,0.75,1 \
      --rounds 15
  done
fi
if wanted layers; then
  for setting in "1 224" "64 224" "256 224"; do
    read -r batch size <<<"$setting"
    say "layers, $batch of $size"
    bench "layers-$batch-$size" 60 "$work/plain.safetensors" --batch "$batch" --size "$size" --density 1 --rounds 3 --layers
  done
fi
if wanted pays; then  # from where on lists pay, for CudaSettings::runs_dense(), and halting at all
  kept=${SACT_CUDA_WITHOUT:-}
  for left_out in dense lists; do
    say "when halting pays, without $left_out"
    export SACT_CUDA_WITHOUT=$kept,$left_out
    bench "pays-batches-without-$left_out" 60 "$work/sact.safetensors" --batch 1,2,4,8,16,32 --size 224 --density 0.25,0.5,0.75 --rounds 9
    bench "pays-sizes-without-$left_out" 60 "$work/sact.safetensors" --batch 1 --size 128,320,448 --density 0.25,0.5,0.75 --rounds 9
  done
  export SACT_CUDA_WITHOUT=$kept
fi
if wanted trained && [[ ${TRAINED:-} && ${PHOTOS:-} ]]; then
  say "a trained network on photographs"
  for dtype in fp32 bf16; do
    place=(--backend cuda --device cuda --dtype $dtype)
    [[ $dtype == fp32 ]] && place=()
    start=$EPOCHREALTIME
    bounded 90 "$sact" eval "$TRAINED" --data "$PHOTOS" --split val "${place[@]}" --batch 64 \
      --predictions "$out/trained-$dtype.jsonl" --json >"$out/trained-$dtype.json" 2>"$out/trained-$dtype.errors" ||
      note "trained $dtype: FAILED ($?) $(tail -1 "$out/trained-$dtype.errors")"
    note "trained, $dtype on ${place[3]:-cpu}: $(awk "BEGIN {printf \"%.2f s\", $EPOCHREALTIME - $start}")" \
      "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print({k: v for k, v in r.items() if isinstance(v, (int, float))})' "$out/trained-$dtype.json" 2>/dev/null)"
  done
fi
if wanted trained && [[ ${TRAINED:-} && ${PHOTOS:-} ]]; then
  for batch in 64 256; do
    beside "trained-$batch" 60 "$TRAINED" "$PHOTOS"/val/*/*0.JPEG --batch $batch --size 224 --rounds 9
  done
fi
detector=${DETECTOR:-$here/../models/resnet50-coco.safetensors}
if wanted detect && [[ ${PHOTOS:-} && -e $detector ]]; then
  say "a detector on photographs"
  mapfile -t photos < <(find "$PHOTOS" -iname '*.jp*g' | sort | head -48)
  # detect NAME MOST ARGUMENTS...: one `sact detect`; its clock for the whole.
  detect() {
    local name=$1 most=$2 start=$EPOCHREALTIME
    shift 2
    bounded "$most" "$sact" detect "$detector" "${photos[@]}" --no-pictures --json "$@" >"$out/detect-$name.json" 2>"$out/detect-$name.errors" ||
      note "detect $name: FAILED ($?) $(tail -1 "$out/detect-$name.errors")"
    note "detect $name: ${#photos[@]} photographs in $(awk "BEGIN {printf \"%.2f s\", $EPOCHREALTIME - $start}")"
  }
  detect cpu 60
  for dtype in "${dtypes[@]}"; do  # one image at a time for the stages, then with all cores
    detect "$dtype" 60 --backend cuda --device cuda --dtype $dtype --threads 1
    note "  beside the CPU: $(python3 "$here/compare_detections.py" "$out/detect-cpu.json" "$out/detect-$dtype.json" 2>&1)"
    detect "$dtype-all-cores" 60 --backend cuda --device cuda --dtype $dtype
  done
fi
if wanted sanitize; then
  small='*CudaProduct*norm*:*CudaProduct*/window:*CudaProduct*scores_mean:*CudaProduct*/mean:*CudaProduct*stem:CudaLists*:CudaLimit*:CudaLinear*:CudaScores*:CudaHalt*:CudaCrops*:CudaCheckFinite*'
  for tool in memcheck racecheck synccheck; do
    say "compute-sanitizer $tool"
    bounded 150 compute-sanitizer --tool "$tool" --print-limit 20 "$tests" --gtest_filter="$small" >"$out/$tool.txt" 2>&1
    note "$tool (exit status $?): $(grep -hE 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$tool.txt" | tail -1)"
    grep -hE "Invalid|hazard|Barrier error" "$out/$tool.txt" | sort | uniq -c | sort -rn | head -8
  done
  bounded 100 compute-sanitizer --tool memcheck --print-limit 20 "$tests" --gtest_filter='*CudaHalf*/sact:*CudaParity*/budget' \
    >"$out/memcheck-networks.txt" 2>&1
  note "memcheck of networks (exit status $?): $(grep -h 'ERROR SUMMARY' "$out/memcheck-networks.txt" | tail -1)"
fi
if wanted profile; then  # each kernel of one dense run, without the gaps that --layers has
  for batch in 1 64; do
    say "ncu, $batch of 224"
    SACT_CUDA_WITHOUT=${SACT_CUDA_WITHOUT:-},graphs bounded 150 ncu --clock-control none --csv --launch-count 400 \
      --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum \
      "$sact" bench "$work/sact.safetensors" --backend cuda --device cuda --dtype bf16 --batch $batch --size 224 \
      --density 0.5 --rounds 1 --json >"$out/ncu-$batch.csv" 2>&1
    note "ncu, $batch of 224 (exit status $?): $(grep -c gpu__time "$out/ncu-$batch.csv") kernels"
  done
fi
say "all"
cat "$summary"
