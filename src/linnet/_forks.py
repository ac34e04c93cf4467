"""Whether this process was forked from one that had used JAX, whose threads a fork leaves behind: it would hang."""

from __future__ import annotations

import os
import sys

_forked_after_use = False  # in a child of a child too


def _note_use_before_fork() -> None:
    """Note, in the child right after a fork, whether JAX had been used before: its threads have not survived.

    What has been initialized is copied from the parent, so it tells what the parent did. `linnet` imports this file
    first of all, as only forks after that are noted.
    """
    global _forked_after_use
    bridge = sys.modules.get("jax._src.xla_bridge")  # JAX has no public name for this
    _forked_after_use = _forked_after_use or getattr(bridge, "backends_are_initialized", lambda: False)()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_use_before_fork)


def refuse() -> None:
    """Raise `RuntimeError` in a process that cannot compute: `precision.computing`, which all trainers enter, asks."""
    if _forked_after_use:
        raise RuntimeError(
            "linnet cannot compute in a process that was forked after JAX was used: JAX's threads do not survive a "
            "fork, so that it would hang. Start processes by `multiprocessing.get_context('spawn')`, or fork before "
            "anything is computed."
        )
