"""The paper's constants, once: its network, its data, its pairs of spike and alignment."""

from __future__ import annotations

from pydantic import PositiveFloat, PositiveInt

from linnet_papers.reproduction import Range, Settings, above

DIM, WIDTH, SCALE, SAMPLES = 30, 50, 1e-5, 10_000  # Figures 1 to 3: inputs, hidden units, s and n
SPIKE, ALIGNMENT, DELTA = 20.0, 0.3, 3.0  # Figures 1 and 2; delta says when w2 counts as settled
PAIR = (SPIKE, ALIGNMENT)
SEEDS, POINTS = 4, 240  # networks behind each number of a claim, and the times at which they are saved


def pair_name(spike: float, alignment: float) -> str:
    """Return a pair of spike and alignment in words."""
    return f"spike {spike:g}, alignment {alignment:g}"


AT_PAIR = pair_name(*PAIR)
LARGE = 0.3  # a scale of the initialization at which nothing is small
SMALL = r"Gaussian initialization of scale $s \ll 1$, population covariance"
NETWORK = f"$d = {DIM}$, $m = {WIDTH}$"
NETWORKS = f"{NETWORK}, $s = 10^{{-5}}$, population covariance, gradient flow, {SEEDS} seeds"
SCALES = "$s$ from $10^{-2}$ to $10^{-6}$"
CORNERS = ((0.2, 0.05), (100.0, 0.95), (0.2, 0.95), (100.0, 0.05))  # of the plane of spike and alignment
AT_CORNERS = "spikes {:g} and {:g} with alignments {:g} and {:g}".format(
    *(end(corner[place] for corner in CORNERS) for place in (0, 1) for end in (min, max))
)
EVERYWHERE = (
    f"{NETWORKS}; {SCALES} at {AT_PAIR}, and $10^{{-3}}$ and $10^{{-5}}$ at the corners: {AT_CORNERS} (two of the four "
    "in quick mode)"
)
# The regions of corrections: ten times less and ten times more than the paper's spike, and further where they hold
PLANE = {"spike": Range(2, 200, log=True, paper=(SPIKE,)), "alignment": Range(0.03, 0.97, paper=(ALIGNMENT,))}
WHOLE_PLANE = {"spike": Range(0.2, 1000, log=True, paper=(SPIKE,)), "alignment": Range(0.01, 0.99, paper=(ALIGNMENT,))}
STRONG_SPIKES = {"spike": Range(SPIKE, 200, log=True, paper=(SPIKE,)), "alignment": Range(0.3, 0.8, paper=(ALIGNMENT,))}
SMALL_SCALES = {
    "scale": Range(1e-6, 1e-4, log=True, paper=(SCALE,)),
    "ratio": Range(1, 100, log=True, paper=(WIDTH / DIM,)),
}
SCANNED = f"corners of the region and settings inside it, $d = 6$, $m = 10$, {SEEDS} seeds"
SLOPE = above(0.95, "a power of the scale $s$, fitted over decades, is short of its value by less than 0.05")
FINITE_SIZE = 3.0  # laws of d -> infinity: each prediction may be off by 3/d of itself
JOINT = "chance alone exceeds it once in 10 000 runs, all points together (Bonferroni), beyond an allowance of $3/d$"


class RunSettings(Settings):
    """The paper's network and data."""

    dim: PositiveInt = DIM
    width: PositiveInt = WIDTH
    samples: PositiveInt = SAMPLES
    scale: PositiveFloat = SCALE
    delta: PositiveFloat = DELTA
    points: PositiveInt = 400


class PairSettings(RunSettings):
    """With the spike and alignment of Figures 1 and 2."""

    spike: float = SPIKE
    alignment: float = ALIGNMENT
