"""The registry of figures: complete, well-formed, and forgiving of a wrong name."""

from __future__ import annotations

import json
from types import ModuleType

import pytest

from linnet_papers.reproduction.registry import figures, papers
from linnet_papers.reproduction.registry import find_among as find

# Every figure of the four papers, with the letters of its panels.
EXPECTED = {
    "watanabe-fig1": "",
    "watanabe-fig2": "",
    "watanabe-fig3": "ab",
    "watanabe-fig4": "",
    "watanabe-fig5": "ab",
    "varre-fig1": "ab",
    "varre-fig2": "",
    "varre-fig3": "ab",
    "varre-fig4": "",
    "varre-fig5": "ab",
    "huang-fig1": "",
    "huang-fig2": "",
    "huang-fig3": "",
    "tu-fig1": "ab",
    "tu-fig2": "abcd",
}


def test_every_figure_of_the_papers_is_there_in_their_order() -> None:
    known = figures()
    assert [name for name in known if name in EXPECTED] == list(EXPECTED)
    for name, letters in EXPECTED.items():
        assert set(letters) <= set(known[name].panels), name
    assert sum(max(len(letters), 1) for letters in EXPECTED.values()) == 24


@pytest.mark.parametrize("name", EXPECTED)
def test_each_is_well_formed(name: str) -> None:
    figure = figures()[name]
    assert figure.paper in papers() and name.startswith(figure.paper)
    for text in (figure.title, figure.caption):
        assert text.strip() == text and "\n" not in text and "$" not in text
    assert figure.title and not figure.title.endswith(".")
    assert figure.caption.endswith(".")
    usual, quick = figure.configure(), figure.configure(quick=True)
    assert usual != quick  # the quick run is smaller in something
    for settings in (usual, quick):
        again = json.loads(json.dumps(settings.model_dump(mode="json")))
        assert figure.settings(**again) == settings
    assert figure.configure(seed=7).seed == 7
    assert all(option in figure.settings.model_fields for option in figure.options)
    assert all(len(panel) == 1 and panel.isalpha() for panel in figure.panels)


def test_a_name_finds_its_figure_and_panels(toys: ModuleType) -> None:
    known = toys.FIGURES
    assert find("watanabe-fig1", known) == (known["watanabe-fig1"], ("a", "b"))
    assert find("watanabe-fig1b", known)[1] == ("b",)
    assert find("watanabe-fig1ba", known)[1] == ("a", "b")


def test_settings_refuse_what_they_do_not_know(toys: ModuleType) -> None:
    with pytest.raises(ValueError, match="wdth"):
        toys.FIGURES["watanabe-fig1"].configure(wdth=3)
