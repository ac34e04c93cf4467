"""The paper's constants, and those of linnet where the paper gives none; each stands here once."""

from __future__ import annotations

from typing import TypedDict


class Size(TypedDict):
    """The input dimension and the width of a network."""

    dim: int
    width: int


# Section 6, synthetic data; `eta` is the paper's step, m times the canonical one.
SAMPLES = 10
DIM = 10_000
WIDTH = 1024
ETA = 0.1
FIRST_STD = 0.01  # the paper calls it a variance; with that reading its Figure 1b does not come out
MAGNITUDE = 0.001
NOISE_VARIANCE = 0.01

# Data inside Assumption 4.1: standard normal inputs, a teacher of unit signal, the scales of `admissible`.
NOISE_LIMIT = 8.0 * SAMPLES  # of the labels' variance at unit signal: condition (5)
EPSILON = 0.01  # the loss that the assumption is evaluated for; Lemma 5.3 ends stage 2 at 4 epsilon
LEFT = 0.08  # of the loss, where stage 2 ends: 4 epsilon of a loss of 1/2
MARGIN = 10.0  # how far inside each condition on the start and the step
SMALL: Size = {"dim": 2000, "width": 512}  # quick mode; conditions (1)-(6) hold there too
LARGE: Size = {"dim": DIM, "width": WIDTH}
RATIOS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # v_0/(sigma_0 sqrt(log m)): all inside the printed assumption
MARGINS = (MARGIN, 1.0)  # 1: the start at the limit of conditions (2) and (3), all constants 1
SIGNALS = (1.0, 0.3, 0.1, 0.03)  # |beta|, down to where (6), tr(Sigma)|beta|^2 = Omega(1), ends

# Where stages end on runs that are not inside the assumption, whose alignments pass 1 in the first step: Figure 1's
# vertical line, "the loss is barely optimized" before it.
FIRST_SHARE = 0.95

# Image figures: the paper gives no settings.
IMAGE_WIDTH = 1024
IMAGE_SAMPLES = 200
IMAGE_FIRST_STD = 1e-4
IMAGE_MAGNITUDE = 1e-3
LINEAR_GROWTH = 0.05  # of the first stage per step
RELU_GROWTH = 0.1

# Words that several claims share.
RATIO = r"$v_0/(\sigma_0 \sqrt{\log m})$"
ASSUMED = "Assumption 4.1, as printed"
SECTION_SIX = (
    r"synthetic data of section 6: $m = 1024$, $d = 10\,000$, $n = 10$, $\eta = 0.1$, $\sigma_0 = 0.01$, "
    "$v_0 = 0.001$, at this size in quick mode too"
)
SIZES = r"$n = 10$, $d = 10\,000$, $m = 1024$ (quick: $d = 2000$, $m = 512$)"
INSIDE = f"unit-signal data inside Assumption 4.1: {SIZES}"
OVER_RATIOS = (
    f"{INSIDE}; {RATIO} = {', '.join(f'{ratio:g}' for ratio in RATIOS)}, "
    r"$\sigma_0$ a tenth of the limit of (2) and at it, 8 draws of each (quick: 6)"
)
OVER_SIGNALS = (
    rf"{SIZES}, $\lvert \beta \rvert$ = {', '.join(f'{s:g}' for s in SIGNALS)}, $v_0$ and $\sigma_0$ a tenth of the "
    "limits of (2) and (3) and at them, 4 draws of each (quick: 2)"
)


def size(quick: bool) -> Size:
    """Return the input dimension and the width of the networks inside the assumption."""
    return SMALL if quick else LARGE
