"""The docstrings of `linnet.torch`: of the same form, with examples that run where PyTorch is."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")
pytest.importorskip("peft", reason="peft is not installed: make test-torch installs it")

from docstrings import failures, faults
from public_names import modules, public

MODULES = [name for name in modules() if name.startswith("linnet.torch")]


def test_they_have_the_form() -> None:
    found = public(["linnet.torch"])
    assert len(found) >= 7
    assert {name: faults(value) for name, value in found.items() if faults(value)} == {}


@pytest.mark.parametrize("module", MODULES)
def test_examples_are_true(module: str) -> None:
    assert not failures(module)
