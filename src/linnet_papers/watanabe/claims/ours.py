"""What is right where a bound, a rate or an order of Watanabe et al. falls: our formulas, on trained networks."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import spiked
from linnet_papers.reproduction import AllOf, Below, Numbers, Trial, claim
from linnet_papers.reproduction.fits import highest
from linnet_papers.watanabe.settings import DELTA, NETWORKS, PAIR, SMALL
from linnet_papers.watanabe.tables import phase_times
from linnet_papers.watanabe.tables.phase_times import by_pair, mean_of, pair_of, theory_of
from linnet_papers.watanabe.training.phases import gaussian_start, trained_networks


@claim(
    "late-rate",
    where="ours, for below Eq. (20)",
    says="A network approaches its limit at the least eigenvalue of |beta| Sigma (I + beta beta^T/|beta|^2), for any "
    "covariance and target.",
    assumes=SMALL,
    tried="three random covariances of 5 inputs with targets of size 0.5 to 2, m = 10, s = 1e-4; the distance of the "
    "predictor from its target, from e^-8 to e^-11 of it",
    holds=Below(
        0.02,
        what="largest relative error of the rate",
        form=".2%",
        because="the next rate is twice as large or more: e^-8 of it is left",
    ),
    reads="rates of the networks {rates:.4f}, eigenvalues {wanted:.4f}",
)
def late_rate(trial: Trial) -> Numbers:
    random = generator(trial.seed, 20)
    rates, wanted = [], []
    for size in (0.5, 1.0, 2.0):
        frame = np.linalg.qr(random.standard_normal((5, 5)))[0]
        covariance = (frame * [8.0, 4.0, 2.0, 1.0, 0.4]) @ frame.T
        beta = frame @ np.sign(random.standard_normal(5)) * size / np.sqrt(5)
        wanted.append(spiked.late_rate(covariance, beta))
        times = np.append(0.0, np.linspace(5, 40, 400)) * (1 / wanted[-1])
        problem = ln.Problem.from_moments(covariance, (covariance @ beta)[None], truth=beta[None])
        run = ln.gradient_flow(problem, gaussian_start(trial.seed, 5, 10, 1e-4), times=times, rtol=1e-11)
        logs = -np.log(np.linalg.norm(run.products[:, 0] - beta, axis=-1) / size)
        first, last = (ln.observables.crossing_time(times, logs, level) for level in (8.0, 11.0))
        rates.append(3.0 / (last - first))
    return {"value": np.abs(np.divide(rates, wanted) - 1).max(), "rates": rates, "wanted": wanted}


@claim(
    "strong-spikes",
    where="ours, for Eq. (20)",
    says="For a strong spike t2 - t1 is half of (1 + A^2)[artanh((A^2 + B x)/R) - artanh A] + (B x - A^2)/R + A: x is "
    "the predictor across the spike, B^2 = 1 - A^2 and R^2 = A^2 + x^2.",
    assumes=f"{SMALL}; rho A^2 >> 1",
    tried=f"{NETWORKS}; spikes 1000 (A = 0.1, 0.3, 0.5, 0.9) and 20 (0.3, 0.5, 0.9); quick: 200 and 20 (0.3, 0.9)",
    holds=AllOf(
        Below(
            0.01,
            "stronger",
            what="largest relative error at the stronger spike",
            form=".2%",
            because="corrections of order 1/(rho A^2): 0.2% is found",
        ),
        Below(
            0.03, "weaker", what="at spike 20", form=".1%", because="corrections of order 1/(rho A^2), with A of 0.3"
        ),
    ),
    reads="t2 - t1 of the networks {lengths:.3f}, by the formula {wanted:.3f}, by the bound (20) {bounds:.2f}",
)
def strong_spikes(trial: Trial) -> Numbers:
    cells = [cell for cell in phase_times.strong_cells(trial) if cell.spike > 20 or cell.alignment >= 0.3]
    lengths = by_pair(cells, lambda cell: mean_of(cell, "length"))
    wanted = by_pair(cells, lambda cell: theory_of(cell).strong_spike_length(DELTA))
    errors = {pair: abs(lengths[pair] / wanted[pair] - 1) for pair in lengths}
    return {
        "stronger": {pair_of(cell): errors[pair_of(cell)] for cell in cells if cell.spike > 20},
        "weaker": {pair_of(cell): errors[pair_of(cell)] for cell in cells if cell.spike <= 20},
        "lengths": lengths,
        "wanted": wanted,
        "bounds": by_pair(cells, lambda cell: theory_of(cell).later_bound(DELTA)),
    }


@claim(
    "early-w2",
    where="ours, for Eq. (17)",
    says="While w1 = u grows, w2 = (nu/lambda1)[p artanh(u/p) - u], p its plateau: of order 1 however small the start.",
    assumes=f"{SMALL}; w2 small beside w1",
    tried=f"{NETWORKS}; spike 20 with alignment 0.3, spike 5 with alignment 0.8, until w1^2 is 90% of its plateau",
    holds=AllOf(
        Below(
            0.15,
            what="largest relative error where w1^2 is 90% of its plateau",
            form=".1%",
            because="what is left out is of first order in w2/w1, which is 0.12 there",
        ),
        Below(0.05, "half", what="at half of it", form=".1%", because="of first order in w2/w1, which is 0.035 there"),
    ),
    reads="w2 of the networks {measured:.4f}, by the formula {wanted:.4f}",
)
def early_second(trial: Trial) -> Numbers:
    measured, wanted = {}, {}
    errors: dict[float, list[float]] = {}
    for spike, alignment in (PAIR, (5.0, 0.8)):
        run = trained_networks(trial, (spike, alignment))
        for share in (0.5, 0.9):
            u = np.sqrt(share) * run.moments.plateau
            name = f"{spike:g}, {alignment:g}, {share:.0%}"
            logs = [
                np.interp(ln.observables.crossing_time(run.times, w1, u), run.times, np.log(np.maximum(w2, 1e-12)))
                for w1, w2 in zip(run.w1.T, run.w2.T, strict=True)
            ]
            measured[name] = np.exp(logs).mean()
            wanted[name] = run.theory.early_second(u, [0.0])[0]
            errors.setdefault(share, []).append(abs(measured[name] / wanted[name] - 1))
    return {"value": highest(errors[0.9]), "half": highest(errors[0.5]), "measured": measured, "wanted": wanted}
