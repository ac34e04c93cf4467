"""As Python: scripts are the sources of what pages compute, whole, and import nothing of the explorer."""

from __future__ import annotations

import ast
import sys
from types import ModuleType

import pytest

from linnet_papers.explorer import as_python
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.pages import PAGES

OWN_SOURCE = [page for page in PAGES if page.own_script is None]


@pytest.mark.parametrize("page", OWN_SOURCE, ids=lambda page: page.name)
def test_a_script_holds_the_sources_and_imports_only_public_modules(page):
    state = defaults(page.controls)
    text = page.script(state)
    tree = ast.parse(text)
    homes = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [home for home in homes if "explorer" in home or "._" in home]
    for part in page.parts:
        if not part.waits(state):
            assert f"def {part.compute.__name__}(" in text
    assert [line for line in text.splitlines() if line.startswith("print(")]


def module(name: str, text: str, folder, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of `computing` that exists for one test."""
    path = folder / f"{name}.py"
    path.write_text(text)
    full = f"{as_python.COMPUTING}.{name}"
    made = ModuleType(full)
    made.__file__ = str(path)
    exec(compile(text, str(path), "exec"), made.__dict__)
    monkeypatch.setitem(sys.modules, full, made)
    return made


def test_what_a_function_uses_comes_before_it_and_once(tmp_path, monkeypatch):
    module("first_of_test", "SIZE, OTHER = 3, 4  # kept\ndef helper(n):\n    return n + SIZE\n", tmp_path, monkeypatch)
    text = f"from {as_python.COMPUTING}.first_of_test import OTHER, SIZE, helper\nUNUSED = 1\n"
    text += "def compute(*, n):\n    return helper(n) * SIZE * OTHER\n"
    second = module("second_of_test", text, tmp_path, monkeypatch)
    script = as_python.script({"data": (second.compute, {"n": 2})})
    assert script.count("SIZE, OTHER = 3, 4  # kept") == 1 and "UNUSED" not in script
    names: dict = {}
    exec(script, names)
    assert names["data"] == second.compute(n=2) == 60


def test_two_meanings_of_one_name_are_refused(tmp_path, monkeypatch):
    module("third_of_test", "SIZE = 3\ndef helper():\n    return SIZE\n", tmp_path, monkeypatch)
    text = f"from {as_python.COMPUTING}.third_of_test import helper\nSIZE = 4\n"
    text += "def compute():\n    return helper() * SIZE\n"
    fourth = module("fourth_of_test", text, tmp_path, monkeypatch)
    with pytest.raises(ValueError, match=r"SIZE is defined in .*_of_test and .*_of_test: a script can have only one"):
        as_python.script({"data": (fourth.compute, {})})
