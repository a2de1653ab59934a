#!/usr/bin/env python3
"""Makes the train/ and val/ folders that `sact train` reads from folders of classes.

    bench/split_folder.py OUT SOURCE... [--every 5] [--exclude PATTERN]...

Every SOURCE has one folder of images for each class; classes that several of them have are joined.
Of every class, sorted by name, each N-th image goes to OUT/val/CLASS and the others to
OUT/train/CLASS. Files are linked where the file system allows it and copied elsewhere; what is not
an image is left. Running it again changes nothing.
"""
import argparse
import fnmatch
import os
import pathlib
import shutil
import sys

SUFFIXES = {".jpg", ".jpeg", ".png"}


def images_of_classes(sources, excluded):
    """{class: its images, sorted by name}"""
    classes = {}
    for source in sources:
        if not source.is_dir():
            sys.exit(f"error: {source}: a folder with one folder for each class was expected")
        for folder in sorted(path for path in source.iterdir() if path.is_dir()):
            if any(fnmatch.fnmatch(folder.name, pattern) for pattern in excluded):
                continue
            images = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES]
            classes.setdefault(folder.name, []).extend(images)
    return {name: sorted(images, key=lambda path: path.name) for name, images in classes.items()}


def check(classes, every):
    for name, images in classes.items():
        if len(images) < every:
            sys.exit(f"error: class {name} has {len(images)} images, too few to give each {every}th "
                     "to validation; choose a smaller --every, or --exclude it")
        for image, after in zip(images, images[1:]):
            if image.name == after.name:
                sys.exit(f"error: {image} and {after} have one name: rename one of them")


def place(image, folder):
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / image.name
    if target.exists():
        return
    try:
        os.link(image, target)
    except OSError:
        shutil.copyfile(image, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT")
    parser.add_argument("sources", type=pathlib.Path, nargs="+", metavar="SOURCE")
    parser.add_argument("--every", type=int, default=5, metavar="N")
    parser.add_argument("--exclude", action="append", default=[], metavar="PATTERN",
                        help="leave out classes whose name matches, such as 'n02102040*'")
    arguments = parser.parse_args()
    if arguments.every < 2:
        sys.exit(f"error: --every {arguments.every}: at least 2 was expected, so that both parts get images")
    classes = images_of_classes(arguments.sources, arguments.exclude)
    check(classes, arguments.every)
    counts = {"train": 0, "val": 0}
    for name, images in classes.items():
        for index, image in enumerate(images, start=1):
            part = "val" if index % arguments.every == 0 else "train"
            place(image, arguments.out / part / name)
            counts[part] += 1
    print(f"{len(classes)} classes: {counts['train']} images in {arguments.out / 'train'}, "
          f"{counts['val']} in {arguments.out / 'val'}")


if __name__ == "__main__":
    main()
