"""Every public function and class says what it is, what goes in, what comes out, and shows it in an example that
runs."""

from __future__ import annotations

import inspect

import pytest

from docstrings import failures, faults
from public_names import methods, modules, public

MODULES = [name for name in modules() if not name.startswith("linnet.torch")]  # those run in tests/pytorch
NAMES = public(MODULES)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_documented(name: str) -> None:
    assert not faults(NAMES[name]), f"{name} lacks {'; '.join(faults(NAMES[name]))}"


@pytest.mark.parametrize("name", [name for name, value in NAMES.items() if inspect.isclass(value)])
def test_methods_say_what_they_do(name: str) -> None:
    assert not [label for label, value in methods(NAMES[name]) if not value.__doc__]  # type: ignore[arg-type]


@pytest.mark.parametrize("module", MODULES)
def test_examples_are_true(module: str) -> None:
    assert not failures(module)


def test_the_rules_can_fail(tmp_path, monkeypatch) -> None:
    def silent(width):
        return width

    def wrong(width: int) -> int:
        """The width of a network, doubled.

        **Arguments:**

        - `depth`: how deep it is.

        >>> 1 + 1
        2
        """
        return 2 * width

    assert faults(silent) == ["a docstring"]
    assert faults(wrong) == ["in its list of arguments: width", "what is returned"]
    assert {"linnet.theories.ridge:risk", "linnet.problems.problem:Problem"} <= set(NAMES) and len(NAMES) > 200
    (tmp_path / "untrue_example.py").write_text('"""A module.\n\n>>> 1 + 1\n3\n"""\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert "Expected:\n    3" in failures("untrue_example")
