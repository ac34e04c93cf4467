"""Claims on the phase diagram: Theorem 2, its boundaries, and what it costs to learn well."""

from __future__ import annotations

import numpy as np

from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Estimate,
    Rows,
    Trial,
    Verdict,
    above,
    at_least,
    at_most,
    below,
    claim,
    fact,
    printed,
    refutes,
    within,
)
from linnet_papers.reproduction.datasets import by_label
from linnet_papers.reproduction.fits import exponent, rank_correlation
from linnet_papers.tu.grids import active_region, border, regions
from linnet_papers.tu.settings import ERRORS, GAMMAS

CELLS = "cells of the phase diagram at $d = 30$ (full: 100), rank 3, 5 tasks (full: 8), descent with $c = 50$"
REGION = r"$\gamma_w > 1$, $2 \gamma_{\sigma^2} + \gamma_w < 0$"


@claim(
    "thm2-lazy",
    says=r"In the lazy region the test error never falls below a third of $\min(\lvert A^* \rvert^2, \lvert E "
    r"\rvert^2)$.",
    assumes=rf"{REGION}, $\gamma_{{\sigma^2}} + \gamma_w > 1$",
    tried=rf"{CELLS}; $(\gamma_{{\sigma^2}}, \gamma_w) = {', '.join(map(str, regions.LAZY))}$, up to the boundary",
)
def lazy_bound(trial: Trial) -> Rows:
    lazy = regions.groups(trial)["lazy"]
    share = lazy.min_test_loss / np.minimum(lazy.signal, lazy.noise)
    least = r"minimum test error over $\min(\lvert A^* \rvert^2, \lvert E \rvert^2)/d^2$"
    third = at_least(1 / 3, "the constant of Proposition D.1")
    yield printed(f"{least}, of any run and task", share.min(skipna=False).item(), third)
    yield fact(f"{least}, median", share.median(skipna=False).item())


VANISHES = below(0.5, "an error above half of the noise's power has not learned the signal from the noise")
KEPT = at_most(
    0.25, r"what a factor of $\log d$ looks like between $d = 30$ and 100; $T^*$ is known to $\log \log d$ only"
)
LEARNS = at_least(0.5, "networks that learn the signal before $T^*$ show that $d$ is too small for that time, no more")


@claim(
    "thm2-active",
    says=r"In the active region the test error at $T^*$ is $O(\sigma^4 w + (\sigma^2 w \log d/d)^2 + d^{-1/2} + "
    r"\sigma^2 w/d)$, which vanishes as $d$ grows.",
    assumes=rf"{REGION}, $\gamma_{{\sigma^2}} + \gamma_w < 1$, $d$ large; $T^*$ corrected, leading order",
    tried=r"descent at $d = 30$, 100 (full: 50 to 400), $(\gamma_{\sigma^2}, \gamma_w) = (-1.85, 2.25)$, spectra "
    "$(1), (1, 1), (1, 1/2)$, 2 tasks each (full: 3)",
    expected=Verdict.OUTSIDE,
)
def error_at_the_end(trial: Trial) -> Rows:
    means = active_region.errors(trial).mean("seed", skipna=False)
    dims = means["dim"].values.tolist()
    largest = means.isel(dim=-1)
    terms = [sum(lazy_active.error_terms(*GAMMAS, dim=dim).values()) for dim in dims]
    growth = [exponent(dims, errors / terms)[0] for errors in means.end.values.T]
    error = "test error over the noise"
    yield printed(f"{error} at $T^*$, largest $d$", by_label(largest.end, "$a = {spectrum}$"), VANISHES)
    spectra = [f"$a = {one}$" for one in means["spectrum"].values.tolist()]
    grows = f"power of $d$ with which the {error} at $T^*$ over the sum of the terms grows"
    yield printed(grows, dict(zip(spectra, growth, strict=True)), KEPT)
    yield refutes(f"minimum {error} of any run, largest $d$", by_label(largest.least, "$a = {spectrum}$"), LEARNS)
    short = by_label(largest.short, "$a = {spectrum}$")
    yield fact(f"{error} at $T^*$ without the term for the alignment, largest $d$", short)


