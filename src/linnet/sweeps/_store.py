"""A store: a folder with a manifest and one file per finished block. The files are the ledger.

A block that is there and whole is done; one that is missing or damaged is to be computed. Nothing else is remembered,
so any number of processes may work on a store at once: at worst two compute the same block, and write the same bytes.
"""

from __future__ import annotations

import errno
import json
import re
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from linnet._files import DRAFT, write_whole
from linnet.sweeps import _blocks as blocks
from linnet.sweeps._blocks import Block
from linnet.sweeps._status import Status, counted
from linnet.sweeps.configuration import Sweep, differences, digest
from linnet.sweeps.errors import CellFunctionError, ChangedError, StoreError
from linnet.sweeps.grid import Grid
from linnet.trajectories.datasets import provenance

FORMAT = 1
MANIFEST, VARIABLES = "manifest.json", "variables.json"
OURS = re.compile(rf"{re.escape(MANIFEST)}|{re.escape(VARIABLES)}|\d{{7,}}\.npz|.*{re.escape(DRAFT)}")
OLD_DRAFT_SECONDS = 3600.0  # after which a draft is that of a dead process
Job = tuple[int, tuple[int, ...] | None]  # a block, and the positions of the cells to compute; None: all
OF_EARLIER = (
    "{folder} is a store of linnet 0.3 or older, which this version does not read. Convert it where that version is "
    'installed: `linnet sweep GRID.toml --store {folder} --resume` finishes it, and `python -c "import xarray; '
    "xarray.open_zarr('{folder}').load().to_netcdf('results.nc')\"` keeps it. Choose another folder for this version."
)


def described(sweep: Sweep, tile: Iterable[int], code: dict[str, str]) -> dict[str, Any]:
    """The manifest of a sweep."""
    return {
        "format": FORMAT,
        "configuration": sweep.plain(),
        "tile": list(tile),
        "code": code,
        "origin": provenance(),
    }


def attributes(manifest: dict[str, Any], device: str) -> dict[str, Any]:
    """The attributes of a dataset: version, commit, configuration, code, seed, precision and device."""
    configuration, code = manifest["configuration"], manifest["code"]
    return {
        "title": configuration["name"],
        **manifest["origin"],
        "configuration": json.dumps(configuration, sort_keys=True),
        "code": json.dumps(code, sort_keys=True),
        "seed": configuration["seed"],
        "dtype": configuration["dtype"] or "as the function has it",
        "device": device or "none yet",
        "python": code["python"],
        "numpy": code["numpy"],
    }


def check_variables(variables: dict[str, Any], known: dict[str, Any], sweep: Sweep, grid: Grid) -> None:
    """Refuse variables that differ from the variables of earlier blocks, or that clash with the coordinates."""
    if known:
        if changes := differences(known, variables):
            raise CellFunctionError(
                f"`{sweep.function}` must return the same variables, shapes and types for all blocks: {changes}."
            )
        return
    lengths = {name: len(labels) for name, labels in sweep.coords.items()}
    for name, (dims, shape, _) in variables.items():
        if name in grid.coords or name in sweep.coords:
            raise CellFunctionError(f"`{sweep.function}` returns `{name}`, which is the name of a coordinate.")
        for dim, length in zip(dims, shape):
            if dim in grid.coords or dim in variables or lengths.setdefault(dim, length) != length:
                raise CellFunctionError(
                    f"dimension `{dim}` of `{name}`, of length {length}, clashes with an axis, a variable or another "
                    f"length of `{dim}`."
                )


