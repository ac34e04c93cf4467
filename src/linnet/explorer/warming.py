"""What is compiled before anybody asks: the first page at once, the others while nobody waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linnet.explorer.service import Service

QUIET = 2.0  # seconds without a request before something is computed that nobody has asked for


def first_page(service: Service) -> threading.Thread:
    """Computes the first page's defaults in the background, while the application is still being put together.

    Whoever asks for it meanwhile waits for it: nothing is compiled twice.
    """
    page = next(iter(service.pages.values()))
    return _started(lambda: service.answer(page, page.parts[0], {}), "linnet-first-page")


def other_pages(service: Service) -> threading.Thread:
    """Computes the defaults of the other pages one by one, each when there has been no request for a while."""

    def compute() -> None:
        for page in list(service.pages.values())[1:]:
            for part in page.parts:
                while time.monotonic() - service.asked < QUIET:
                    time.sleep(QUIET / 4)
                service.answer(page, part, {}, background=True)

    return _started(compute, "linnet-other-pages")


def _started(what: Callable[[], object], name: str) -> threading.Thread:
    thread = threading.Thread(target=what, name=name, daemon=True)
    thread.start()
    return thread
