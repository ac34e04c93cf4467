"""Inequalities of appendix B: the induction of stage 1, Eq. (13), and the steps of the proxy in stage 2."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

import linnet as ln
from linnet._randomness import Key
from linnet_papers.huang import misprints, settings
from linnet_papers.huang.grids import neurons, starts
from linnet_papers.huang.training.runs import FeatureRun, scales_inside, train, train_inside
from linnet_papers.reproduction import Estimate, Numbers, Rows, Trial, Verdict, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent, highest, lowest
from linnet_papers.reproduction.rows import at_least, at_most, below, corrected, fact, printed, within

assumed = partial(claim, assumes=settings.ASSUMED)
NONE = at_most(0, "it is said of all $r$")
ABSOLUTE = at_most(0.1, r"what $X X^\top$ differs by from a multiple of the identity, $\sqrt{n/d}$: 7% in quick mode")


@lru_cache(maxsize=3)
def _train_with_every_step(trial: Trial, growth_times: float, ratio: float | None, draw: int) -> FeatureRun:
    """Train a network inside the assumption and keep every step, once for several claims."""
    key = [trial.seed, draw] if draw else trial.seed
    return train_inside(key, **settings.size(trial.quick), ratio=ratio, growth_times=growth_times, states=100_000)


@assumed(
    "eq13",
    says=r"Through stage 1 $\rho$ and $v$ of every neuron lie between discrete sinh and cosh with $\gamma_l$ and "
    r"$\gamma_u$, with absolute constants $C_1$, $C_2$.",
    tried=r"unit-signal data inside Assumption 4.1: $d = 2000$, $m = 512$, $n = 5, 10, 20, 40$, 12 draws of each "
    "(quick: 4), every step until $t_1$; the $C_2$ that the upper bound on $\\rho$ needs for every neuron",
    expected=Verdict.REFUTED,
)
def bounds_of_the_first_stage(trial: Trial) -> Rows:
    sizes = (5, 10, 20, 40)
    draws = range(4 if trial.quick else 12)
    needed = np.array([[_constants_of_bounds([trial.seed, n, draw], n) for draw in draws] for n in sizes])
    upper, lower, gap = np.moveaxis(needed, -1, 0)  # (n, draw) each
    power = Estimate(*exponent(sizes, upper))
    absolute = below(
        0.5, "an absolute constant has power 0, the relative spread of the $c_r$ times $\\gamma^{3/2}/\\mathrm{tr}$ 3/2"
    )
    first, second = (dict(zip(sizes, np.median(each, axis=1), strict=True)) for each in (lower, upper))
    yield printed("power of $n$ with which $C_2$ grows", power, absolute)
    yield fact(r"$C_2$ that $\rho$ needs, median of the draws, by $n$", second)
    yield fact(r"$C_1$ that $\rho$ needs with $\gamma_l$ in the lower bound, median, by $n$", first)
    yield fact("largest relative distance of $v_r(1)$ from both bounds, which are $v_0$ at step 1", gap.max())


def _constants_of_bounds(key: Key, samples: int) -> tuple[float, float, float]:
    """Return the C2 and C1 that the bounds on rho need, and how far a v_r(1) is from the bounds on it."""
    data = ln.problems.gaussian_teacher(key=key, dim=2000, samples=samples, signal=1.0)
    scales = scales_inside(data, width=512)
    root = float(np.linalg.norm(data.inputs.T @ data.outputs))
    scales["learning_rate"] = 0.05 * samples / root
    run = train(data, key, steps=int((np.arcsinh(1 / (scales["magnitude"] * root)) + 1) / 0.05), **scales)
    history = run.history
    gamma = history.gamma
    v0 = history.magnitudes[0]
    until = run.first_state_at_t1()
    steps = run.steps[1:until]
    rho = (history.alignments[:until] * v0)[1:]
    v = (history.magnitudes[:until] * v0)[1:]
    growth = run.growth_unit
    unit = run.data.trace / gamma**1.5  # gamma_u = gamma (1 + C unit)^2
    scale = np.sqrt(gamma) * v0[0] ** 2 / 2
    # at step 1 the two printed bounds on v coincide at v_0^2 for every gamma_u and gamma_l
    gaps = np.abs(v[0] / v0**2 - 1)
    upper = (_solve_growth_factors(rho.max(axis=1), steps, growth, scale) - 1).max() / unit
    lower = (1 - _solve_growth_factors(rho.min(axis=1), steps, growth, scale)).max() / unit
    return upper, lower, gaps.max()


def _solve_growth_factors(values: np.ndarray, steps: np.ndarray, growth: float, scale: float) -> np.ndarray:
    """Solve scale ((1 + growth x)^t - (1 - growth x)^t) = value for x at each step t: the factor of the growth with
    which the bound would touch the value."""
    from scipy.optimize import brentq

    def growth_factor(value: float, t: int) -> float:
        return brentq(lambda x: scale * ((1 + growth * x) ** t - (1 - growth * x) ** t) - value, 0.0, 10.0, xtol=1e-13)

    return np.array([growth_factor(value, int(t)) for value, t in zip(values, steps, strict=True)])


RATIOS = {"alike": None, "0.3": 0.3, "0.03": 0.03}  # v_0/(sigma_0 sqrt(log m)); alike: the admissible v_0
AT_RATIOS = f"with the admissible $v_0$ (neurons alike) and {settings.RATIO} = 0.3, 0.03"


@assumed(
    "eq13-weights",
    says=r"Through stage 1 each $w_r - w_r(0)$ is along $X^\top y/\gamma$ up to $C (\mathrm{tr}/\gamma^{3/2}) "
    r"\rho_r/\sqrt{\gamma}$, $C$ absolute.",
    tried=f"{settings.INSIDE}, {AT_RATIOS}, 3 draws (quick: 1); {starts.OVER_ALIKE}",
    correction=starts.IF_ALIKE,
    region=starts.ALIKE,
)
def weights_of_the_first_stage(trial: Trial) -> Rows:
    def needed_constant(run: FeatureRun) -> float:
        """Return the least C with which every neuron keeps the bound at the saved states of stage 1."""
        stage = slice(1, run.first_state_at_t1())
        shares = run.history.deviations[stage] / np.abs(run.history.alignments[stage])
        return shares.max() * run.history.gamma**2 / run.data.trace

    draws = range(1 if trial.quick else 3)
    constants = {
        name: highest(needed_constant(_train_with_every_step(trial, 1.0, ratio, draw)) for draw in draws)
        for name, ratio in RATIOS.items()
    }
    over_region = starts.read_over_region(trial, needed_constant)
    yield printed("constant needed in stage 1, worst neuron and step", constants, ABSOLUTE)
    yield corrected("that constant over the region", over_region, ABSOLUTE)


@assumed(
    "lemmaB1-products",
    says=r"$\rho_r(t) v_r(t) \ge \rho_r(1) v_r(1) > 0$ for $t \ge 1$ and all $r$.",
    tried=f"{settings.INSIDE}, {AT_RATIOS}; {starts.OVER_ALIKE}",
    correction=starts.IF_ALIKE,
    region=starts.ALIKE,
)
def products_from_the_first_step(trial: Trial) -> Rows:
    def failing_share(run: FeatureRun) -> float:
        """Return the share of neurons for which the inequality fails at some step of stage 1."""
        products = (run.history.alignments * run.history.magnitudes)[1 : run.first_state_at_t1()]
        return ((products < products[0]).any(axis=0) | (products[0] <= 0)).mean()

    failing = {name: failing_share(_train_with_every_step(trial, 1.0, ratio, 0)) for name, ratio in RATIOS.items()}
    yield printed("fraction of neurons for which it fails at some step until $t_1$", failing, NONE)
    over_region = starts.read_over_region(trial, failing_share)
    yield corrected("that fraction over the region, at saved states", over_region, NONE)


@assumed(
    "lemmaB1-quadratic",
    says=r"By Lemma A.3 $\lvert X(w_r - w_s) \rvert^2 \le 2n \lvert w_r - w_s \rvert_\Sigma^2$ for the trained weights "
    "of any two neurons.",
    tried=f"{settings.INSIDE}; 200 pairs of neurons of opposite sign at $t_1$",
    expected=Verdict.REFUTED,
)
def quadratic_form_of_trained_weights(trial: Trial) -> Rows:
    run = _train_with_every_step(trial, 1.0, None, 0)
    at = run.first_state_at_t1()
    W = run.trajectory.weights_at(at).first
    signs = np.sign(run.history.magnitudes[at])
    up, down = (np.flatnonzero(signs == sign)[:200] for sign in (1, -1))
    pairs = min(len(up), len(down))
    gaps = W[up[:pairs]] - W[down[:pairs]]  # Sigma = I
    ratios = ((gaps @ run.data.inputs.T) ** 2).sum(axis=1) / (2 * run.data.samples * (gaps**2).sum(axis=1))
    yield printed("largest left side over the right", ratios.max(), at_most(1.0, "the inequality as it is printed"))
    yield fact("that ratio of the median pair", np.median(ratios))
    span = run.data.trace / (2 * run.data.samples)
    yield fact(
        r"$\mathrm{tr}/(2n)$, which a vector in the span of the inputs has", span, "A.3 is for vectors apart from X"
    )


@assumed(
    "lemmaB2-output",
    says=r"$(2/m) \lvert X^\top X W v \rvert$ is at most $(9/2) \sqrt{\gamma}$ through stage 2.",
    tried=settings.OVER_RATIOS,
)
def size_of_the_output_gradient(trial: Trial) -> Rows:
    pulls = neurons.rows(trial)["pull"]
    size = r"$(2/m) \lvert X^\top X W v \rvert/\sqrt{\gamma}$ of a run"
    yield printed(f"largest {size}, by {settings.RATIO}", pulls, at_most(4.5, "the bound as it is printed"))
    reached = at_least(1.9, "at the end $X W v/m = y$ and it is 2: stage 2 was seen to its end")
    yield printed(f"smallest over the ratios of the largest {size}", lowest(pulls.values()), reached)


PROXY_RATIOS = {"alike": None, r"$v_0 = \sigma_0 \sqrt{\log m}$": 1.0}
QUARTER = at_least(0.25, r"Lemma B.2: a step multiplies the proxy by at least $1 + \eta \sqrt{\gamma}/(4mn)$")
BOUND = at_most(1.0, "the upper bound of Lemma B.2 as it is printed")


@claim(
    "proxy-step",
    says=r"Every neuron's proxy escalates exponentially until the loss is $4 \varepsilon$: each step multiplies it by "
    r"at least $1 + \eta \sqrt{\gamma}/(4mn)$, and by at most $3/2 (1 + 3/2\, \eta \sqrt{\gamma}/(mn))$.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}, with the admissible $v_0$ (neurons alike) and with $v_0 = \sigma_0 \sqrt{{\log m}}$; "
    f"{starts.OVER_ALIKE}, until 8% of the loss is left",
    correction=r"the proxy of the mean over neurons of $\rho_r^2$ does, where $v_0^2 \gamma \le 0.1$ and "
    r"$\gamma^{3/2}/\mathrm{tr} \ge 40$; the $\rho_r^2$ of some neurons pass the limit of the mean",
    region=starts.ALIKE,
)
def proxy_step(trial: Trial) -> Rows:
    found = by_name(
        {name: _proxy_growth(_train_with_every_step(trial, 8.0, ratio, 0)) for name, ratio in PROXY_RATIOS.items()}
    )
    rules = {
        "gone": ("fraction of neurons whose proxy ceases to exist", NONE),
        "least": (r"least growth of the others in a step over $\eta \sqrt{\gamma}/(mn)$", QUARTER),
        "largest": ("largest factor of a step over the printed bound", BOUND),
    }
    of_mean = by_name(starts.read_over_region(trial, _growth_of_mean))
    for name, (words, rule) in rules.items():
        yield printed(words, found[name], rule)
        if name != "gone":  # a proxy that ceases to exist has no growth
            yield corrected(f"{words}, proxy of the mean over the region", of_mean[name], rule)
    yield fact(r"largest growth in a step over $\eta \sqrt{\gamma}/(mn)$", found["most"])


def _proxy_growth(run: FeatureRun) -> Numbers:
    """Return the share of neurons whose proxy ceases to exist in stage 2, the least and the most growth of the others
    in a step, and the largest factor of a step over the printed bound."""
    history, growth = run.history, run.growth_unit
    stage = slice(run.first_state_at_t1(), int(np.argmax(history.loss <= 4 * settings.EPSILON)) + 1)
    proxy = misprints.appendix_proxy(history.alignments[stage], gamma=history.gamma, trace=run.data.trace)
    exists = np.isfinite(proxy).all(axis=0)
    factor = proxy[1:, exists] / proxy[:-1, exists] if exists.any() else np.full((1, 1), np.nan)
    return {
        "gone": (~exists).mean(),
        "least": (factor.min() - 1) / growth,
        "most": (factor.max() - 1) / growth,
        "largest": factor.max() / (1.5 * (1 + 1.5 * growth)),
    }


def _growth_of_mean(run: FeatureRun) -> dict[str, float]:
    """Return the least growth of the mean's proxy in a step of stage 2 over the unit of growth, and the largest factor
    of a step over the printed bound."""
    history, unit = run.history, run.growth_unit
    assert history.steps is not None
    stage = slice(run.first_state_at_t1(), run.first_state_at_share(settings.LEFT))
    square = np.sqrt((history.alignments[stage] ** 2).mean(axis=1, keepdims=True))
    proxy = misprints.appendix_proxy(square, gamma=history.gamma, trace=run.data.trace)[:, 0]
    factor = (proxy[1:] / proxy[:-1]) ** (1 / np.diff(history.steps[stage]))
    return {"least": (factor.min() - 1) / unit, "largest": factor.max() / (1.5 * (1 + 1.5 * unit))}


PROXY_OFF = within(
    0.1, r"$X X^\top$ is a multiple of the identity to a few percent, and the proxy diverges at the end", of=1
)


@assumed(
    "proxy-end",
    says=r"The proxy escalates until it reaches $\sqrt{(1 - \varepsilon) \lvert y \rvert^2/(n \varepsilon "
    r"\phi/\gamma^{5/2})}$, where the loss is $\varepsilon$.",
    tried=settings.INSIDE
    + r", the proxy of the mean of $\rho_r^2$ where the loss is 0.1, 0.05 and 0.02 of its start; "
    + starts.OVER_ALIKE,
    correction=r"it is $\sqrt{(1 - e)/(e \phi/\gamma^{5/2})}$ with $e = \sqrt{2 n \varepsilon}/\lvert y \rvert$, the "
    "root of the fraction of the loss that is left, where that is well above $n/d$",
    region=starts.ALIKE,
)
def proxy_end(trial: Trial) -> Rows:
    def over_its_values(run: FeatureRun, share: float) -> dict[str, float]:
        """Return the proxy of the mean where that share of the loss is left, over its printed and its right value."""
        at, stages = run.first_state_at_share(share), run.stages
        proxy, root = stages.proxy(run.history.alignments[at]), np.sqrt(run.loss_share[at])
        as_printed = misprints.final_proxy(stages, run.history.loss[at])
        return {"printed": proxy / as_printed, "right": proxy / np.sqrt((1 - root) / root * stages.limit)}

    run = _train_with_every_step(trial, 8.0, None, 0)
    over = by_name({share: over_its_values(run, share) for share in (0.1, 0.05, 0.02)})
    over_region = starts.read_over_region(trial, lambda run: over_its_values(run, 0.1)["right"])
    yield printed("proxy of the mean over its printed value, by fraction of the loss", over["printed"], PROXY_OFF)
    corrected_value = r"proxy over $\sqrt{(1 - e)/(e \phi/\gamma^{5/2})}$, by fraction of the loss"
    yield corrected(corrected_value, over["right"], PROXY_OFF)
    yield corrected("that where 10% is left, over the region", over_region, PROXY_OFF)


@assumed(
    "final-loss",
    says=r"$L(t_2) \le 2 \lvert \beta \rvert^2 (\varepsilon_\lambda/\mathrm{tr})^2 + \varepsilon_\rho^2 \lvert \beta "
    r"\rvert^2 \mathrm{tr}^2 + O(\sigma_0^2 \gamma^{1/2})$, $\varepsilon_\rho$ the fraction of its limit that "
    r"$\rho^2$ lacks.",
    tried=settings.INSIDE + r", at every saved state after $t_1$; $\varepsilon_\lambda$ is $\lvert X X^\top - "
    r"\mathrm{tr} I \rvert$, $\varepsilon_\rho$ by the mean of $\rho_r^2$",
)
def final_loss(trial: Trial) -> Rows:
    run = _train_with_every_step(trial, 8.0, None, 0)
    history = run.history
    data = run.data
    later = run.history.times > run.first_time()
    gap = np.linalg.norm(data.inputs @ data.inputs.T - data.trace * np.eye(data.samples), 2)
    lacking = 1 - history.mean_square[later] * data.trace / history.gamma**1.5
    size = max(data.signal**2, (data.outputs**2).mean())  # 2|beta|^2 bounds |y|^2/n in the proof
    fixed = 2 * size * (gap / data.trace) ** 2 + run.scales["first_std"] ** 2 * np.sqrt(history.gamma)
    as_printed, sharper = (
        (history.loss[later] / (fixed + lacking**2 * size * factor)).max() for factor in (data.trace**2, 1.0)
    )
    power = r"$\max(\lvert \beta \rvert^2, \lvert y \rvert^2/n)$ for $\lvert \beta \rvert^2$"
    over = rf"largest loss after $t_1$ over the bound without $\mathrm{{tr}}^2$, {power}"
    yield printed(over, sharper, at_most(1.0, "the inequality, in its sharper form"))
    says_something = at_least(0.01, "a bound a hundred times too large would say nothing")
    yield printed(f"{over}, from below", sharper, says_something)
    yield fact("that ratio to the bound as it is printed", as_printed)
