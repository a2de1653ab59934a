"""Says in a line what became of the halting scores of a run: accuracy and units on validation after
every epoch, and of every block the scores that its units give an average input.

A score is sigmoid(W~ * n'(x) + W n(pool(x)) + b). Norms give their shifts on average, so its
argument is b + sum(W shift) + sum(W~ shift') there.
"""
import array
import csv
import json
import math
import pathlib
import struct
import sys


def read_tensors(path):
    """{name: values} of the halting scores' 32 bit tensors in a model file."""
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, about in header.items():
        if ".halting." not in name:
            continue
        begin, end = about["data_offsets"]
        tensors[name] = array.array("f", data[8 + length + begin:8 + length + end])
    return tensors


def sigmoid(x):
    return 1 / (1 + math.exp(-max(x, -700)))


def mean_argument(tensors, unit):
    def of(name):
        return tensors.get(f"{unit}.{name}")

    total = of("global.bias")[0]
    shift = of("global_norm.bias")
    if shift:
        total += sum(w * s for w, s in zip(of("global.weight"), shift))
    local, shift = of("local.weight"), of("local_norm.bias")
    if local and shift:
        taps = len(local) // len(shift)
        total += sum(sum(local[c * taps:(c + 1) * taps]) * s for c, s in enumerate(shift))
    return total


def main():
    run = pathlib.Path(sys.argv[1])
    tensors = read_tensors(run / "last.safetensors")
    blocks = {}
    for name in tensors:
        if name.endswith(".global.bias"):
            unit = name[:-len(".global.bias")]
            parts = unit.split(".")
            blocks.setdefault(int(parts[1]), {})[int(parts[3])] = mean_argument(tensors, unit)
    with open(run / "log.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["val_accuracy"]]
    history = []
    for row in rows:
        units = [row[key] for key in sorted(row) if key.startswith("units_") and key[6:].isdigit()]
        history.append(f"{100 * float(row['val_accuracy']):.1f} % with "
                       f"{' '.join(f'{float(u):.1f}' for u in units)}, {float(row['dead_units']):.0f} dead")
    scores = "; ".join(" ".join(f"{sigmoid(units[u]):.2g}" for u in sorted(units))
                       for _, units in sorted(blocks.items()))
    print(f"{run.name}: {'; '.join(history)}; {float(rows[-1]['flops']) / 1e6:.0f} MFLOP; scores {scores or 'none'}")


if __name__ == "__main__":
    main()
