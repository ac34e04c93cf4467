"""The first page: its runs are those of the formula, its steps states that pages take, its cards have pictures."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

pytest.importorskip("dash", reason="the explorer needs dash: pip install 'linear-networks[explorer]'")

import linnet_papers.explorer
from linnet_papers.explorer import controls
from linnet_papers.explorer.home import RUNS, VALUES, home, moving_runs
from linnet_papers.explorer.layout import content
from linnet_papers.explorer.lecture import STEPS
from linnet_papers.explorer.pages import PAGES
from linnet_papers.explorer.service import Service

ASSETS = Path(linnet_papers.explorer.__file__).parent / "assets"
DRAWN = moving_runs()


@pytest.mark.parametrize("run", DRAWN, ids=[f"g={run['threshold']:g}" for run in DRAWN])
def test_a_run_solves_the_equation_of_its_modes(run):
    def slope(time, modes):
        return 2 * np.sqrt(modes**2 + run["threshold"] ** 2) * (np.array(VALUES) - modes)

    times = np.linspace(0, run["end"], len(run["modes"][0]))
    solved = solve_ivp(
        slope, (0, times[-1]), np.zeros(len(VALUES)), t_eval=times, rtol=1e-8, atol=1e-10, method="LSODA"
    )
    np.testing.assert_allclose(run["modes"], solved.y, atol=0.02)  # the end is written to three digits
    assert run["words"] == RUNS[run["threshold"]]


def test_a_small_start_learns_one_mode_after_the_other_and_a_large_one_all_at_once():
    def half(run):  # when each mode is half learned, as a share of the run
        return [np.argmax(np.array(mode) > value / 2) for mode, value in zip(run["modes"], VALUES, strict=True)]

    small, large = half(DRAWN[0]), half(DRAWN[-1])
    assert all(later > 1.5 * before for before, later in pairwise(small))
    assert max(large) <= min(large) + 2


def test_steps_and_cards_lead_to_pages():
    made = home(list(PAGES))
    links = [one.href for one in made._traverse() if getattr(one, "href", None)]
    steps = [f"{step.address}#step-{number}" for number, step in enumerate(STEPS, 1)]
    assert links == [steps[0], *steps, *(f"/{page.name}" for page in PAGES)]
    for step in STEPS:
        path, _, query = step.address.partition("?")
        state = controls.parse(step.page.controls, query)
        assert path == f"/{step.page.name}" and all(state[name] == value for name, value in step.values.items())
    for page in PAGES:
        assert page.card.endswith(".") and (ASSETS / "thumbnails" / f"{page.name}.webp").stat().st_size > 1000


def test_the_bare_address_is_the_first_page_and_no_other():
    service = Service(PAGES)
    assert content(service, "/", "").id == content(service, None, None).id == "home-page"
    assert content(service, "/train", "").id == "train-page"
