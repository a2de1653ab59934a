#!/usr/bin/env bash
# How fast detectors run on the CPU engine: the extractor at 600x1000 with active sets of given
# density and as trained, and where the time of a whole image goes. Writes JSON files into a folder.
#
#   bench/detection.sh OUT [DETECTOR PHOTOS]...
#
# SACT is the program (build/sact), THREADS the number of threads (2), ROUNDS how often everything
# takes its turn (15), PYTHON the one that the module in PYTHONPATH (build/python) is for. Whole images are the
# first nine of PHOTOS. Keep the machine free of other work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:?"usage: bench/detection.sh OUT [DETECTOR PHOTOS]..."}
shift
rounds=${ROUNDS:-15} python=${PYTHON:-/usr/bin/python3}
. bench/common.sh

# The paper's extractor, ResNet-101, with fresh weights.
"$sact" new --depth 101 --classes 80 --halting sact --detect --out "$work/r101.safetensors" >/dev/null
bench density-resnet101 "$work/r101.safetensors" --size 600x1000 --density 0.25,0.5,0.75,1 --rounds "$rounds"

# Trained ones, as they halt on photographs.
while (($# >= 2)); do
  name=$(basename "$1" .safetensors)
  bench "density-$name" "$1" --size 600x1000 --density 0.25,0.5,0.75,1 --rounds "$rounds"
  bench "trained-$name" "$1" "$2" --size 600x1000 --rounds $(((rounds + 4) / 5))
  photos=("$2"/*)
  PYTHONPATH=${PYTHONPATH:-build/python} "$python" bench/detector_turns.py "$out/turns-$name.json" "$1" "${photos[@]:0:9}" \
    --threads "$threads" --rounds $(((rounds + 3) / 4))
  shift 2
done
