#!/usr/bin/env python3
"""Finds validation photographs that have a near copy among the training photographs.

    bench/near_copies.py TRAIN VAL [--bits 28]

A photograph is described by 256 bits: whether each cell of a grid of 16x16 is darker than its right
neighbour. Two are near copies when at most --bits of them differ (0 are the same picture to the
eye). Prints one line for each validation photograph found, and how many there are at the end.
Needs the Debian packages python3-pil and python3-numpy.
"""
import argparse
import pathlib

import numpy
from PIL import Image

SUFFIXES = {".jpg", ".jpeg", ".png"}


def bits_of(path):
    with Image.open(path) as image:
        image.draft("L", (64, 64))  # JPEG: decodes at an eighth of the size where that is enough
        cells = numpy.asarray(image.convert("L").resize((17, 16), Image.BOX), dtype=numpy.int16)
    return numpy.packbits(cells[:, :-1] < cells[:, 1:])


def described(folder):
    paths = sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() in SUFFIXES)
    if not paths:
        raise SystemExit(f"error: {folder}: no JPEG or PNG files in it")
    return paths, numpy.stack([bits_of(path) for path in paths])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("val")
    parser.add_argument("--bits", type=int, default=28, help="how many of 256 may differ (default 28)")
    arguments = parser.parse_args()
    train, train_bits = described(arguments.train)
    val, val_bits = described(arguments.val)
    ones = numpy.array([bin(byte).count("1") for byte in range(256)], dtype=numpy.uint8)
    found = 0
    for path, bits in zip(val, val_bits):
        distances = ones[train_bits ^ bits].sum(axis=1, dtype=numpy.int32)
        nearest = int(distances.argmin())
        if distances[nearest] <= arguments.bits:
            found += 1
            print(f"{path} {train[nearest]} {distances[nearest]}")
    print(f"{found} of {len(val)} validation photographs have a near copy in training")


if __name__ == "__main__":
    main()
