#!/usr/bin/env python3
"""Whether a network gives over tiles what it gives with direct products, by two files of `sact predict --raw`:

    bench/compare_exact.py FAST.safetensors EXACT.safetensors [EPSILON [LIMIT]]

For each image the largest difference of its logits against the largest of them, which must be at most 1e-4 where all positions
halt after as many units; with LIMIT, that. Positions that halt elsewhere are counted. An image has a tie where, in the first block
in which any does, the longer run of one had at most 1e-3 more than EPSILON (0.01, the model's) of its remainder left: its score
lay at the threshold. What else moves in that image can follow from it.
"""
import array
import json
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    kinds = {"F32": "f", "I32": "i", "I64": "q"}
    found = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        values = array.array(kinds[info["dtype"]])
        begin, end = info["data_offsets"]
        values.frombytes(data[begin:end])
        found[name] = (info["shape"], values)
    return found


def per_image(values, image, images):
    each = len(values) // images
    return values[image * each:(image + 1) * each]


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__.strip())
    fast, exact = (tensors(path) for path in sys.argv[1:3])
    epsilon = float(sys.argv[3]) if len(sys.argv) > 3 else 0.01
    limit = float(sys.argv[4]) if len(sys.argv) > 4 else 1e-4
    images, classes = exact["logits"][0][0], exact["logits"][0][1]
    names = sorted(name[len("units."):] for name in exact if name.startswith("units."))
    moved = ties = positions = touched = agree = 0
    still, all_errors = [], []
    for image in range(images):
        here, tie = 0, False
        for name in names:
            a, b = (per_image(t["units." + name][1], image, images) for t in (fast, exact))
            positions += len(a)
            if a == b:
                continue
            first = here == 0
            costs = [per_image(t["ponder." + name][1], image, images) for t in (fast, exact)]
            for p in range(len(a)):
                if a[p] == b[p]:
                    continue
                here += 1
                longer = 0 if a[p] > b[p] else 1
                tie |= first and costs[longer][p] - (a, b)[longer][p] <= epsilon + 1e-3
        moved += here
        touched += here > 0
        ties += tie
        a, b = (per_image(t["logits"][1], image, images) for t in (fast, exact))
        agree += max(range(classes), key=lambda c: a[c]) == max(range(classes), key=lambda c: b[c])
        error = max(abs(x - y) for x, y in zip(a, b)) / max(abs(y) for y in b)
        all_errors.append(error)
        if not here:
            still.append(error)
    still.sort()
    print(f"{images} images: logits differ by {still[len(still) // 2]:.2g} of the largest (median), {still[-1]:.2g} at most, "
          f"in the {len(still)} where no position moved; {max(all_errors):.2g} in all; the same class in {agree}")
    print(f"{moved} of {positions} positions halt elsewhere, in {touched} images; {ties} of these have a tie")
    if not still[-1] <= limit or ties < touched:
        sys.exit("they are not equal")


main()