SLOPE = within(0.25, "fitted between dimensions a factor of three apart", of=list(border.TARGETS.values()))
ONE_SHARE = below(2.0, r"$\lvert B \rvert$ alone decides: one share of it for both kinds of target, up to a factor")


@claim(
    "border",
    says=r"Training is lazy above $\sigma^2 w \sim \lvert B \rvert_{\mathrm{op}}$: $\gamma_{\sigma^2} + \gamma_w = 1$ "
    "for low rank, 1/2 for full rank.",
    assumes=r"$w \gg d$",
    tried="descent at $w = d^3$, $d = 16$, 48 (full: 20 to 160), 5 targets, 13 thresholds; lazy: the leading mode is "
    f"less than {border.PREFERRED:g} times as far as the median one when half is learned",
)
def lazy_boundary(trial: Trial) -> Rows:
    found = border.borders(trial)
    shares = found.share.mean("seed", skipna=False)
    growth = {f"{kind} target": exponent(found["dim"], found.threshold.sel(target=kind))[0] for kind in border.TARGETS}
    yield printed(r"power of $d$ with which the least lazy $\sigma^2 w$ grows", growth, SLOPE)
    yield printed(
        r"largest over least share of $\lvert B \rvert$ at which training turns lazy",
        shares.values.max() / shares.values.min(),
        ONE_SHARE,
    )
    yield fact(r"least lazy $\sigma^2 w$ over $\lvert B \rvert$", by_label(shares, "{target}, $d = {dim}$"))


RISES = above(0.9, "five depths in one order up to one exchange of neighbors: a mean over the tasks")
GAINS = below(-0.5, "the gain ends deep inside the region, where the order of equal errors is chance")


@claim(
    "tradeoff",
    says="Deeper in the active region the test error is smaller and training takes longer.",
    assumes="active region",
    tried=rf"{CELLS}; $w = d^2$, $\gamma_{{\sigma^2}}$ from {regions.DEPTHS[-1]:g} to {regions.DEPTHS[0]:g}",
)
def error_against_time(trial: Trial) -> Rows:
    deep = regions.groups(trial)["depths"].isel(case=slice(None, None, -1))
    medians = deep.median("replicate", skipna=False)
    depths = -deep.gamma_variance.values
    falls, rises = (
        np.mean([rank_correlation(depths, column) for column in values.T])
        for values in (deep.min_test_loss.values, deep.best_step.values)
    )
    yield printed("rank correlation of the iterations with depth", rises, RISES)
    yield printed("rank correlation of the test error with depth", falls, GAINS)
    names = [rf"$\gamma_{{\sigma^2}} = {-depth:g}$" for depth in depths]
    yield fact("minimum test error", dict(zip(names, medians.min_test_loss.values, strict=True)))
    yield fact("iterations", dict(zip(names, medians.best_step.values, strict=True)))


GENERALIZES = below(1.5, "'good generalization': no more than half as much again as a wide network's error")
CANNOT = above(1.0, "fewer units than the rank cannot represent $A^*$")


@claim(
    "narrow",
    says="Good generalization is seen for widths below $d$, down to $w$ near the rank of $A^*$.",
    assumes="none proved",
    tried=f"{CELLS}; every error over that of the same task at $w = d^2$",
)
def narrow_networks(trial: Trial) -> Rows:
    groups = regions.groups(trial)
    shares, square = (
        groups[group].min_test_loss.values / groups["wide"].min_test_loss.values[1] for group in ("narrow", "wide")
    )
    ratios = {f"$w = {w}$": Estimate.of_mean(own) for w, own in zip(regions.NARROW, shares, strict=True)}
    over = "minimum test error over that of the same task at $w = d^2$"
    allowed = {name: one.value - ERRORS * one.error for name, one in list(ratios.items())[1:]}
    yield printed(f"mean {over}, from $w = K$ on, less two standard errors", allowed, GENERALIZES)
    yield printed("error at $w = 2$, below the rank, over that at $w = 6$", (shares[0] / shares[3]).mean(), CANNOT)
    yield fact(f"mean {over}", ratios)
    yield fact(f"{over} at $w = d$, mean", square[0].mean())
