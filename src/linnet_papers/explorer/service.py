"""From what a reader set to what is shown: checked, computed once, at most a few at a time, and never a traceback."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, TypedDict

from linnet_papers.explorer import controls
from linnet_papers.explorer.cache import Cache
from linnet_papers.explorer.controls import ControlError, State
from linnet_papers.explorer.drawing import overlay_frozen
from linnet_papers.explorer.loading import import_modules
from linnet_papers.explorer.page import MAIN, Page, Part

if TYPE_CHECKING:
    import xarray as xr

CACHE_BYTES = 16 * 2**20  # of datasets: some hundred states of most pages
TIMEOUT_SECONDS = 30.0  # that a request waits for others to be computed
BUSY = "Others are being computed for: try again in a moment."
# The field of an address that holds the query of a frozen run, in assets/explorer.js too; no control may be called so.
FROZEN = "frozen"

_log = logging.getLogger("linnet_papers.explorer")


class Answer(TypedDict, total=False):
    """What the browser is sent: the figures (None while a part waits) in the order of the part's views, the query and
    the script; or one sentence of what is wrong, and the control that it is about. `showAnswer` of assets/explorer.js
    reads it."""

    figures: list[object] | None
    address: str
    script: str
    error: str
    control: str


class Service:
    """The pages by name; computes and draws their parts, `at_once` at a time, and keeps the datasets it computed."""

    def __init__(self, pages: tuple[Page, ...], *, at_once: int | None = None, cache_bytes: int = CACHE_BYTES) -> None:
        self.pages = {page.name: page for page in pages}
        self.cache: Cache[xr.Dataset] = Cache(cache_bytes, lambda dataset: dataset.nbytes)
        self.last_request = time.monotonic()  # seconds, as that clock counts them
        self._lock = Lock()
        self._running: dict[Hashable, Future[xr.Dataset]] = {}  # what is being computed just now
        # One less than there are cores: drawing and the browser need one, and linear algebra uses several by itself.
        self._slots = BoundedSemaphore(at_once or max(1, (os.cpu_count() or 2) - 1))

    def data(self, page: Page, part: Part, state: State, *, background: bool = False) -> xr.Dataset:
        """Return the dataset of a part: computed, or kept from before, so that whoever draws it must not change it.

        It is kept by page, part and the values of those controls that the part computes with. Who asks for what is
        being computed for somebody else waits for it, and gets its failure too. What is computed in the `background`
        takes no slot.
        """
        import_modules(page.modules)
        arguments = page.arguments(part, state)
        key = (page.name, part.name, tuple(arguments.values()))
        with self._lock:
            if (dataset := self.cache.get(key)) is not None:
                return dataset
            running = self._running.get(key)
            if running is None:
                mine = self._running[key] = Future()
        if running is not None:
            try:
                return running.result(TIMEOUT_SECONDS)
            except TimeoutError:
                raise ControlError(BUSY) from None
        try:
            with nullcontext() if background else self._computing_slot():
                dataset = part.compute(**arguments)
            self.cache.put(key, dataset)
            mine.set_result(dataset)
            return dataset
        except BaseException as reason:
            mine.set_exception(reason)
            raise
        finally:
            with self._lock:
                del self._running[key]

    @contextmanager
    def _computing_slot(self) -> Iterator[None]:
        """Wait for one of the few slots for a computation, and hold it within the `with` block."""
        if not self._slots.acquire(timeout=TIMEOUT_SECONDS):
            raise ControlError(BUSY)
        try:
            yield
        finally:
            self._slots.release()

    def answer(
        self, page: Page, part: Part, values: Mapping[str, object], frozen: str | None = None, background: bool = False
    ) -> Answer:
        """Return the answer to what a reader set; with `background` nobody has asked: it is computed ahead."""
        if not background:
            self.last_request = time.monotonic()
        try:
            state = controls.parse(page.controls, values)
            query = controls.query_string(page.controls, state)
            if part.waits(state):
                return {"figures": None, "address": query}
            figures = self.figures(page, part, state, background=background)
            if frozen is not None and page.can_freeze_run:
                before = self.figures(page, part, controls.parse(page.controls, frozen))
                figures = [overlay_frozen(now, then) for now, then in zip(figures, before, strict=True)]
            answer: Answer = {"figures": figures, "address": query}
            if part.name == MAIN:
                answer["script"] = page.script(state)
        except Exception as reason:
            return failure_answer(reason)
        return answer

    def figures(self, page: Page, part: Part, state: State, *, background: bool = False) -> list[object]:
        """Draw each view of a part: figures as dictionaries, or components of Dash."""
        data = self.data(page, part, state, background=background)
        return [view.draw(data, state) for view in part.views]


def failure_answer(reason: Exception) -> Answer:
    """Return the answer to a request that failed: one sentence; what no input is to blame for is logged in full.

    The text of a ValueError, ArithmeticError or RuntimeError is what the reader sees: whoever raises one below a page
    writes a sentence. Its attribute `control`, if it has one (`ControlError`), is the name of the control to mark.
    """
    if isinstance(reason, (ValueError, ArithmeticError, RuntimeError)) and str(reason):
        return {"error": " ".join(str(reason).split())[:400], "control": getattr(reason, "control", "")}
    if isinstance(reason, MemoryError):
        return {"error": "This would need more memory than there is: choose smaller sizes.", "control": ""}
    _log.error("a page failed", exc_info=reason)
    return {"error": f"This could not be computed ({type(reason).__name__}): change a value.", "control": ""}
