"""BibTeX of what stands behind predictions and functions."""

import inspect
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import linnet as ln
from linnet import citations
from public_names import modules, public

ROOT = Path(__file__).parents[1]


def keys(text):
    return re.findall(r"^@\w+{([\w-]+),$", text, re.MULTILINE)


def test_of_predictions_functions_and_modules():
    weights = ln.inits.orthogonal(key=0, in_dim=2, out_dim=2, width=5, scale=0.1)
    prediction = ln.predict(ln.Problem.from_target(np.diag([2.0, 0.5])), weights, [0.0, 1.0])
    assert keys(ln.citation(prediction)) == ["tu2024"]
    both = ln.citation(ln.theories.spectral_bias.mirror, prediction, ln.theories.spectral_bias.mirror)
    assert keys(both) == ["varre2023", "tu2024"]
    assert keys(ln.citation(ln.theories.spiked)) == ["watanabe2026"]  # named without a year
    assert keys(ln.citation(ln.theories.lazy_active.balanced_solution))[0] == "domine2024"


def test_linnet_itself():
    assert keys(ln.citation()) == ["linnet"] and ln.__version__ in ln.citation()
    assert "linnet" in keys(ln.citation(ln.theories.deep.deep_diagram))  # a formula of our own
    assert keys(ln.citation(ln.gradient_flow)) == ["linnet"]  # no reference


@pytest.mark.parametrize("subject", ["varre", 3, np.linalg.svd, None], ids=["text", "number", "of NumPy", "None"])
def test_what_is_not_of_linnet_has_no_entry(subject):
    with pytest.raises(ValueError, match=r"`subjects` must be predictions"):
        ln.citation(subject)


def test_every_paper_that_a_reference_names_with_its_year_has_an_entry():
    unknown = set()
    for value in public([name for name in modules() if name.startswith("linnet.theories")]).values():
        if inspect.isroutine(value) or inspect.isclass(value):
            named = citations.NAMED.findall(citations._reference(value))
            unknown |= {name + year for name, year in named if year and not citations._entry(name, year)}
    assert not unknown


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert ln.__version__ == declared == cited[1]