@dataclass
class Store:
    """The store in a folder, as its manifest describes it."""

    folder: Path
    manifest: dict[str, Any]
    code: dict[str, str]  # of this process
    damaged: set[int] = field(default_factory=set)  # blocks found not to be whole
    abouts: dict[int, dict[str, Any]] = field(default_factory=dict)  # what files say that were read or written
    kinds: dict[str, Any] = field(default_factory=dict)  # the content of `VARIABLES`, once it is known

    @classmethod
    def begin(cls, folder: Path, sweep: Sweep, code: dict[str, str], *, changed_code: bool = False) -> Store:
        """The store of `sweep`, made or joined. Of processes that begin together one makes the manifest."""
        wanted = described(sweep, Grid.of(sweep).tile, code)
        with _errors(folder):
            _refuse_foreign(folder)
            if not (folder / MANIFEST).exists():
                folder.mkdir(parents=True, exist_ok=True)
                fresh = cls(folder, wanted, code)
                for number in fresh.numbers():
                    with suppress(StoreError):  # damaged ones are found later
                        fresh.about(number)
                        break
                else:
                    if any(True for _ in fresh.numbers()):
                        raise StoreError(
                            f"`store`: {folder} holds blocks and no {MANIFEST}, and none of them is whole and of "
                            "this sweep. Choose another folder."
                        )
                _publish(folder / MANIFEST, wanted)
            for draft in folder.glob(f"*{DRAFT}"):
                with suppress(OSError):
                    if time.time() - draft.stat().st_mtime > OLD_DRAFT_SECONDS:
                        draft.unlink()
        store = cls.existing(folder, code)
        if changes := differences(store.sweep.plain(), sweep.plain()):
            empty = "" if any(True for _ in store.numbers()) else " It holds no finished cell, so you may remove it."
            raise ChangedError(
                f"`store`: {folder} was made by a different configuration ({changes}). Put it back, or choose "
                f"another folder.{empty}"
            )
        if not changed_code and (changes := differences(store.manifest["code"], code)):
            raise ChangedError(
                f"`store`: {folder} was begun by other code ({changes}). Put it back, choose another folder, or go on "
                "with this code (--changed-code, changed_code=True): each block says by which it was computed."
            )
        if store.variables and not (folder / VARIABLES).exists():  # it was damaged, and removed
            with _errors(folder):
                _publish(folder / VARIABLES, store.kinds)
        return store

    @classmethod
    def existing(cls, folder: Path, code: dict[str, str] | None = None) -> Store:
        """A store that is there."""
        try:
            manifest = _opened(folder / MANIFEST)
        except (FileNotFoundError, NotADirectoryError):
            _refuse_foreign(folder)
            raise StoreError(f"`store`: {folder} is not a store of linnet: it has no {MANIFEST}.") from None
        if manifest.get("format") != FORMAT:
            raise StoreError(
                f"`store`: {folder} was written by a newer linnet (format {manifest.get('format')}, this version reads "
                f"{FORMAT}). Install that version, or choose another folder."
            )
        store = cls(folder, manifest, code or manifest["code"])
        try:
            if store.grid.blocks < 1 or min(store.grid.tile) < 1:
                raise ValueError("its blocks have no cells")
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{folder / MANIFEST} describes no sweep: {error!r}.") from None
        return store

    @cached_property
    def sweep(self) -> Sweep:
        """Its configuration."""
        return Sweep(**self.manifest["configuration"])

    @cached_property
    def grid(self) -> Grid:
        """Its cells."""
        return Grid.of(self.sweep, self.manifest["tile"])

    @cached_property
    def key(self) -> str:
        """What each block says it belongs to."""
        return digest([self.manifest["configuration"], self.manifest["tile"]])

    def path(self, number: int) -> Path:
        """The file of a block."""
        return self.folder / f"{number:07d}.npz"

    def numbers(self) -> Iterator[int]:
        """The blocks whose files are there, whole or not."""
        return (int(file.stem) for file in sorted(self.folder.glob("*.npz")) if OURS.fullmatch(file.name))

    def about(self, number: int) -> dict[str, Any] | None:
        """Summary of a block from its file, None without a file; the file is read once, and checked whole."""
        if number not in self.abouts and (found := self._content(number)) is not None:
            self.abouts[number] = {name: value for name, value in found[1].items() if name != "dims"}
        return self.abouts.get(number)

    def read(self, number: int) -> Block | None:
        """A block, None where it is not there."""
        found = self._content(number)
        try:
            return None if found is None else blocks.block_from_bytes(found[0])
        except Exception as error:  # a sound digest, and yet no block: the readers of ZIP and NPY may raise anything
            raise self._damage(number, error) from error

    def _content(self, number: int) -> tuple[bytes, dict[str, Any]] | None:
        """The bytes of a block's file, checked by their digest, and the summary of the block."""
        try:
            data = self.path(number).read_bytes()
            about = blocks.unsealed(data)
            if (about["sweep"], about["block"]) != (self.key, number):
                raise ValueError("it belongs to another sweep or another place")
            return data, about
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damage(number, error) from error

    def _damage(self, number: int, error: Exception) -> StoreError:
        """The error of a file that is there and cannot be used."""
        return StoreError(f"{self.path(number)} is damaged ({error}). Resume the sweep: it is computed again.")

    def missing(self, numbers: Iterable[int], *, retry_failed: bool = False) -> list[Job]:
        """Cells of these blocks to compute: missing or damaged blocks, and failed cells if requested."""
        missing: list[Job] = []
        for number in numbers:
            try:
                about = self.about(number)
            except StoreError as error:
                warnings.warn(str(error), stacklevel=3)
                self.damaged.add(number)
                about = None
            if about is None:
                missing.append((number, None))
            elif retry_failed and about["failed"]:
                failed = self.read(number)
                missing.append((number, None if failed is None else tuple(sorted(failed.failures))))
        return missing

    def appeared(self, job: Job) -> bool:
        """Whether a block that was missing has been written by another process meanwhile."""
        number, positions = job
        if positions is not None or number in self.damaged:
            return False
        with suppress(StoreError):
            return self.about(number) is not None
        return False

    def write(self, job: Job, block: Block) -> None:
        """Write a block: its file appears whole or not at all, and stays after a power cut."""
        number, positions = job
        if block.variables:
            self._declare(block)
        if positions is not None:
            before = self.read(number)
            if before is None:
                raise StoreError(f"{self.path(number)} has been removed meanwhile. Resume the sweep.")
            block = before.merged(positions, block)
        try:
            data = blocks.packed(block, {"sweep": self.key, "block": number})
        except ValueError as error:
            raise CellFunctionError(f"`{self.sweep.function}`: {error}.") from None
        with _errors(self.folder):
            write_whole(self.path(number), data)
        self.abouts[number] = block.summary()

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of all blocks, with the names of their dimensions, lengths and types."""
        return self._known()["variables"]

    @property
    def device(self) -> str:
        """What computed the first block."""
        return self._known()["device"]

    def _known(self) -> dict[str, Any]:
        """The content of `VARIABLES`; where that is lost, of the first block that has variables."""
        if not self.kinds:
            with suppress(FileNotFoundError):
                self.kinds = _opened(self.folder / VARIABLES)
        for number in self.numbers() if not self.kinds else ():
            with suppress(StoreError):
                block = self.read(number)
                if block is not None and block.variables:
                    self.kinds = _kinds(block)
                    break
        return self.kinds or {"variables": {}, "device": ""}

    def _declare(self, block: Block) -> None:
        """Check the variables of a block before it is written; the first one of all processes settles them for all."""
        check_variables(block.variables, self.variables, self.sweep, self.grid)
        if not (self.folder / VARIABLES).exists():
            with _errors(self.folder):
                _publish(self.folder / VARIABLES, self.kinds or _kinds(block))
            self.kinds = _opened(self.folder / VARIABLES)
            check_variables(block.variables, self.variables, self.sweep, self.grid)

    def status(self, numbers: Iterable[int] | None = None) -> Status:
        """How far these blocks are, or all."""
        damaged = 0
        found: dict[int, dict[str, Any]] = {}
        for number in self.numbers() if numbers is None else numbers:
            try:
                about = self.about(number)
            except StoreError:
                damaged += 1
            else:
                found |= {} if about is None else {number: about}
        return replace(counted(self.sweep, self.grid, self.manifest["code"], found, self.read), damaged=damaged)


def _kinds(block: Block) -> dict[str, Any]:
    """The content of `VARIABLES` by a block."""
    return {"variables": block.variables, "device": "; ".join(block.devices)}


def _publish(path: Path, content: dict[str, Any]) -> None:
    """Make a file, unless it is there. It appears whole, and only one of several processes makes it."""
    write_whole(path, json.dumps({**content, "digest": digest(content)}, indent=1), replace=False)


def _opened(path: Path) -> dict[str, Any]:
    """The content of a file that `_publish` made."""
    try:
        content = json.loads(path.read_bytes())
        if content.pop("digest") == digest(content):
            return content
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}.") from None
    except (ValueError, KeyError, AttributeError):
        pass
    raise StoreError(f"{path} is damaged. Remove it and resume: it is made again, and the blocks stay valid.")


def _refuse_foreign(folder: Path) -> None:
    """Refuse a path that holds something else than a store of this version."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"`store`: {folder} is a file, not the folder of a store. Choose another path.")
    if (folder / "ledger.sqlite").exists():
        raise StoreError(OF_EARLIER.format(folder=folder))
    if folder.is_dir() and not (folder / MANIFEST).exists():
        others = sorted(entry.name for entry in folder.iterdir() if not OURS.fullmatch(entry.name))
        if others:
            raise StoreError(
                f"`store`: {folder} is not a store of linnet: it holds {', '.join(others[:3])} and no {MANIFEST}. "
                "Choose another path."
            )


@contextmanager
def _errors(folder: Path) -> Iterator[None]:
    """Raise what the operating system says about the store as a `StoreError`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreError(
                f"the disk of {folder} is full. Finished cells are intact: make room and resume."
            ) from error
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write to {folder}: {reason}. Choose a folder that can be written to.") from error
