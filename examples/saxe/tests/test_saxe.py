"""The figure is within its limits, each row of every claim decides, and an error turns each of them."""

from collections.abc import Callable

import numpy as np
import pytest
from linnet_saxe import PAPER, networks, theory
from linnet_saxe.figures import fig3
from scipy.integrate import solve_ivp

from linnet_papers.reproduction import claims, figures
from linnet_papers.testing import Mutation, argument, claims_tests, wrong

CLAIMS = {claim.name: claim for claim in PAPER.claims}


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
    assert [row.met for row in fig3.check(data) if row.limit] == [True, True]
    assert len(fig3.plot(data).axes) == 2


def slower(formula: Callable) -> Callable:
    return lambda s, *rest: formula(s / 2, *rest)


def coupled(start: Callable) -> Callable:
    def mixed(left: np.ndarray, *rest: object) -> object:
        weights = start(left, *rest)
        return type(weights)(weights.first, weights.second[::-1])

    return mixed


MUTATIONS = {
    "slow-sigmoid": Mutation("sigmoid", wrong(theory, "balanced", slower)),
    "slow-hyperbola": Mutation("hyperbola", wrong(theory, "unequal", slower)),
    "coupled-modes": Mutation("decoupling", wrong(networks, "decoupled", coupled)),
    "late-half": Mutation("half-time", wrong(theory, "half_time", slower)),
    "late-mode": Mutation("learning-time", wrong(theory, "learning_time", slower)),
    "slow-rise": Mutation("random-start", wrong(theory, "rise_time", slower)),
    "never-large": Mutation("small-matters", argument(networks, "random_start", 1, lambda std: 1e-3)),
}
test_rows, test_mutations = claims_tests(PAPER, MUTATIONS)
