"""Residual networks that decide, position by position, how many layers each part of a picture needs.

    import sact

    model = sact.load("m.safetensors")
    result = model("cat.jpg")
    print(result.label, result.share)      # what it is, and how much of the dense network's work it took
    result.ponder_map                      # where the network spent its layers: a NumPy array

A picture is a path, the bytes of a file, a NumPy array of uint8 or a Pillow image. Models may be called
from several threads; they release the interpreter's lock while they run.
"""

try:
    import numpy  # noqa: F401  (maps are its arrays)
except ImportError as error:
    raise ImportError("sact needs NumPy; on Debian: apt-get install python3-numpy") from error

from ._native import (
    Block,
    Cancelled,
    Classifier,
    ClassScore,
    Detections,
    Detector,
    Error,
    Object,
    Result,
    __version__,
    devices,
    load,
)

__all__ = [
    "Block",
    "Cancelled",
    "ClassScore",
    "Classifier",
    "Detections",
    "Detector",
    "Error",
    "Object",
    "Result",
    "devices",
    "load",
]

for _public in __all__:
    globals()[_public].__module__ = "sact"
del _public, numpy
