"""Section 6: what the experiments show, over draws and over the conventions that the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet.papers.huang import settings
from linnet.papers.huang.networks import pictures, train
from linnet.papers.huang.networks.pictures import CONVENTIONS, PictureRun, convention
from linnet.papers.huang.tables import synthetic
from linnet.reproduction import AtLeast, AtMost, Below, Limit, Numbers, Trial, Verdict, claim
from linnet.reproduction.fits import highest, lowest

SETS = ("photographs", "digits")
PICTURES = (
    "3072 inputs: 32 x 32 patches of scikit-learn's two photographs; and its digits 3 and 8; n = 200, m = 512 "
    "(quick: 80, 128)"
)
UNSTATED = "none stated; the paper gives neither pixels' nor targets' convention: all four are tried"
TURNED = Limit(0.95, "a kernel within 18 degrees of the target-aligned one")
MOMENTS = "where the loss has lost 5%, when nine tenths of the drop are done, and at the end"


@claim(
    "ratio",
    where="Section 6 (i), (ii), Figure 1",
    says="The ratio of alignment to magnitude settles while the loss is high and stays: rho/v = sqrt(gamma).",
    assumes="none stated",
    tried=settings.SECTION_SIX + ", 12 draws (quick: 3); t1: the loss has lost 5%",
    holds=Below(
        0.1,
        what="largest distance of rho/(v sqrt(gamma)) from 1, from t1 on, in any draw",
        form=".3f",
        because="settled within a tenth of sqrt(gamma), where the ratio starts from 0",
    ),
    reads="median rho/(v sqrt(gamma)) is {first.lowest:.3f} to {first.highest:.3f} at t1 (steps {steps.lowest:.0f} to "
    "{steps.highest:.0f}, {first.count} draws) and between {least.lowest:.3f} and {most.highest:.3f} after; the mean "
    "over neurons of these ratios, which a magnitude near 0 can move anywhere, ends at {means.lowest:.3f} to "
    "{means.highest:.3f}",
)
def ratio(trial: Trial) -> Numbers:
    own = synthetic.TABLE.rows(trial)
    first, least, most = (own[f"ratio_{name}"].values for name in ("first", "least", "most"))
    off = np.maximum(np.abs(least - 1), np.maximum(np.abs(most - 1), np.abs(first - 1)))
    return {
        "value": highest(off),
        "first": first.tolist(),
        "least": least.tolist(),
        "most": most.tolist(),
        "means": own["mean_of_ratios_end"].values.tolist(),
        "steps": own["first_step"].values.tolist(),
    }


@claim(
    "dichotomy",
    where="Section 4.1, the two cases below Eq. (6)",
    says="Large alignments with small magnitudes are feature learning, small ones with large magnitudes lazy training: "
    "the start's scale decides which.",
    assumes="none stated",
    tried="unit signal, n = 10, d = 2000, m = 256, sigma_0 = 1e-8, v_0 from 1e-3 to 100 times the final magnitude; "
    "read when half the loss is gone",
    holds=AtMost(
        0.1,
        what="rho/(v sqrt(gamma)) from the largest start",
        form=".3f",
        because="lazy: alignments of a tenth of sqrt(gamma) times the magnitudes or less when half the loss is gone",
    )
    & AtLeast(
        0.9,
        "small",
        what="from the smallest start",
        form=".3f",
        because="feature learning: nine tenths of it or more",
    ),
    reads="median rho/(v sqrt(gamma)) when half the loss is gone, by v_0 in units of the final magnitude: "
    "{ratios:.3f}; the change of |v| by then: {moved:+.1%}",
)
def dichotomy(trial: Trial) -> Numbers:
    data = ln.problems.gaussian_teacher(key=trial.seed, dim=2000, signal=1.0)
    gamma = float(np.linalg.norm(data.inputs.T @ data.outputs) ** 2)
    # rho^2 ends at about gamma^(3/2)/tr: in units of that final magnitude the start is small, or large
    final = np.sqrt(gamma**1.5 / data.trace / gamma)
    found, moved = {}, {}
    for size in (1e-3, 0.1, 1.0, 10.0, 100.0):
        magnitude = size * final
        growth = 0.02 * data.samples / (np.sqrt(gamma) + magnitude**2 * data.trace)  # stable for both kinds
        steps = int(30 / 0.02 if size > 0.3 else 20 / (growth * np.sqrt(gamma) / data.samples))
        run = train(data, trial.seed, width=256, steps=steps, first_std=1e-8, magnitude=magnitude, learning_rate=growth)
        half = run.reached(0.5)
        found[size] = float(run.history.median_ratio[half])
        change = np.abs(run.history.magnitudes[half] / run.history.magnitudes[0]) - 1
        moved[size] = float(np.median(change))
    return {"value": found[100.0], "small": found[1e-3], "ratios": found, "moved": moved}


def _networks(
    trial: Trial, network: Callable[..., PictureRun], steps: int, cases: list[tuple[str, bool, str]]
) -> dict[str, PictureRun]:
    samples, width = (80, 128) if trial.quick else (settings.IMAGE_SAMPLES, 512)
    found = {}
    for name, centred, targets in cases:
        X, y = ln.problems.load_images(name).two_classes(
            samples=samples, key=trial.seed, centred=centred, targets=targets
        )
        found[f"{name}, {convention(centred, targets)}"] = network(
            X, y, seed=trial.seed, width=width, steps=steps, save_every=8
        )
    return found


def _linear(trial: Trial) -> Numbers:
    cases = [(name, *each) for name in SETS for each in CONVENTIONS]
    ratios, distances, starts = {}, {}, {}
    for words, run in _networks(trial, pictures.linear_network, 400 if trial.quick else 600, cases).items():
        moments = run.moments()
        ratios[words] = run.history.median_ratio[moments].tolist()
        distances[words] = run.history.kernel_distance[moments].tolist()
        starts[words] = float(run.history.kernel_cosine[0])
    return {"ratios": ratios, "distances": distances, "starts": starts}


@claim(
    "images",
    where="Section 6, Figure 2",
    says="On real images the alignment of the weights, rho_r/v_r, maintains stability in the second stage.",
    assumes=UNSTATED,
    tried=PICTURES,
    holds=Below(
        0.05,
        what="largest distance of rho/(v sqrt(gamma)) from 1 until then, on any set and in any convention",
        form=".3f",
        because="stable: within 5% from t1 until nine tenths of the drop are done",
    ),
    expected=Verdict.REFUTED,
    reads=f"median rho/(v sqrt(gamma)) {MOMENTS}: {{ratios:.3f}}",
)
def images(trial: Trial) -> Numbers:
    found = _linear(trial)
    off = {words: highest(abs(ratio - 1) for ratio in each[:2]) for words, each in found["ratios"].items()}
    return {"value": highest(off.values()), **found}


@claim(
    "images-kernel",
    where="Section 6, Figure 2",
    says="On real images the kernel converges, in the second stage, towards the one aligned with the target.",
    assumes=UNSTATED,
    tried=PICTURES,
    holds=Below(
        1.0,
        what="least distance at the end over that at t1, of any set and convention",
        form=".1f",
        because="a distance that converges is at the end below what it was at t1",
    ),
    expected=Verdict.REFUTED,
    reads=f"relative distance to the target-aligned kernel {MOMENTS}: {{distances:.2g}}",
)
def images_kernel(trial: Trial) -> Numbers:
    found = _linear(trial)
    return {"value": lowest(each[2] / each[0] for each in found["distances"].values()), **found}


RELU_READS = (
    f"cosine to the target-aligned kernel at the start, {MOMENTS}: {{cosines:.3f}}; to that kernel between pictures on "
    "one side of the feature: {gated:.3f}; median ratio from t1 on: {ratios:.2f}"
)


def _relu(trial: Trial, centred: bool, targets: str) -> Numbers:
    cases = [(name, centred, targets) for name in SETS]
    runs = _networks(trial, pictures.relu_network, 280 if trial.quick else 400, cases)
    cosines, gated, ratios = {}, {}, {}
    for (name, _, _), run in zip(cases, runs.values(), strict=True):
        moments = run.moments()
        cosines[name] = run.history.kernel_cosine[[0, *moments]].tolist()
        gated[name] = run.gated_cosine[[0, *moments]].tolist()
        ratios[name] = run.history.median_ratio[moments].tolist()
    return {"cosines": cosines, "gated": gated, "ratios": ratios}


@claim(
    "relu",
    where="Section 6, Figure 3",
    says="The kernel of a ReLU network converges to the target-aligned kernel, on raw pixels with class numbers.",
    assumes="none stated: this is the convention in which it does",
    tried="digits 3 and 8 with targets 3 and 8, n = 200, m = 512 (quick: 80, 128); photographs with 0 and 1 are told",
    holds=AtLeast(TURNED, what="least cosine through the drop, on digits", form=".3f"),
    reads=RELU_READS,
)
def relu(trial: Trial) -> Numbers:
    found = _relu(trial, False, "labels")
    return {"value": lowest(found["cosines"]["digits"][1:3]), **found}


@claim(
    "relu-centred",
    where="Section 6, Figure 3",
    says="The kernel of a ReLU network converges to the target-aligned kernel, on centred pixels with targets of +1 "
    "and -1.",
    assumes="none stated",
    tried=PICTURES,
    holds=AtLeast(TURNED, what="largest cosine from t1 on", form=".3f"),
    expected=Verdict.REFUTED,
    reads=RELU_READS,
)
def relu_centred(trial: Trial) -> Numbers:
    found = _relu(trial, True, "signs")
    return {"value": highest(highest(each[1:]) for each in found["cosines"].values()), **found}
