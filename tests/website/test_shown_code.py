"""Code on the pages runs: the blocks of a page in order, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.site


@pytest.mark.parametrize("name", ["index.md", "howto/width.md"])
def test_the_code_of_the_page_runs(name: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    space: dict[str, object] = {}
    for block in blocks:
        exec(block, space)
    run = space["run"]
    assert run.loss[-1] < 0.1 * run.loss[0]  # type: ignore[attr-defined]


def test_float32_is_what_is_asked_for() -> None:
    import linnet as ln

    start = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**9, stds=1e-5)
    problem = ln.Problem.from_target([[2.0, 0.0], [0.0, 1.0]])
    run = ln.gradient_descent(problem, start, learning_rate=0.1, steps=5, dtype="float32")
    assert run.loss.dtype.name == "float32"
    assert ln.gradient_descent(problem, start, learning_rate=0.1, steps=5).loss.dtype.name == "float64"
