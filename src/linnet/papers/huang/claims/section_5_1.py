"""What section 5.1 says of every neuron in the first stage and after: signs, growth, where it ends."""

from __future__ import annotations

from functools import partial

from linnet.papers.huang.settings import ASSUMED, ASSUMED_AND_DOMINANT, OVER_RATIOS
from linnet.papers.huang.tables import neurons
from linnet.papers.huang.tables.neurons import dominant, well_inside
from linnet.reproduction import AtLeast, AtMost, Claim, Limit, Numbers, Trial, claim
from linnet.reproduction.fits import highest, lowest

of_neurons = partial(claim, assumes=ASSUMED, tried=OVER_RATIOS)
ALL = Limit(0.999, "one neuron in a thousand may be caught while it turns")
NONE_FALLS = AtMost(0, "falling", what="neurons in which it falls", form=".0f", because="it is said of every neuron")
NONE_DOMINANT = AtMost(0, what="neurons in which it falls where v_0 dominates", form=".0f", because=NONE_FALLS.because)
OFF_THE_LIMIT = Limit(
    0.02, "XX' is a multiple of the identity to a few percent, and the limit assumes that it is one exactly"
)


@of_neurons(
    "limit",
    says="The squared alignment of each neuron tends to gamma^(5/2)/phi.",
    holds=AtMost(OFF_THE_LIMIT, "spread", what="distance of the median neuron from the mean", form=".0%"),
    corrected=AtMost(OFF_THE_LIMIT, what="largest distance of the mean from gamma^(5/2)/phi", form=".2%"),
    correction="the mean over neurons of rho^2 tends to gamma^(5/2)/phi",
    reads="the mean over neurons of rho_r^2 phi/gamma^(5/2) at the end, by v_0/(sigma_0 sqrt(log m)): {means:.4f}; the "
    "median neuron is off it by {spread:.0%}",
)
def limit(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    off = highest(abs(mean - 1) for mean in rows["limit"].values())
    return {"value": off, "means": rows["limit"], "spread": rows["spread"]}


@of_neurons(
    "difference",
    says="Over time the difference between rho_r and sqrt(gamma) v_r diminishes.",
    holds=AtMost(
        0.001,
        "grown",
        what="share of neurons in which it is larger at t1 than at the start",
        form=".0%",
        because="one neuron in a thousand may be caught while it turns",
    ),
    corrected=AtMost(
        0.05,
        what="distance of the difference at t1 from -<w_r(0), X'y>",
        form=".2%",
        because="the part of the difference that decays, e^(-2 t1), is a few percent of c_r at these scales",
    ),
    correction="the difference tends to -<w_r(0), X'y>, so that only the relative difference vanishes",
    reads="rho_r - sqrt(gamma) v_r at t1 is off -<w_r(0), X'y> by {value:.2%} (median neuron, worst ratio below 3); it "
    "is larger in size than at the start, by v_0/(sigma_0 sqrt(log m)), for {grown:.0%} of the neurons",
)
def difference(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    # where v_0 dominates, what has not yet decayed at t1 outweighs <w_r(0), X'y>; so it does from a start at the limit
    off = well_inside(rows["difference"])
    return {"value": highest(off[key] for key in off.keys() - dominant(off)), "grown": rows["grown"]}


@of_neurons(
    "signs-determined",
    says="The signs of alignment and magnitude are determined by the initial <w_r(0), X'y> and v_r(0).",
    holds=AtLeast(
        0.995,
        "determined",
        what="share whose sign is that of sqrt(gamma) v_r(0) + <w_r(0), X'y>",
        form=".2%",
        because="where that sum is below a two-hundredth of its size, what (9) neglects decides",
    ),
    reads="the sign of v_r at the end is that of sqrt(gamma) v_r(0) + <w_r(0), X'y>, by v_0/(sigma_0 sqrt(log m)), for "
    "{determined:.2%} of the neurons ({count} in all)",
)
def signs_determined(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    determined = rows["determined"]
    return {"value": lowest(determined.values()), "determined": determined, "count": sum(rows["count"].values())}


@of_neurons(
    "signs",
    says="Each neuron's alignment and magnitude maintain consistent signs throughout the training.",
    assumes=ASSUMED_AND_DOMINANT,
    holds=AtLeast(ALL, "kept", what="share of neurons that keep the sign of v(0)", form=".1%"),
    corrected=AtLeast(ALL, what="share that keeps it where v_0 dominates", form=".1%")
    & AtMost(
        4.0,
        "off",
        what="standard errors from Phi(v_0/sigma_0)",
        form=".1f",
        because="standard errors of the share, neurons being drawn independently",
    ),
    correction="a share Phi(v_0/sigma_0) of the neurons keeps its sign, all where v_0 is well above sigma_0 "
    "sqrt(log m)",
    reads="neurons whose rho and v keep the sign of v(0), by v_0/(sigma_0 sqrt(log m)): {kept:.1%}; they are at most "
    "{off:.1f} standard errors from the normal law's Phi(v_0/sigma_0) ({count} neurons each)",
)
def signs(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    return {
        "value": lowest(dominant(rows["kept"]).values()),
        "kept": rows["kept"],
        "off": highest(rows["kept_off"].values()),
        "count": next(iter(rows["count"].values())),
    }


FALLS_READS = (
    "neurons in which it falls between two saved states of stage 2, of {count} in all, by v_0/(sigma_0 sqrt(log m)): "
    "{falling:.0f}; networks with one whose |rho_r| falls, of {networks}: {falling_networks:.0f}"
)
IF_DOMINANT = "none falls where v_0 is well above sigma_0 sqrt(log m): those that fall turn within stage 2"


def _never_falls(name: str, *, says: str, falling: str) -> Claim:
    """Declare that a quantity of every neuron never falls in the second stage; `falling` counts those where it does."""

    @of_neurons(
        name,
        says=says,
        holds=NONE_FALLS,
        corrected=NONE_DOMINANT,
        correction=IF_DOMINANT,
        reads=FALLS_READS,
    )
    def measured(trial: Trial) -> Numbers:
        rows = neurons.TABLE.rows(trial)
        return {
            "value": sum(dominant(rows[falling]).values()),
            "falling": rows[falling],
            "falling_networks": rows["falling_networks"],
            "networks": next(iter(rows["networks"].values())),
            "count": sum(rows["count"].values()),
        }

    return measured


rising = _never_falls("rising", says="Every |rho_r| consistently increases during the second stage.", falling="rising")
products = _never_falls("products", says="rho_r(t) v_r(t) is monotone in the second stage.", falling="multiplying")


@of_neurons(
    "output-aligns",
    says="X'X W v tends to align closely with the direction of X'y.",
    holds=AtLeast(
        0.98,
        what="least cosine at t1",
        form=".4f",
        because="XX' is a multiple of the identity up to sqrt(n/d), 7% in quick mode: a cosine of about 0.995",
    ),
    reads="the cosine of X'X W v to X'y is {value:.4f} or more at t1, where the median network's is {start:.3f} or "
    "less at the first saved state",
)
def output_aligns(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    return {"value": lowest(rows["output_first"].values()), "start": highest(rows["output_start"].values())}
