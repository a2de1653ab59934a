#!/usr/bin/env python3
"""How alike the ponder cost maps of two files of `sact predict --raw` are: the correlation over all
positions of each block, and how many positions have the same number of units.

    bench/compare_maps.py A.safetensors B.safetensors
"""
import array
import json
import math
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    found = {}
    for name, entry in header.items():
        if not name.startswith(("ponder.", "units.")):
            continue
        begin, end = entry["data_offsets"]
        values = array.array("f" if entry["dtype"] == "F32" else "q")
        values.frombytes(data[8 + length + begin:8 + length + end])
        found[name] = values
    return found


def correlation(a, b):
    n = len(a)
    mean_a, mean_b = sum(a) / n, sum(b) / n
    both = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    of_a, of_b = sum((x - mean_a) ** 2 for x in a), sum((y - mean_b) ** 2 for y in b)
    return both / math.sqrt(of_a * of_b) if of_a > 0 and of_b > 0 else float(list(a) == list(b))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    first, second = (tensors(path) for path in sys.argv[1:])
    for name in sorted(first):
        a, b = first[name], second[name]
        if len(a) != len(b):
            sys.exit(f"{name}: {len(a)} positions, and {len(b)}")
        same = sum(x == y for x, y in zip(a, b)) / len(a)
        print(f"{name}: correlation {correlation(a, b):.4f}, equal at {100 * same:.1f} % of {len(a)} positions")
    everything = [[v for name in sorted(t) if name.startswith("ponder.") for v in t[name]] for t in (first, second)]
    print(f"all blocks: correlation {correlation(*everything):.4f}")


main()
