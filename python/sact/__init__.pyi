import os
from collections.abc import Callable, Iterator
from typing import Any, Literal, Optional, Union, overload

import numpy as np
from numpy.typing import NDArray

__version__: str

# A Pillow image is Any, so that Pillow need not be there.
Picture = Union[str, os.PathLike[str], bytes, NDArray[np.uint8], Any]
Order = Literal["rgb", "bgr"]

class Error(ValueError): ...
class Cancelled(Error): ...

class Block:
    @property
    def ponder_map(self) -> NDArray[np.float32]: ...
    @property
    def units(self) -> NDArray[np.int32]: ...

class _Scored:
    @property
    def index(self) -> int: ...
    @property
    def label(self) -> str: ...
    @property
    def score(self) -> float: ...

class _Spent:
    @property
    def ponder_map(self) -> NDArray[np.float32]: ...
    @property
    def ponder_cost(self) -> float: ...
    @property
    def blocks(self) -> list[Block]: ...
    @property
    def flops(self) -> int: ...
    @property
    def dense_flops(self) -> int: ...
    @property
    def share(self) -> float: ...
    @property
    def ms(self) -> dict[str, float]: ...

class ClassScore(_Scored): ...

class Result(_Scored, _Spent):
    def top(self, count: int = 5) -> list[ClassScore]: ...
    @property
    def logits(self) -> NDArray[np.float32]: ...
    @property
    def probabilities(self) -> NDArray[np.float64]: ...

class Object(_Scored):
    @property
    def box(self) -> tuple[float, float, float, float]: ...

class Detections(_Spent):
    @property
    def objects(self) -> list[Object]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Object]: ...
    @property
    def box_flops(self) -> int: ...
    @property
    def dense_box_flops(self) -> int: ...
    @property
    def proposals(self) -> int: ...
    @property
    def scaled_height(self) -> int: ...
    @property
    def scaled_width(self) -> int: ...

class _Model:
    @property
    def labels(self) -> list[str]: ...
    @property
    def input_size(self) -> int: ...
    @property
    def units(self) -> list[int]: ...
    @property
    def parameters(self) -> int: ...
    @property
    def adaptive(self) -> bool: ...
    @property
    def budgets(self) -> Optional[tuple[float, float]]: ...
    @property
    def remarks(self) -> list[str]: ...
    @overload
    def saliency(
        self,
        image: Union[list[Picture], tuple[Picture, ...]],
        *,
        size: int = 0,
        blur: float = 10.0,
        center_weight: float = 0.005,
        center_sigma: float = 0.25,
        budget: Optional[float] = None,
        hard_budget: Optional[float] = None,
        halting_shift: Optional[float] = None,
        order: Order = "rgb",
        max_pixels: int = 100000000,
        progress: Optional[Callable[[int, int], object]] = None,
        cancelled: Optional[Callable[[], bool]] = None,
    ) -> list[NDArray[np.float32]]: ...
    @overload
    def saliency(
        self,
        image: Picture,
        *,
        size: int = 0,
        blur: float = 10.0,
        center_weight: float = 0.005,
        center_sigma: float = 0.25,
        budget: Optional[float] = None,
        hard_budget: Optional[float] = None,
        halting_shift: Optional[float] = None,
        order: Order = "rgb",
        max_pixels: int = 100000000,
        progress: Optional[Callable[[int, int], object]] = None,
        cancelled: Optional[Callable[[], bool]] = None,
    ) -> NDArray[np.float32]: ...
    def dense_flops(self, height: int, width: int) -> int: ...

class Classifier(_Model):
    @overload
    def __call__(
        self,
        image: Union[list[Picture], tuple[Picture, ...]],
        *,
        size: int = 0,
        whole: bool = False,
        budget: Optional[float] = None,
        hard_budget: Optional[float] = None,
        halting_shift: Optional[float] = None,
        order: Order = "rgb",
        max_pixels: int = 100000000,
        progress: Optional[Callable[[int, int], object]] = None,
        cancelled: Optional[Callable[[], bool]] = None,
    ) -> list[Result]: ...
    @overload
    def __call__(
        self,
        image: Picture,
        *,
        size: int = 0,
        whole: bool = False,
        budget: Optional[float] = None,
        hard_budget: Optional[float] = None,
        halting_shift: Optional[float] = None,
        order: Order = "rgb",
        max_pixels: int = 100000000,
        progress: Optional[Callable[[int, int], object]] = None,
        cancelled: Optional[Callable[[], bool]] = None,
    ) -> Result: ...
    def warm_up(self, images: int = 1, size: int = 0) -> None: ...

class Detector(_Model):
    @overload
    def __call__(
        self,
        image: Union[list[Picture], tuple[Picture, ...]],
        *,
        score: float = 0.05,
        most: int = 100,
        boxes: int = 0,
        all_boxes: bool = False,
        hard_budget: Optional[float] = None,
        halting_shift: Optional[float] = None,
        order: Order = "rgb",
        max_pixels: int = 100000000,
        progress: Optional[Callable[[int, int], object]] = None,
        cancelled: Optional[Callable[[], bool]] = None,
    ) -> list[Detections]: ...
    @overload
    def __call__(
        self,
        image: Picture,
        *,
        score: float = 0.05,
        most: int = 100,
        boxes: int = 0,
        all_boxes: bool = False,
        hard_budget: Optional[float] = None,
        halting_shift: Optional[float] = None,
        order: Order = "rgb",
        max_pixels: int = 100000000,
        progress: Optional[Callable[[int, int], object]] = None,
        cancelled: Optional[Callable[[], bool]] = None,
    ) -> Detections: ...
    def warm_up(self, height: int = 0, width: int = 0) -> None: ...

# A Classifier or a Detector, as the file says. It is Any, so that what is done with it needs no check;
# "model: sact.Classifier = sact.load(path)" tells a type checker which.
def load(
    path: Union[str, os.PathLike[str]],
    *,
    precision: Optional[Literal["fp32", "bf16", "fp16", "int8"]] = None,
    threads: int = 0,
    batch: int = 8,
    exact: bool = False,
    device: str = "cpu",
    isa: Optional[str] = None,
) -> Any: ...
def devices() -> list[str]: ...
