"""Inequalities of appendix B: the induction of stage 1, Eq. (13), and the steps of the proxy in stage 2."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from linnet_papers.huang import misprints, settings
from linnet_papers.huang.tables import neurons
from linnet_papers.huang.training.runs import FeatureRun, train_inside
from linnet_papers.reproduction import AllOf, AtLeast, AtMost, Limit, Numbers, Trial, Verdict, Within, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest

assumed = partial(claim, assumes=settings.ASSUMED)
NONE = Limit(0, "it is said of all r")
ABSOLUTE = Limit(0.1, "what XX' differs by from a multiple of the identity, sqrt(n/d): 7% in quick mode")
PROXY_OFF = Limit(0.1, "XX' is a multiple of the identity to a few percent, and the proxy diverges at the end")


@lru_cache(maxsize=3)
def _train_with_every_step(trial: Trial, growth_times: float, ratio: float | None, draw: int) -> FeatureRun:
    """Train a network inside the assumption and keep every step, once for several claims."""
    key = [trial.seed, draw] if draw else trial.seed
    return train_inside(key, **settings.size(trial.quick), ratio=ratio, growth_times=growth_times, states=100_000)


@assumed(
    "eq13",
    says="Through stage 1 rho and v of every neuron lie between discrete sinh and cosh with gamma_l and gamma_u, with "
    "absolute constants C1, C2.",
    tried=settings.INSIDE,
    holds=AtMost(
        0.01,
        what="share of neurons that break the bounds on v at step 1",
        form=".0%",
        because="the share of neurons that may break a bound said to hold for all of them",
    ),
    expected=Verdict.REFUTED,
    reads="at step 1 both bounds on v are v_0^2 whatever the constants, and v_r(1) = v_r(0) + eta/(mn) <w_r(0), X'y> "
    "is off by up to {largest:.1g}; rho needs C2 = {upper:.3g} and, with gamma_l in the lower bound, C1 = {lower:.3g}",
)
def bounds_of_the_first_stage(trial: Trial) -> Numbers:
    run = _train_with_every_step(trial, 1.0, None, 0)
    history = run.history
    gamma = history.gamma
    v0 = history.magnitudes[0]
    until = run.first_state_at_t1()
    steps = run.steps[1:until]
    rho = (history.alignments[:until] * v0)[1:]
    v = (history.magnitudes[:until] * v0)[1:]
    growth = run.scales["learning_rate"] * np.sqrt(gamma) / run.data.samples
    unit = run.data.trace / gamma**1.5  # gamma_u = gamma (1 + C unit)^2
    scale = np.sqrt(gamma) * v0[0] ** 2 / 2
    # at step 1 the two printed bounds on v coincide at v_0^2 for every gamma_u and gamma_l: only c_r = 0 satisfies both
    gaps = np.abs(v[0] / v0**2 - 1)
    return {
        "value": (gaps > 1e-12).mean(),  # beyond rounding
        "largest": gaps.max(),
        "upper": (_solve_growth_factors(rho.max(axis=1), steps, growth, scale) - 1).max() / unit,
        "lower": (1 - _solve_growth_factors(rho.min(axis=1), steps, growth, scale)).max() / unit,
    }


def _solve_growth_factors(values: np.ndarray, steps: np.ndarray, growth: float, scale: float) -> np.ndarray:
    """Solve scale ((1 + growth x)^t - (1 - growth x)^t) = value for x at each step t: the factor of the growth with
    which the bound would touch the value."""
    from scipy.optimize import brentq

    def growth_factor(value: float, t: int) -> float:
        return brentq(lambda x: scale * ((1 + growth * x) ** t - (1 - growth * x) ** t) - value, 0.0, 10.0, xtol=1e-13)

    return np.array([growth_factor(value, int(t)) for value, t in zip(values, steps, strict=True)])


RATIOS = {"alike": None, "0.3": 0.3, "0.03": 0.03}  # v_0/(sigma_0 sqrt(log m)); alike: the admissible v_0
IF_ALIKE = "it holds for every neuron where v_0 is well above sigma_0 sqrt(log m)"


@assumed(
    "eq13-weights",
    says="Through stage 1 each w_r - w_r(0) is along X'y/gamma up to C (tr/gamma^(3/2)) rho_r/sqrt(gamma), C absolute.",
    tried=settings.INSIDE
    + ", with the admissible v_0 (neurons alike) and v_0/(sigma_0 sqrt(log m)) = 0.3, 0.03, 3 draws",
    holds=AtMost(ABSOLUTE, "constants", what="constant needed", form=".2g"),
    corrected=AtMost(ABSOLUTE, what="constant needed where the neurons are alike", form=".2g"),
    correction=IF_ALIKE,
    reads="the constant needed in stage 1, worst neuron and step: {constants:.2g}",
)
def weights_of_the_first_stage(trial: Trial) -> Numbers:
    def needed_constant(ratio: float | None, draw: int) -> float:
        """Return the least C with which every neuron keeps the bound through stage 1."""
        run = _train_with_every_step(trial, 1.0, ratio, draw)
        stage = slice(1, run.first_state_at_t1())
        shares = run.history.deviations[stage] / np.abs(run.history.alignments[stage])
        return shares.max() * run.history.gamma**2 / run.data.trace

    constants = {name: highest(needed_constant(ratio, draw) for draw in range(3)) for name, ratio in RATIOS.items()}
    return {"value": constants["alike"], "constants": constants}


@assumed(
    "lemmaB1-products",
    says="rho_r(t) v_r(t) >= rho_r(1) v_r(1) > 0 for t >= 1 and all r.",
    tried=settings.INSIDE + ", with the admissible v_0 (neurons alike) and v_0/(sigma_0 sqrt(log m)) = 0.3, 0.03",
    holds=AtMost(NONE, "failing", what="share of neurons for which it fails", form=".0%"),
    corrected=AtMost(NONE, what="share where the neurons are alike", form=".0%"),
    correction=IF_ALIKE,
    reads="the share of neurons for which it fails at some step until t1: {failing:.0%}",
)
def products_from_the_first_step(trial: Trial) -> Numbers:
    def failing_share(ratio: float | None) -> float:
        """Return the share of neurons for which the inequality fails at some step of stage 1."""
        run = _train_with_every_step(trial, 1.0, ratio, 0)
        products = (run.history.alignments * run.history.magnitudes)[1 : run.first_state_at_t1()]
        return ((products < products[0]).any(axis=0) | (products[0] <= 0)).mean()

    failing = {name: failing_share(ratio) for name, ratio in RATIOS.items()}
    return {"value": failing["alike"], "failing": failing}


@assumed(
    "lemmaB1-quadratic",
    says="By Lemma A.3 |X(w_r - w_s)|^2 <= 2n |w_r - w_s|_Sigma^2 for the trained weights of any two neurons.",
    tried=settings.INSIDE + "; 200 pairs of neurons of opposite sign at t1",
    holds=AtMost(1.0, what="largest left side over the right", form=".0f", because="the inequality as printed"),
    expected=Verdict.REFUTED,
    reads="|X(w_r - w_s)|^2 over 2n |w_r - w_s|_Sigma^2 is {value:.0f} at most, {median:.0f} for the median pair; "
    "tr/(2n), what a vector in the span of the inputs has, is {span:.0f} (Lemma A.3 is for vectors apart from X)",
)
def quadratic_form_of_trained_weights(trial: Trial) -> Numbers:
    run = _train_with_every_step(trial, 1.0, None, 0)
    at = run.first_state_at_t1()
    W = run.trajectory.weights_at(at).first
    signs = np.sign(run.history.magnitudes[at])
    up, down = (np.flatnonzero(signs == sign)[:200] for sign in (1, -1))
    pairs = min(len(up), len(down))
    gaps = W[up[:pairs]] - W[down[:pairs]]  # Sigma = I
    ratios = ((gaps @ run.data.inputs.T) ** 2).sum(axis=1) / (2 * run.data.samples * (gaps**2).sum(axis=1))
    span = run.data.trace / (2 * run.data.samples)
    return {"value": ratios.max(), "median": np.median(ratios), "span": span}


@assumed(
    "lemmaB2-output",
    says="(2/m)|X'X W v| is at most (9/2) sqrt(gamma) through stage 2.",
    tried=settings.OVER_RATIOS,
    holds=AtMost(4.5, "pulls", what="largest (2/m)|X'X W v|/sqrt(gamma)", form=".3f", because="the bound as printed")
    & AtLeast(1.9, "pulls", what="the same", form=".3f", because="at the end X W v/m = y and it is 2: it was reached"),
    reads="(2/m)|X'X W v|/sqrt(gamma), the largest of each run, by v_0/(sigma_0 sqrt(log m)): {pulls:.3f}",
)
def size_of_the_output_gradient(trial: Trial) -> Numbers:
    return {"pulls": neurons.TABLE.rows(trial)["pull"]}


PROXY_RATIOS = {"alike": None, "v_0 = sigma_0 sqrt(log m)": 1.0}


def _proxy_rules(where: str = "", gone: str = "gone", least: str = "least", largest: str = "largest") -> AllOf:
    """Return what Lemma B.2 says of every neuron's proxy, as rules over the numbers of these names."""
    quarter = Limit(0.25, "Lemma B.2: a step multiplies the proxy by at least 1 + eta sqrt(gamma)/(4mn)")
    bound = Limit(1.0, "the bound as printed")
    return AllOf(
        AtMost(NONE, gone, what=f"share of neurons whose proxy ceases to exist{where}", form=".0%"),
        AtLeast(quarter, least, what=f"least growth of a step over eta sqrt(gamma)/(mn){where}", form=".2g"),
        AtMost(bound, largest, what=f"largest factor of a step over the printed bound{where}", form=".2f"),
    )


