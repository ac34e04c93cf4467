"""Theorem 4.1: how t1 and t2 scale, fitted over runs, and whether the loss gets to 4 epsilon by then."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet.problems.subgaussian import Regression
from linnet_papers.huang import misprints, settings
from linnet_papers.huang.grids import convergence, scalings
from linnet_papers.huang.grids.scalings import SETTING, WINDOWS, between_shares, slope_in_share
from linnet_papers.huang.training.runs import FeatureRun, descend, scales_inside, train_inside
from linnet_papers.reproduction import (
    Numbers,
    Rows,
    Trial,
    above,
    at_least,
    at_most,
    below,
    both,
    claim,
    corrected,
    fact,
    printed,
    within,
)
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, line, lowest

EXPONENT = partial(within, 0.02, "what terms below the leading one bend an exponent by over the range tried", errors=3)
POWER = r"$\lvert \beta \rvert^2 + \sigma_y^2$"
NOISE_LIMIT = r"noise at the limit of (5), $8 n \lvert \beta \rvert^2$"


@claim(
    "t1",
    says=r"The first stage ends at $t_1 = C_1 m \sqrt{n} \log(1/v_0)/(\eta \sqrt{\mathrm{tr}(\Sigma)}\, \lvert \beta "
    r"\rvert)$.",
    assumes="Assumption 4.1",
    tried=SETTING,
    correction=r"$t_1$ is where the median $\lvert \rho \rvert$ of Eq. (9), corrected, is 1",
)
def first_time(trial: Trial) -> Rows:
    networks = scalings.rows(trial)
    fits = scalings.first_exponents(networks)
    starts = scalings.first_time_errors_by_ratio(networks)
    worst = highest(*fits["worst"].values(), *(ours for ours, _ in starts.values()))
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
    yield fact(f"{kinds}, where 5% of the loss is lost", fits["loss"])
    yield fact(
        r"relative distance of $t_1$ from $\mathrm{asinh}(1/(v_0 \sqrt{\gamma}))$, by $v_0/\sigma_0$",
        {ratio: alone for ratio, (_, alone) in starts.items()},
    )


@claim(
    "t2",
    says=r"The second stage takes of the order of $m \sqrt{n}/(\eta \lvert \beta \rvert \sqrt{\mathrm{tr}}) \log(n "
    r"\lvert \beta \rvert \mathrm{tr}/\varepsilon)$: one constant for all $m$, $n$, $\mathrm{tr}$, $\beta$, $\eta$, "
    r"$v_0$ and $\varepsilon$, linear in $\log(1/\varepsilon)$.",
    assumes="Assumption 4.1",
    tried=rf"{SETTING}; and $\lvert \beta \rvert = 0.25$",
    correction=r"$t_2 - t_1$ is $n/\sqrt{\gamma}$ times the logarithm of what the proxy of the mean grows by, from "
    r"$\rho = 1$ to where that fraction of the loss is left: $\gamma$ stands in the logarithm as $\gamma^{5/2}/\phi$",
)
def second_time(trial: Trial) -> Rows:
    networks = scalings.rows(trial)
    base = networks.sel(case="base")
    staged = networks["staged"].values
    tail, whole = between_shares(base, WINDOWS["tail"]), between_shares(networks, WINDOWS["whole"])
    fits = [line(-np.log(tail["share"].values), steps) for steps in tail["loss_steps"].values]
    needed = (whole["lengths"] / whole["stated"]).values[staged].ravel()
    of_length = scalings.second_exponents(networks)
    one = at_most(4.0, "one constant for all cases: the largest that is needed is at most this times the least")
    straight = below(0.02, "the relative standard error of the slope of a straight line through the tail")
    multiple = below(
        0.1, r"the closed form takes $X X^\top$ for a multiple of the identity, which it is to a few percent"
    )
    yield printed("largest over least constant", highest(needed) / lowest(needed), one)
    yield printed(
        r"exponent of $t_2 - t_1$ in each quantity, where 1% of the loss is left",
        of_length["exponents"],
        EXPONENT(of=of_length["stated"]),
    )
    bend = highest(error / slope for slope, error in fits)
    yield both(r"relative standard error of the slope in $\log(1/\varepsilon)$", bend, straight)
    off = scalings.second_time_errors(networks)
    yield corrected(r"relative distance of the proxy's time from the measured $t_2 - t_1$, by case", off, multiple)
    yield fact(r"$t_2 - t_1$ over the stated time, least and largest", [lowest(needed), highest(needed)])
    slopes = {name: slope_in_share(base, window) for name, window in WINDOWS.items()}
    yield fact(r"slope in $\log(1/\varepsilon)$ in growth times", slopes, "1/4 for the aligned mode, 1/2 for others")
    yield fact(f"data sets left out, whose $\\rho^2$ ends below {scalings.LEAST_END:g}", int((~staged).sum()))


ORDER = 10.0, "of the order of $t_1 + t_2$: within ten times above or below"


@claim(
    "theorem4.1",
    says=r"There is a time of the stated order, $t = \Omega(t_1 + t_2)$, at which the loss is below $4 \varepsilon$: "
    "descent minimizes the training loss.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}; also entries of $\pm 1$, uniform entries, a sloped covariance, and {NOISE_LIMIT}; "
    r"$v_0$ and $\sigma_0$ 1 and 1/1000 times the admissible ones; $\varepsilon = 0.01$, 5 draws (quick: 3)",
    correction=rf"{POWER}, the power of a label, stands in the time for $\lvert \beta \rvert^2$: with noise at the "
    r"limit of (5) it is $\sqrt{1 + 8 n}$ times shorter, and the stated one an upper bound",
)
def convergence_in_time(trial: Trial) -> Rows:
    runs = convergence.rows(trial)
    constants = np.array(runs["constant"])
    yield both(
        r"runs that reach $4 \varepsilon$",
        (~np.isnan(constants)).sum(),
        at_least(constants.size, "the theorem is stated for every network, and each run is one"),
    )
    yield both(
        "highest loss after that",
        highest(runs["highest_after"]),
        at_most(4 * settings.EPSILON, "a loss that is kept stays below it"),
    )
    yield both(
        "fraction of the loss left at the end",
        highest(runs["last"]),
        below(1e-3, "a loss that is minimized goes on falling: a thousandth is left"),
    )
    yield both(
        "fraction of saved states at which the loss has fallen, in the worst run",
        lowest(runs["falls"]),
        at_least(1.0, "descent lowers the loss at every step"),
    )
    of_order = at_most(*ORDER), at_least(1 / ORDER[0], ORDER[1])
    for word, limit, end in zip(("largest", "least"), of_order, (highest, lowest), strict=True):
        yield printed(f"{word} time over $t_1 + t_2$", end(constants), limit)
        yield corrected(
            rf"{word} time over $t_1 + t_2$ with {POWER} for $\lvert \beta \rvert^2$", end(runs["corrected"]), limit
        )
    laws = {law: constants[np.array(runs["law"]) == law].mean() for law in dict.fromkeys(runs["law"])}
    yield fact("mean time over $t_1 + t_2$, by inputs and noise", laws)
    yield fact(r"largest relative distance of $t_1$ from the predicted one", highest(np.abs(runs["first_off"])))


ALL_DRAWS = at_least(1.0, "it is said of every learning rate that (4) admits")


@claim(
    "step",
    says="The learning rate of condition (4) is such that descent minimizes the training loss.",
    assumes=settings.ASSUMED,
    tried=r"$n = 10$, $d = 10\,000$ (quick: 2000), $m = 8$, unit signal, the step at the limit of (4) as printed, "
    rf"noise of section 6 and {NOISE_LIMIT}, 8 draws of each, 400 steps",
    correction=rf"{POWER}, the power of a label, stands for $\lvert \beta \rvert^2$ in (4): $\rho$ grows by $\eta "
    r"\sqrt{\gamma}/(nm)$ in a step, which is $\sqrt{(1 + 8n)/m}$ at the limits of (4) and (5) and must stay below 1",
)
def largest_step(trial: Trial) -> Rows:
    noises = {"section 6": settings.NOISE_VARIANCE, "limit of (5)": settings.NOISE_LIMIT}
    found = by_name({name: _shares_that_learn(trial, variance) for name, variance in noises.items()})
    learn = r"fraction of the draws whose loss ends at $4 \varepsilon$ or less, by noise"
    yield printed(learn, found["printed"], ALL_DRAWS)
    yield corrected(rf"{learn}, with {POWER} for $\lvert \beta \rvert^2$ in (4)", found["mended"], ALL_DRAWS)
    yield fact(r"$\eta \sqrt{\gamma}/(nm)$ at the printed limit, by noise", found["growths"])


def _shares_that_learn(trial: Trial, noise_variance: float) -> Numbers:
    """Return the share of the draws that learn with the step at the limit of (4), "printed" and "mended", and the
    growth of rho in a step at the printed one."""
    dim = settings.size(trial.quick)["dim"]
    width = 8
    keys = [[trial.seed, draw] for draw in range(8)]
    data = [ln.problems.gaussian_teacher(key=key, dim=dim, signal=1.0, noise_variance=noise_variance) for key in keys]
    powers = {"printed": 1.0, "mended": 1.0 + noise_variance}  # what stands for |beta|^2 in (4)
    rates = {which: np.sqrt(settings.SAMPLES / (width * dim * power)) for which, power in powers.items()}
    shares = {
        which: np.mean(
            [_last_loss(*each, width, rate) <= 4 * settings.EPSILON for each in zip(data, keys, strict=True)]
        )
        for which, rate in rates.items()
    }
    features = [np.linalg.norm(each.inputs.T @ each.outputs) for each in data]
    return {**shares, "growths": rates["printed"] * np.median(features) / settings.SAMPLES}


def _last_loss(data: Regression, key: list[int], width: int, rate: float) -> float:
    """Return the loss after 400 steps of descent from the admissible start; NaN or large where descent diverges."""
    scales = scales_inside(data, width=width)
    scales["learning_rate"] = rate
    return float(descend(data, key, scales, steps=400, save_every=400, keep="losses", throw=False).loss[-1])


@claim(
    "lemmaB1-time",
    says=r"$t_1 = \log(1/v_0) m \sqrt{n}/(\eta \sqrt{\mathrm{tr}}\, \lvert \beta \rvert)$, without a constant, ends "
    r"the first stage: $\lvert \rho \rvert = \Theta(1)$ and the loss has not begun to fall.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}, 8 draws; $v_0$ and $\sigma_0$ 1 and 1/1000 times the admissible ones; 4 draws with "
    f"{NOISE_LIMIT}",
    correction="there is a constant $C$, as in the lemma's own proof and in Lemma 5.2, where the noise is well below "
    r"$\lvert \beta \rvert^2$",
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
