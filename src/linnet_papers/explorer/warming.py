"""Importing and compiling ahead of requests: what opens first at once, the others while the server is idle."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from linnet_papers.explorer.loading import import_modules

if TYPE_CHECKING:
    from linnet_papers.explorer.service import Service

QUIET_SECONDS = 2.0  # without a request, before something is computed ahead
SWITCH_SECONDS = 5e-4  # that a thread keeps Python to itself while the first page is computed; Python's own are 5e-3


def warm_first_page(service: Service) -> threading.Thread:
    """Compute the moving picture and the first page's defaults in the background, while the browser reads its scripts.

    Whoever asks for it meanwhile waits for it: nothing is compiled twice. Returns the thread, which has been started.
    """
    from linnet_papers.explorer.home import moving_runs

    page = next(iter(service.pages.values()))

    def compute() -> None:
        """Import and compute, and let other threads in more often meanwhile."""
        usual = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)  # a request in between is answered soon
        try:
            moving_runs()  # needs no JAX
            import_modules(page.modules)
            _start_thread(_load_xarray, "linnet-datasets")  # while JAX compiles, which needs no Python
            service.answer(page, page.parts[0], {})
        finally:
            sys.setswitchinterval(usual)

    return _start_thread(compute, "linnet-first-page")


def warm_other_pages(service: Service) -> threading.Thread:
    """Compute what pages want ahead one by one, each when there has been no request for a while: all first views,
    then what a reader may ask for next. Returns the thread, which has been started."""
    from linnet_papers.explorer import controls  # late: it loads NumPy, and the server starts without

    def compute() -> None:
        """Compute the first query of each page, then the second, ..., whenever the server is idle."""
        pages = list(service.pages.values())
        for turn in range(max(len(page.prefetch_queries) for page in pages)):
            for page in pages:
                if turn < len(page.prefetch_queries):
                    state = controls.parse(page.controls, page.prefetch_queries[turn])
                    for part in page.parts:
                        _wait_until_idle(service)
                        service.answer(page, part, state, background=True)

    return _start_thread(compute, "linnet-other-pages")


def _wait_until_idle(service: Service) -> None:
    """Wait until there has been no request for a while."""
    while time.monotonic() - service.last_request < QUIET_SECONDS:
        time.sleep(QUIET_SECONDS / 4)


def _load_xarray() -> None:
    """Make a first dataset: xarray then loads what it knows of other arrays."""
    import xarray as xr

    xr.Dataset({"loaded": ("nothing", [0.0])})


def _start_thread(target: Callable[[], object], name: str) -> threading.Thread:
    """Start a thread that does not keep Python from ending, and return it."""
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