@claim(
    "proxy-step",
    says="Every neuron's proxy escalates exponentially until the loss is 4 epsilon: each step multiplies it by at "
    "least 1 + eta sqrt(gamma)/(4mn), and by at most 3/2 (1 + 3/2 eta sqrt(gamma)/(mn)).",
    assumes=settings.ASSUMED_AND_DOMINANT,
    tried=settings.INSIDE + ", with the admissible v_0 (neurons alike) and with v_0 = sigma_0 sqrt(log m)",
    holds=_proxy_rules(),
    corrected=_proxy_rules(" where the neurons are alike", "value", "least_alike", "largest_alike"),
    correction=IF_ALIKE + "; elsewhere the rho_r^2 of some pass the limit of the mean",
    reads="each neuron's proxy from t1 until the loss is 4 epsilon; it ceases to exist for a share of {gone:.0%}, and "
    "grows in the others, in units of eta sqrt(gamma)/(mn) a step, by {least:.2g} and more, {most:.2g} and less",
)
def proxy_step(trial: Trial) -> Numbers:
    numbers = by_name(
        {name: _proxy_growth(_train_with_every_step(trial, 8.0, ratio, 0)) for name, ratio in PROXY_RATIOS.items()}
    )
    alike = {f"{name}_alike": numbers[name]["alike"] for name in ("least", "largest")}
    return {"value": numbers["gone"]["alike"], **numbers, **alike}


