"""A copy of a Pascal VOC folder whose photographs have a given shorter side: for trainings at that size, a tenth of the bytes.

    /usr/bin/python3 bench/shrink_voc.py VOC OUT [SIDE]        # python3-pil; default: 320

Images of the splits train and val, and their boxes; none is enlarged. What is there already is left as it is.
"""
import pathlib
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

SPLITS = ("train", "val")


def shrink_boxes(source, target, scale, size):
    """Counted from 1 with the last pixel included: a box is [min - 1, max] of pixels, and one at least."""
    tree = ElementTree.parse(source)
    for box in tree.iter("bndbox"):
        for axis, factor in zip("xy", scale):
            first, last = box.find(axis + "min"), box.find(axis + "max")
            start = (float(first.text) - 1) * factor + 1
            first.text, last.text = f"{start:.2f}", f"{max(start, float(last.text) * factor):.2f}"
    for name, value in zip(("width", "height"), size):
        for number in tree.iter(name):
            number.text = str(value)
    tree.write(target)


def shrink(voc, out, name, side):
    image, boxes = out / "JPEGImages" / f"{name}.jpg", out / "Annotations" / f"{name}.xml"
    if boxes.exists():
        return
    with Image.open(voc / "JPEGImages" / f"{name}.jpg") as picture:
        factor = min(1.0, side / min(picture.size))
        size = tuple(max(1, round(length * factor)) for length in picture.size)
        picture.convert("RGB").resize(size, Image.LANCZOS).save(image, "JPEG", quality=82)
        scale = tuple(new / old for new, old in zip(size, picture.size))
    shrink_boxes(voc / "Annotations" / f"{name}.xml", boxes, scale, size)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    voc, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    side = int(sys.argv[3]) if len(sys.argv) > 3 else 320
    for part in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (out / part).mkdir(parents=True, exist_ok=True)
    names = []
    for split in SPLITS:
        names += (voc / "ImageSets" / "Main" / f"{split}.txt").read_text().split()
        shutil.copy(voc / "ImageSets" / "Main" / f"{split}.txt", out / "ImageSets" / "Main")
    with ThreadPoolExecutor() as pool:
        for _ in pool.map(lambda name: shrink(voc, out, name, side), names):
            pass
    print(f"{len(names)} photographs are in {out}")


if __name__ == "__main__":
    main()
