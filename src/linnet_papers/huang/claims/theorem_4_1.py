"""Theorem 4.1: how t1 and t2 scale, fitted over runs, and whether the loss gets to 4 epsilon by then."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet.problems.subgaussian import Regression
from linnet_papers.huang import misprints, settings
from linnet_papers.huang.grids import convergence, scalings, starts
from linnet_papers.huang.grids.scalings import SETTING, WINDOWS, between_shares, slope_in_share
from linnet_papers.huang.training.runs import FeatureRun, descend, scales_inside, train_inside
from linnet_papers.reproduction import Numbers, Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, line, lowest
from linnet_papers.reproduction.rows import above, at_least, at_most, below, both, corrected, fact, printed, within

EXPONENT = partial(within, 0.02, "what terms below the leading one bend an exponent by over the range tried", errors=3)
POWER = r"$\lvert \beta \rvert^2 + \sigma_y^2$"
NOISE_LIMIT = r"noise at the limit of (5), $8 n \lvert \beta \rvert^2$"


@claim(
    "t1",
    says=r"The first stage ends at $t_1 = C_1 m \sqrt{n} \log(1/v_0)/(\eta \sqrt{\mathrm{tr}(\Sigma)}\, \lvert \beta "
    r"\rvert)$.",
    assumes="Assumption 4.1",
    tried=f"{SETTING}; {starts.OVER_ALIKE}, ratios from 0.03 and strengths from 100 on",
    region=starts.ANY_RATIO,
    correction=r"$t_1$ is where the median $\lvert \rho \rvert$ of Eq. (9), corrected, is 1",
)
def first_time(trial: Trial) -> Rows:
    networks = scalings.rows(trial)
    fits = scalings.first_exponents(networks)
    by_ratio = scalings.first_time_errors_by_ratio(networks)
    worst = highest(*fits["worst"].values(), *(ours for ours, _ in by_ratio.values()))
    close = below(
        0.15, r"the median of 128 normal numbers scatters by 10%, and $t_1$ is 2.5 growth times where $\sigma_0$ leads"
    )
    kinds = r"exponent of $t_1$ in each quantity (of $v_0$ the slope in $\log(1/v_0)$)"
    yield printed(
        f"{kinds}, where the median $\\lvert \\rho \\rvert$ is 1", fits["alignment"], EXPONENT(of=fits["printed"])
    )
    yield both(
        r"largest relative distance of $t_1$ from where the median $\lvert \rho \rvert$ of (9) is 1", worst, close
    )

    def off(run: FeatureRun) -> float:
        """Return the relative distance of `Stages.first_time` from the measured t1."""
        return abs(run.stages.first_time() / run.first_time() - 1)

    yield corrected("that distance over the region", starts.read_over_region(trial, off), close)
    yield fact(f"{kinds}, where 5% of the loss is lost", fits["loss"])
    yield fact(
        r"relative distance of $t_1$ from $\mathrm{asinh}(1/(v_0 \sqrt{\gamma}))$, by $v_0/\sigma_0$",
        {ratio: alone for ratio, (_, alone) in by_ratio.items()},
    )


@claim(
    "t2",
    says=r"The second stage takes of the order of $m \sqrt{n}/(\eta \lvert \beta \rvert \sqrt{\mathrm{tr}}) \log(n "
    r"\lvert \beta \rvert \mathrm{tr}/\varepsilon)$: one constant for all $m$, $n$, $\mathrm{tr}$, $\beta$, $\eta$, "
    r"$v_0$ and $\varepsilon$, linear in $\log(1/\varepsilon)$.",
    assumes="Assumption 4.1",
    tried=rf"{SETTING}; and $\lvert \beta \rvert = 0.25$",
)
def second_time(trial: Trial) -> Rows:
    networks = scalings.rows(trial)
    base = networks.sel(case="base")
    staged = networks["staged"].values
    tail, whole = between_shares(base, WINDOWS["tail"]), between_shares(networks, WINDOWS["whole"])
    fits = [line(-np.log(tail["share"].values), steps) for steps in tail["loss_steps"].values]
    needed = (whole["lengths"] / whole["stated"]).values[staged].ravel()
    of_length = scalings.second_exponents(networks)
    one = at_most(10.0, "an order of magnitude, as for Theorem 4.1: one constant within a factor ten for all cases")
    straight = below(0.02, "the relative standard error of the slope of a straight line through the tail")
    yield printed("largest over least constant", highest(needed) / lowest(needed), one)
    bend = highest(error / slope for slope, error in fits)
    yield printed(r"relative standard error of the slope in $\log(1/\varepsilon)$", bend, straight)
    yield fact(r"$t_2 - t_1$ over the stated time, least and largest", [lowest(needed), highest(needed)])
    exponents = r"exponent of $t_2 - t_1$ in each quantity, where 1% of the loss is left"
    yield fact(exponents, of_length["exponents"])
    yield fact(f"{exponents}, of the stated time", of_length["stated"])
    slopes = {name: slope_in_share(base, window) for name, window in WINDOWS.items()}
    yield fact(r"slope in $\log(1/\varepsilon)$ in growth times", slopes, "1/4 for the aligned mode, 1/2 for others")
    yield fact(f"data sets left out, whose $\\rho^2$ ends below {scalings.LEAST_END:g}", int((~staged).sum()))


@claim(
    "second-time",
    where="ours, for the time of the second stage in Theorem 4.1",
    says=r"$t_2 - t_1$ is $n/\sqrt{\gamma}$ times the logarithm of what the proxy of the mean grows by, from "
    r"$\rho = 1$ to where that fraction of the loss is left: $\gamma$ stands in the logarithm as $\gamma^{5/2}/\phi$.",
    assumes=r"neurons alike at $t_1$, a fraction of the loss well above $n/d$",
    tried=rf"{SETTING}; and $\lvert \beta \rvert = 0.25$, to 1% of the loss; {starts.OVER_ALIKE}, to 8% of the loss",
    region=starts.ALIKE,
)
def predicted_second_time(trial: Trial) -> Rows:
    near = below(0.1, r"the closed form takes $X X^\top$ for a multiple of the identity, which it is to a few percent")
    off = scalings.second_time_errors(scalings.rows(trial))
    yield printed(r"relative distance from the measured $t_2 - t_1$, by case", off, near)

    def distance(run: FeatureRun) -> float:
        """Return the relative distance of the predicted time of stage 2 from the measured one."""
        measured = run.history.loss_time(1 - settings.LEFT) - run.first_time()
        return abs(run.stages.second_time(settings.LEFT) / measured - 1)

    yield printed("that distance over the region", starts.read_over_region(trial, distance), near)


@claim(
    "theorem4.1",
    says=r"There is a time of the stated order, $t = \Omega(t_1 + t_2)$, at which the loss is below $4 \varepsilon$: "
    "descent minimizes the training loss.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}; also entries of $\pm 1$, uniform entries, a sloped covariance, and {NOISE_LIMIT}; "
    r"$v_0$ and $\sigma_0$ 1 and 1/1000 times the admissible ones; $\varepsilon = 0.01$, 5 draws (quick: 3)",
)
def convergence_in_time(trial: Trial) -> Rows:
    runs = convergence.rows(trial)
    constants = np.array(runs["constant"])
    every = at_least(constants.size, "the theorem is stated for every network, and each run is one")
    yield printed(r"runs that reach $4 \varepsilon$", (~np.isnan(constants)).sum(), every)
    order = at_most(10.0, "a time of that order, with constants of 1: within ten times $t_1 + t_2$ it has come")
    yield printed(r"largest time to $4 \varepsilon$ over $t_1 + t_2$", highest(constants), order)
    below_it = at_most(
        4 * settings.EPSILON, "a loss that is kept stays below it, so that it is there at $t_1 + t_2$ too"
    )
    yield printed("highest loss after that", highest(runs["highest_after"]), below_it)
    minimized = below(1e-3, "a loss that is minimized goes on falling: a thousandth is left")
    yield printed("fraction of the loss left at the end", highest(runs["last"]), minimized)
    descends = at_least(1.0, "descent lowers the loss at every step")
    yield printed("fraction of saved states at which the loss has fallen, worst run", lowest(runs["falls"]), descends)
    laws = {law: constants[np.array(runs["law"]) == law].mean() for law in dict.fromkeys(runs["law"])}
    yield fact("mean time over $t_1 + t_2$, by inputs and noise", laws)
    labels = [lowest(runs["corrected"]), highest(runs["corrected"])]
    yield fact(rf"time over $t_1 + t_2$ with {POWER} for $\lvert \beta \rvert^2$, least and largest", labels)
    yield fact(r"largest relative distance of $t_1$ from the predicted one", highest(np.abs(runs["first_off"])))


ALL_DRAWS = at_least(1.0, "it is said of every learning rate that (4) admits")


@claim(
    "step",
    says="The learning rate of condition (4) is such that descent minimizes the training loss.",
    assumes=settings.ASSUMED,
    tried=r"$n = 10$, $d = 10\,000$ (quick: 2000), $m = 8$, unit signal, the step at the limit of (4) as printed, "
    rf"noise of section 6 and {NOISE_LIMIT}, 8 draws of each, 400 steps; corrected: widths of 8 to 80, 2 draws "
    "of each",
    region={"noise": Range(0, 1), "width": Range(8, 80, log=True, whole=True)},
    correction=rf"{POWER}, the power of a label, stands for $\lvert \beta \rvert^2$ in (4): $\rho$ grows by $\eta "
    r"\sqrt{\gamma}/(nm)$ in a step, which is $\sqrt{(1 + 8n)/m}$ at the limits of (4) and (5) and must stay below 1",
)
def largest_step(trial: Trial) -> Rows:
    noises = {"section 6": settings.NOISE_VARIANCE, "limit of (5)": settings.NOISE_LIMIT}
    found = by_name({name: _largest_step_learns(trial, noise_variance=each) for name, each in noises.items()})

    def mended_learns(noise: float, width: int) -> float:
        """Return the share of the draws that learn with the step at the corrected limit, the noise over that of (5)."""
        variance = noise * settings.NOISE_LIMIT
        return _largest_step_learns(trial, noise_variance=variance, width=width, draws=2, mended=True)["share"]

    mended = {label: mended_learns(**setting) for label, setting in trial.region(2).items()}
    learn = r"fraction of the draws whose loss ends at $4 \varepsilon$ or less"
    yield printed(f"{learn}, by noise", found["share"], ALL_DRAWS)
    yield corrected(rf"{learn}, with {POWER} for $\lvert \beta \rvert^2$ in (4)", mended, ALL_DRAWS)
    yield fact(r"$\eta \sqrt{\gamma}/(nm)$ at the printed limit, by noise", found["growth"])


def _largest_step_learns(
    trial: Trial, *, noise_variance: float, width: int = 8, draws: int = 8, mended: bool = False
) -> Numbers:
    """Return the share of the draws that learn with the step at the limit of (4), and the growth of rho in a step."""
    dim = settings.size(trial.quick)["dim"]
    keys = [[trial.seed, draw] for draw in range(draws)]
    data = [ln.problems.gaussian_teacher(key=key, dim=dim, signal=1.0, noise_variance=noise_variance) for key in keys]
    power = 1.0 + noise_variance if mended else 1.0  # what stands for |beta|^2 in (4)
    rate = np.sqrt(settings.SAMPLES / (width * dim * power))
    steps = int(400 * np.sqrt(width / 8))  # as many growth times at every width
    ends = [_last_loss(*each, width, rate, steps) for each in zip(data, keys, strict=True)]
    features = [np.linalg.norm(each.inputs.T @ each.outputs) for each in data]
    learned = np.array(ends) <= 4 * settings.EPSILON
    return {"share": learned.mean(), "growth": rate * np.median(features) / settings.SAMPLES}


def _last_loss(data: Regression, key: list[int], width: int, rate: float, steps: int) -> float:
    """Return the loss after descent from the admissible initialization; NaN or large where descent diverges."""
    scales = scales_inside(data, width=width)
    scales["learning_rate"] = rate
    return float(descend(data, key, scales, steps=steps, save_every=steps, keep="losses", throw=False).loss[-1])


ORDER = "a constant of order one, within a factor ten"


@claim(
    "lemmaB1-time",
    says=r"$t_1 = \log(1/v_0) m \sqrt{n}/(\eta \sqrt{\mathrm{tr}}\, \lvert \beta \rvert)$, without a constant, ends "
    r"the first stage: $\lvert \rho \rvert = \Theta(1)$ and the loss has not begun to fall.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}, 8 draws; $v_0$ and $\sigma_0$ 1 and 1/1000 times the admissible ones; 4 draws with "
    f"{NOISE_LIMIT}; {starts.OVER_ALIKE}, without noise",
    correction="there is a constant $C$, as in the lemma's own proof and in Lemma 5.2, where the noise is well below "
    r"$\lvert \beta \rvert^2$",
    region={name: starts.ALIKE[name] for name in ("strength", "start", "ratio", "samples")},
)
def unit_constant(trial: Trial) -> Rows:
    keys = [[trial.seed, draw] for draw in range(8)]
    size = settings.size(trial.quick)
    found = by_name(
        _measure_at_printed_time(train_inside(key, **size, smaller=smaller)) for smaller in (1.0, 1e-3) for key in keys
    )
    noisy = [
        _measure_at_printed_time(train_inside(key, **size, noise_variance=settings.NOISE_LIMIT)) for key in keys[:4]
    ]
    constants = found["constants"]
    flat = above(0.5, "half of the loss: stage 2 is well under way once it is gone")
    one = at_most(10.0, "one constant for all draws and starts: an order of magnitude, as for Theorem 4.1")
    apart = below(0.1, r"$\gamma$ is $1 + 8n$ times as large there, which the lemma's constant cannot make up for")
    yield printed("fraction of the loss that is left at that time, by draw", found["left"], flat)
    yield corrected(
        "largest over least constant that ends the first stage", highest(constants) / lowest(constants), one
    )
    over_region = starts.read_over_region(trial, lambda run: _measure_at_printed_time(run)["constants"])
    yield corrected("that constant over the region, without noise", over_region, at_least(0.1, ORDER))
    yield corrected("that constant over the region", over_region, at_most(10.0, ORDER))
    noisy_constants = [each["constants"] for each in noisy]
    yield corrected("that constant with noise at the limit of (5), by draw", noisy_constants, apart)
    yield fact("that constant, least and largest", [lowest(constants), highest(constants)])
    alignments = found["alignments"]
    median = r"median $\lvert \rho \rvert$ at the printed time, least and largest"
    yield fact(median, [lowest(alignments), highest(alignments)])


def _measure_at_printed_time(run: FeatureRun) -> Numbers:
    """Return what is left of the loss at Lemma B.1's t1, with the constant 1, the median |rho|, and the measured t1
    over it."""
    data, history = run.data, run.history
    stated = misprints.first_time(run.scales["magnitude"], samples=data.samples, signal=data.signal, trace=data.trace)
    return {
        "left": np.interp(stated, history.times, run.loss_share),
        "alignments": np.median(np.abs(run.history_at(stated).alignments)),
        "constants": run.first_time() / stated,
    }
