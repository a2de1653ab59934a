#!/usr/bin/env python3
"""How far the logits of two files of `sact predict --raw` are apart; fails above 1e-4 of the largest.

    bench/compare_logits.py A.safetensors B.safetensors
"""
import array
import json
import struct
import sys


def logits(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        begin, end = header["logits"]["data_offsets"]
        file.seek(begin, 1)
        values = array.array("f", file.read(end - begin))
    return header["logits"]["shape"], values


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    (shape, first), (other_shape, second) = (logits(path) for path in sys.argv[1:])
    if shape != other_shape:
        sys.exit(f"shapes differ: {shape} and {other_shape}")
    difference = max(abs(a - b) for a, b in zip(first, second))
    largest = max(abs(a) for a in first)
    print(f"logits of {shape[0]} images: largest {largest:.4g}, largest difference {difference:.2g} "
          f"({difference / largest:.2g} of it)")
    if not difference <= 1e-4 * largest:
        sys.exit("they are not equal")


main()