def _proxy_growth(run: FeatureRun) -> Numbers:
    """Return the share of neurons whose proxy ceases to exist in stage 2, the least and the most growth of the others
    in a step, and the largest factor of a step over the printed bound."""
    history = run.history
    gamma = run.history.gamma
    stage = slice(run.first_state_at_t1(), int(np.argmax(history.loss <= 4 * settings.EPSILON)) + 1)
    proxy = misprints.appendix_proxy(history.alignments[stage], gamma=gamma, trace=run.data.trace)
    growth = run.scales["learning_rate"] * np.sqrt(gamma) / run.data.samples
    exists = np.isfinite(proxy).all(axis=0)
    factor = proxy[1:, exists] / proxy[:-1, exists] if exists.any() else np.full((1, 1), np.nan)
    return {
        "gone": (~exists).mean(),
        "least": (factor.min() - 1) / growth,
        "most": (factor.max() - 1) / growth,
        "largest": factor.max() / (1.5 * (1 + 1.5 * growth)),
    }


@assumed(
    "proxy-end",
    says="The proxy escalates until it reaches sqrt((1 - epsilon)|y|^2/(n epsilon phi/gamma^(5/2))), where the loss is "
    "epsilon.",
    tried=settings.INSIDE + ", the proxy of the mean of rho_r^2 where the loss is 0.1, 0.05 and 0.02 of its start",
    holds=Within(PROXY_OFF, "printed", of=1, what="the proxy over its printed value", form=".2f"),
    corrected=Within(PROXY_OFF, "right", of=1, what="the proxy over sqrt((1 - e)/(e phi/gamma^(5/2)))", form=".2f"),
    correction="it is sqrt((1 - e)/(e phi/gamma^(5/2))) with e = sqrt(2 n epsilon)/|y|, the root of the loss's share",
    reads="the proxy of the mean over its printed value, by the share of the loss: {printed:.2f}; over the value with "
    "the root of the share: {right:.2f}",
)
def proxy_end(trial: Trial) -> Numbers:
    run = _train_with_every_step(trial, 8.0, None, 0)
    rows = {}
    for share in (0.1, 0.05, 0.02):
        at = run.first_state_at_share(share)
        proxy = run.stages.proxy(run.history.alignments[at])
        root = np.sqrt(run.loss_share[at])
        printed = misprints.final_proxy(run.stages, run.history.loss[at])
        rows[share] = {"printed": proxy / printed, "right": proxy / np.sqrt((1 - root) / root * run.stages.limit)}
    return by_name(rows)


