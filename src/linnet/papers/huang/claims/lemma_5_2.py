"""Lemma 5.2: every neuron, and the kernel, at the end t1 of the first stage."""

from __future__ import annotations

import numpy as np

from linnet.papers.huang import settings
from linnet.papers.huang.networks import inside
from linnet.papers.huang.tables import neurons
from linnet.papers.huang.tables.neurons import dominant
from linnet.reproduction import AtMost, Below, Limit, Numbers, Trial, Verdict, claim
from linnet.reproduction.fits import exponent, highest

SPREAD = Limit(10.0, "of order 1 for every neuron: none ten times above or below the median one")
SIGNALS = (1.0, 1.5, 2.0, 3.0)


@claim(
    "lemma5.2",
    where="Lemma 5.2 (i), (ii)",
    says="At t1 every alignment is of order 1 and every magnitude of order 1/(sqrt(n tr)|beta|).",
    assumes=settings.ASSUMED_AND_DOMINANT,
    tried=settings.OVER_RATIOS + "; t1 is where the median |rho_r| is 1",
    holds=AtMost(SPREAD, "worst", what="factor between a neuron and the median one"),
    corrected=AtMost(SPREAD, what="that factor where v_0 dominates"),
    correction="it holds for every neuron where v_0 is well above sigma_0 sqrt(log m)",
    expected=Verdict.CORRECTED,
    reads="|rho_r(t1)| over all neurons in units of their median, which is 1, by v_0/(sigma_0 sqrt(log m)): least "
    "{least:.2g}; largest {most:.2g}; |v_r(t1)| sqrt(n tr)|beta| at the largest ratio: {magnitudes.last:.2f}",
)
def end_of_the_first_stage(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    least, most = rows["least"], rows["most"]
    worst = {ratio: highest(most[ratio], 1 / least[ratio]) for ratio in least}
    sizes = {"least": least, "most": most, "worst": worst, "magnitudes": rows["magnitudes"]}
    return {"value": highest(dominant(worst)), **sizes}


@claim(
    "lemma5.2-kernel",
    where="Lemma 5.2 (iii)",
    says="At t1 the kernel is within C/(m n^3 |beta|^6 tr) of the target-aligned one, C an absolute constant.",
    assumes=settings.ASSUMED,
    tried=settings.INSIDE + "; |beta| = 1, 1.5, 2, 3 with 3 draws of each, every step kept, interpolated at t1",
    holds=Below(
        1.0,
        what="power of |beta| by which C must grow",
        form=".2f",
        because="an absolute constant has power 0; 4 is what the terms of the distance give",
    ),
    expected=Verdict.REFUTED,
    reads="C needed at t1 for |beta| = 1, 1.5, 2, 3: {constants:.2g}; relative to the kernel the distance is "
    "{relative.lowest:.1%} to {relative.highest:.1%}, {shares.lowest:.2f} to {shares.highest:.2f} times v_0^2 gamma",
)
def kernel_at_the_end_of_the_first_stage(trial: Trial) -> Numbers:
    constants, relative, law = [], [], []
    for signal in SIGNALS:
        each = []
        for draw in range(3):
            run = inside(
                [trial.seed, draw], **settings.size(trial.quick), signal=signal, growth_times=1.0, states=100_000
            )
            m, n, data = run.width, run.data.samples, run.data
            at, target = run.moment(run.first_time()).kernel / m, run.history.target / (m * run.history.gamma)
            distance = float(np.linalg.norm(at - target, 2))
            each.append(distance * m * n**3 * data.signal**6 * data.trace)
            relative.append(distance / float(np.linalg.norm(target, 2)))
            law.append(run.scales["magnitude"] ** 2 * run.history.gamma)
        constants.append(float(np.exp(np.mean(np.log(each)))))
    power, error = exponent(SIGNALS, constants)
    return {
        "value": power,
        "uncertainty": error,
        "constants": constants,
        "relative": relative,
        "law": law,
        "shares": np.divide(relative, law).tolist(),
    }
