"""Labeled images whose labels are in memory and whose pixels are read when they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from linnet import _arguments as arguments
from linnet._memory import check_fits
from linnet._randomness import Key, generator

TARGETS = ("signs", "labels")


@dataclass(frozen=True)
class Images:
    """Labeled images, whose pixels are read when they are drawn.

    **Attributes:**

    - `name`: of the set
    - `labels`: (image,)
    - `shape`: of one image
    - `classes`: their names
    - `source`: where the images are
    - `pair`: the two classes taken by default
    - `reader`: reads the images at given positions, rising, as (image, pixel) in [0, 1]: a set of 50 000 pictures takes
      no memory until some are drawn

    **Example:**

        >>> import numpy as np
        >>> from linnet.problems import Images
        >>> pixels = np.array([[0.0, 1.0], [1.0, 0.0]])
        >>> images = Images("toy", np.array([0, 1]), (2,), ("a", "b"), "nowhere", (0, 1), lambda chosen: pixels[chosen])
        >>> images.labels.tolist(), images.classes
        ([0, 1], ('a', 'b'))
    """

    name: str
    labels: Int[np.ndarray, " image"]
    shape: tuple[int, ...]
    classes: tuple[str, ...]
    source: str
    pair: tuple[int, int]
    reader: Callable[[np.ndarray], np.ndarray] = field(repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def pixels(self) -> Float[np.ndarray, "image pixel"]:
        """All images, (image, pixel) in [0, 1]."""
        size = 16 * len(self) * int(np.prod(self.shape))
        check_fits(size, f"all {len(self)} images of {self.name}", "Read some of them with `read(positions)`.")
        return self.read(np.arange(len(self)))

    def read(self, positions: Int[np.ndarray, " chosen"]) -> Float[np.ndarray, "chosen pixel"]:
        """The images at these positions, in their order."""
        order, back = np.unique(arguments.whole_numbers("positions", positions), return_inverse=True)
        if order.size and not 0 <= order[0] <= order[-1] < len(self):
            raise ValueError(f"`positions` must lie in 0..{len(self) - 1}: got {order[0]} to {order[-1]}.")
        return self.reader(order)[back]

    def two_classes(
        self,
        first: int | None = None,
        second: int | None = None,
        *,
        samples: int,
        key: Key,
        centered: bool = True,
        targets: str = "signs",
    ) -> tuple[Float[np.ndarray, "sample pixel"], Float[np.ndarray, " sample"]]:
        """A balanced draw of two classes as a regression: inputs (sample, pixel) and targets (sample,).

        **Arguments:** `first` and `second` are classes, `pair` unless given. With `centered` each pixel is centered
        over the draw; centered or raw, all are divided by one number, so that the mean square of a pixel is 1, and
        pixels that never vary are zero when centered. `targets` are "signs", +1 for `first` and -1 for `second`, or
        "labels", the numbers of the classes themselves.
        """
        n = arguments.count("samples", samples, least=2)
        if targets not in TARGETS:
            raise ValueError(f"`targets` must be one of {', '.join(TARGETS)}: got {targets!r}.")
        labels = tuple(self.pair[i] if label is None else label for i, label in enumerate((first, second)))
        for name, label in zip(("first", "second"), labels, strict=True):
            if not 0 <= arguments.count(name, label, least=0) < len(self.classes):
                raise ValueError(f"`{name}` must be a class of {self.name}, 0 to {len(self.classes) - 1}: got {label}.")
        if labels[0] == labels[1]:
            raise ValueError(f"`first` and `second` must be two classes: got {labels[0]} twice.")
        chosen, values = [], []
        for stream, (label, sign) in enumerate(zip(labels, (1.0, -1.0), strict=True)):
            wanted = n // 2 + (n % 2 if sign > 0 else 0)
            members = np.flatnonzero(self.labels == label)
            if members.size < wanted:
                raise ValueError(
                    f"`samples` asks for {wanted} images of class {label} of {self.name}: there are {members.size}. "
                    "Ask for fewer, or for another class."
                )
            chosen.append(generator(key, stream).choice(members, size=wanted, replace=False))
            values.append(np.full(wanted, sign if targets == "signs" else float(label)))
        inputs = self.read(np.concatenate(chosen))
        if centered:
            inputs = inputs - inputs.mean(axis=0)
        return inputs / np.sqrt((inputs**2).mean()), np.concatenate(values)