@assumed(
    "final-loss",
    says="L(t2) <= 2|beta|^2 (eps_lambda/tr)^2 + eps_rho^2 |beta|^2 tr^2 + O(sigma_0^2 gamma^(1/2)), eps_rho the "
    "share of its limit that rho^2 lacks.",
    tried=settings.INSIDE
    + ", at every saved state after t1; eps_lambda is |XX' - tr I|, eps_rho by the mean of rho_r^2",
    holds=AtMost(
        1.0, what="loss over the bound without tr^2", form=".2f", because="the inequality, in its sharper form"
    )
    & AtLeast(0.01, what="the same", form=".2f", because="a bound a hundred times too large would say nothing"),
    reads="the largest ratio of the loss to the bound after t1 is {printed:.1e} as printed, {value:.2f} without the "
    "tr^2, which comes from eps_rho XX' for eps_rho I",
)
def final_loss(trial: Trial) -> Numbers:
    run = _train_with_every_step(trial, 8.0, None, 0)
    history = run.history
    data = run.data
    later = run.history.times > run.first_time()
    gap = np.linalg.norm(data.inputs @ data.inputs.T - data.trace * np.eye(data.samples), 2)
    lacking = 1 - history.mean_square[later] * data.trace / history.gamma**1.5
    size = max(data.signal**2, (data.outputs**2).mean())  # 2|beta|^2 bounds |y|^2/n in the proof
    fixed = 2 * size * (gap / data.trace) ** 2 + run.scales["first_std"] ** 2 * np.sqrt(history.gamma)
    printed, right = (
        (history.loss[later] / (fixed + lacking**2 * size * factor)).max() for factor in (data.trace**2, 1.0)
    )
    return {"value": right, "printed": printed}
