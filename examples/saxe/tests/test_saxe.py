"""The figure is within its limits, every claim has its verdict, and a deliberate error turns each of them."""

from collections.abc import Callable

import numpy as np
import pytest
from linnet_saxe import PAPER, networks, theory
from linnet_saxe.figures import fig3
from scipy.integrate import solve_ivp

from linnet_papers.reproduction import Trial, claims, figures, verify

CLAIMS = {claim.name: claim for claim in PAPER.claims}
QUICK = Trial(quick=True)


def test_linnet_knows_the_paper() -> None:
    assert "saxe-fig3" in figures()
    assert set(CLAIMS) <= set(claims())
    assert len(CLAIMS) >= 4


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.01), (0.05, 0.2), (1.5, 0.5)])
def test_the_hyperbola_solves_the_equations(first: float, second: float) -> None:
    times = np.linspace(0, 3, 20)
    run = solve_ivp(
        lambda _, y: [y[1] * (2 - y[0] * y[1]), y[0] * (2 - y[0] * y[1])],
        (0, 3),
        [first, second],
        t_eval=times,
        rtol=1e-11,
        atol=1e-13,
    )
    np.testing.assert_allclose(theory.unequal(2.0, first, second, times), run.y[0] * run.y[1], atol=1e-9)


def test_the_figure_is_within_its_limits() -> None:
    figure = PAPER.figures[0]
    data = figure.compute(figure.configure(quick=True), figure.panels)
    assert [check.passed for check in fig3.check(data)] == [True, True, None]
    assert len(fig3.plot(data).axes) == 2


@pytest.mark.parametrize("name", CLAIMS)
def test_the_verdict_is_the_expected_one(name: str) -> None:
    (found,) = verify([CLAIMS[name]], QUICK)
    assert found.as_expected, found


def slower(formula: Callable) -> Callable:
    return lambda s, *rest: formula(s / 2, *rest)


def coupled(start: Callable) -> Callable:
    def mixed(left: np.ndarray, *rest: object) -> object:
        weights = start(left, *rest)
        return type(weights)(weights.first, weights.second[::-1])

    return mixed


MUTATIONS = {
    "saxe-sigmoid": (theory, "balanced", slower),
    "saxe-hyperbola": (theory, "unequal", slower),
    "saxe-decoupling": (networks, "decoupled", coupled),
    "saxe-half-time": (theory, "half_time", slower),
    "saxe-learning-time": (theory, "learning_time", slower),
    "saxe-random-start": (theory, "rise_time", slower),
    "saxe-small-matters": (networks, "random_start", lambda start: lambda seed, std: start(seed, 1e-3)),
}


def test_every_claim_has_a_mutation() -> None:
    assert set(MUTATIONS) == set(CLAIMS)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_deliberate_error_turns_the_verdict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, function, wrong = MUTATIONS[name]
    monkeypatch.setattr(module, function, wrong(getattr(module, function)))
    assert not verify([CLAIMS[name]], QUICK)[0].as_expected
