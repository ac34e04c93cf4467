"""How far a sweep is, in a few numbers and in a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linnet.sweeps._blocks import Block
from linnet.sweeps.configuration import Sweep, digest
from linnet.sweeps.grid import Grid


@dataclass(frozen=True)
class Status:
    """Progress of a sweep.

    **Attributes:**

    - `name`: name of the sweep
    - `cells`: number of cells in the grid
    - `done`: number of finished cells
    - `failed`: number of failed cells
    - `damaged`: number of blocks whose file is incomplete; they are computed again
    - `unfinished`: number of cells that their function marks as unfinished, such as networks that reach the last step
      before `stop`
    - `other_code`: number of blocks that were computed by other code than the first blocks
    - `example`: coordinates and message of a failed cell
    - `devices`: devices that computed the cells

    **Example:**

        >>> from linnet.sweeps import Status
        >>> print(Status("mine", cells=10, done=4))
        mine: 4 of 10 cells done
    """

    name: str
    cells: int
    done: int = 0
    failed: int = 0
    damaged: int = 0
    unfinished: int = 0
    other_code: int = 0
    example: str = ""
    devices: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.name}: {self.done} of {self.cells} cells done"
        text += f", {self.failed} failed (e.g. {self.example})" if self.failed else ""
        text += f"; {self.damaged} damaged blocks, which --resume computes again" if self.damaged else ""
        text += f"; {self.other_code} blocks were computed by other code than the first" if self.other_code else ""
        early = f"; {self.unfinished} cells reached the last step before `stop` was met"
        return text + (f"{early} (`unfinished` marks them)" if self.unfinished else "")


def counted(
    sweep: Sweep,
    grid: Grid,
    code: dict[str, str],
    abouts: dict[int, dict[str, Any]],
    read: Callable[[int], Block | None],
) -> Status:
    """The status of a sweep of whose finished blocks `abouts` says what their files do; `read` gives a whole one."""
    example = ""
    for number in [number for number, about in abouts.items() if about["failed"]][:1]:
        if (block := read(number)) is not None:
            position, reason = next(iter(block.failures.items()))
            example = f"{grid.place(number, position)}: {' '.join(reason.split())}"
    total = {name: sum(about[name] for about in abouts.values()) for name in ("cells", "failed", "unfinished")}
    return Status(
        sweep.name,
        grid.cells,
        total["cells"] - total["failed"],
        total["failed"],
        unfinished=total["unfinished"],
        other_code=sum(list(about["code"]) != [digest(code)] for about in abouts.values()),
        example=example,
        devices=tuple(sorted({device for about in abouts.values() for device in about["devices"]})),
    )
