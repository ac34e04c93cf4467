"""Regular expressions of a stranger's file: matched in a separate process, which has a deadline.

Some expressions take longer than the age of the universe on names of forty letters, and Python cannot interrupt them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

TIMEOUT_SECONDS = 10
MAX_PATTERNS = 10_000
_PLAIN = re.compile(r"(?:[\w-]|\\?\.)*")  # nothing to try twice
_PROGRAM = """
import json, re, sys
patterns, names = json.load(sys.stdin)
whole = [re.compile(rf"(.*\\.)?({pattern})$") for pattern in patterns]
print(json.dumps([next((i for i, one in enumerate(whole) if one.match(name)), None) for name in names]))
"""


def values_by_pattern(patterns: Mapping[str, Any] | None, names: Iterable[str], what: str) -> dict[str, Any]:
    """Return the value of the first pattern that matches a name, for the names that one matches.

    A pattern matches a whole name or what follows one of its dots, as in peft; `what` the patterns are is told where
    they take too long.
    """
    names = list(names)
    if not patterns or not names:
        return {}
    if len(patterns) > MAX_PATTERNS:
        raise ValueError(f"{what} must hold at most {MAX_PATTERNS} patterns: got {len(patterns)}.")
    values = list(patterns.values())
    if all(_PLAIN.fullmatch(pattern) for pattern in patterns):
        whole = [re.compile(rf"(.*\.)?({pattern})$") for pattern in patterns]
        found = [next((i for i, one in enumerate(whole) if one.match(name)), None) for name in names]
    else:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _PROGRAM],
                input=json.dumps([list(patterns), names]),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=True,
            )
        except subprocess.TimeoutExpired:
            raise ValueError(
                f"{what} takes more than {TIMEOUT_SECONDS} s to compare with the names of the modules. Write patterns "
                "without one repetition inside another."
            ) from None
        except subprocess.CalledProcessError as reason:
            last = reason.stderr.strip().splitlines()[-1:] or ["no message"]
            raise ValueError(f"{what} cannot be compared with the names of the modules: {last[0][:200]}.") from None
        found = json.loads(done.stdout)
    return {name: values[index] for name, index in zip(names, found, strict=True) if index is not None}
