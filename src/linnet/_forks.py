"""Whether this process was forked from one that had used JAX, whose threads a fork leaves behind: it would hang."""

from __future__ import annotations

import os
import sys

_after_use = False


def _note_use_before_fork() -> None:
    """Note, in the parent before a fork, whether JAX has been used: its threads do not survive in the child."""
    global _after_use
    bridge = sys.modules.get("jax._src.xla_bridge")  # JAX has no public name for this
    _after_use = _after_use or getattr(bridge, "backends_are_initialized", lambda: False)()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_use_before_fork)


def refuse() -> None:
    """Raise `RuntimeError` in a process that cannot compute."""
    if _after_use:
        raise RuntimeError(
            "linnet cannot compute in a process that was forked after JAX was used: JAX's threads do not survive a "
            "fork, so that it would hang. Start processes by `multiprocessing.get_context('spawn')`, or fork before "
            "anything is computed."
        )
