"""What pages compute with, imported when it is first needed, by one thread at a time.

Of two threads that import a package and a module of it at once, each can hold what the other waits for; Python then
gives one of them half a module. So whatever computes or draws imports its modules here before.
"""

from __future__ import annotations

from importlib import import_module
from threading import Lock

TRAINING = (
    "linnet.theories",
    "linnet.theories.lazy_active",
    "linnet.trainers",
)  # for the page that opens first: the fewest
ALL = (
    *TRAINING,
    "linnet.inits",
    "linnet.problems",
    "linnet.observables",
    "linnet.forecasts",
    "linnet_papers.reproduction",
)

_lock = Lock()
_loaded: set[str] = set()


def import_modules(names: tuple[str, ...] = ALL) -> None:
    """Import these modules, one after the other, unless they are loaded."""
    if _loaded.issuperset(names):
        return
    with _lock:
        for name in names:
            import_module(name)
            _loaded.add(name)
