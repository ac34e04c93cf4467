"""What text and proofs take for granted of the sizes at initialization and at t1, and of the end of the growth."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.grids import starts
from linnet_papers.huang.training.runs import FeatureRun
from linnet_papers.reproduction import Range, Rows, Trial, Verdict, at_least, at_most, claim, fact, printed
from linnet_papers.reproduction.fits import lowest

over_alike = partial(claim, assumes=f"{settings.ASSUMED}; neurons alike", tried=starts.OVER_ALIKE, region=starts.ALIKE)


@claim(
    "lemmaB1-overlaps",
    says=r"$\lvert \langle w_r(0), X^\top y \rangle \rvert \le 0.1$ for all $r$, by Lemma A.1 and condition (2).",
    assumes=settings.ASSUMED,
    tried=r"$\sigma_0$ at the limit of (2) with the constant 0.01 of the proof, $d = 2000$, $m = 1024$, unit signal",
    region={"noise": Range(0, 1), "samples": Range(5, 20, whole=True)},
)
def overlaps_are_small(trial: Trial) -> Rows:
    def largest(*, noise: float, samples: float) -> float:
        """Return the largest overlap of a start, the noise being in units of the limit of (5)."""
        n, key = int(samples), [trial.seed, int(samples)]
        data = ln.problems.gaussian_teacher(key=key, samples=n, dim=2000, signal=1.0, noise_variance=8 * n * noise)
        first_std = _limit_of_first_std(data.in_dim * data.samples * data.signal**2 * data.trace)
        start = ln.inits.signed(key=trial.seed, in_dim=2000, width=1024, first_std=first_std, magnitude=1.0)
        return float(np.abs(np.sqrt(1024) * start.first @ (data.inputs.T @ data.outputs)).max())

    overlaps = {label: largest(**setting) for label, setting in trial.region(4).items()}
    yield printed("largest overlap of a neuron", overlaps, at_most(0.1, "the bound as it is printed"))


def _limit_of_first_std(power: float) -> float:
    """Return the limit of condition (2) on sigma_0 by d n |beta|^2 tr, its constant being that of the proof."""
    return 0.01 / np.sqrt(power)


@claim(
    "lemmaB1-start",
    says=r"$\lvert w_r(0) \rvert \le 0.01 \rho_r(t)/\sqrt{\gamma}$ through stage 1, by Lemma A.2 and $\sigma_0 < "
    r"0.01/\sqrt{\gamma d}$.",
    assumes=settings.ASSUMED,
    tried=r"$\sigma_0 = 0.01/\sqrt{\gamma d}$ and $v_0 = 0.1/\sqrt{\gamma}$, $\gamma^{3/2}/\mathrm{tr} = 1000$, "
    r"$n = 10$, $d = 10\,000$, $m = 1024$ (quick: 2000, 128)",
    expected=Verdict.REFUTED,
)
def start_against_alignments(trial: Trial) -> Rows:
    strength, dim = 1e3, 2000 if trial.quick else settings.DIM
    run = starts.network(trial, strength=strength, second_layer=1e-2 / strength, first_layer=1e-4 / dim / strength)
    lengths = np.linalg.norm(run.start.first, axis=1) * np.sqrt(run.start.width)
    over = lengths * np.sqrt(run.history.gamma) / (0.01 * np.abs(run.history.alignments[1:]))
    first, half = run.first_state_at_t1() - 1, (run.first_state_at_t1() - 1) // 2
    bound = at_most(1.0, "the inequality as it is printed, from the first step on")
    words = r"median of $\lvert w_r(0) \rvert \sqrt{\gamma}/(0.01 \lvert \rho_r \rvert)$"
    yield printed(f"{words} halfway to $t_1$", np.median(over[half]), bound)
    yield fact(f"{words} at the first saved state", np.median(over[0]))
    yield fact(f"{words} at $t_1$", np.median(over[first]))


@over_alike(
    "lemmaB1-sizes",
    says=r"For $t \le t_1$ $v_r(t) \le 1/\sqrt{\gamma}$ for all $r$, where $\rho_r(t) \le 1$.",
)
def sizes_until_first_time(trial: Trial) -> Rows:
    def largest_magnitude(run: FeatureRun) -> float:
        """Return the largest |v_r| sqrt(gamma) where the largest |rho_r| is 1."""
        history = run.history
        at = int(np.argmax(np.abs(history.alignments).max(axis=1) >= 1)) - 1
        return np.abs(history.magnitudes[at]).max() * np.sqrt(history.gamma)

    kept = at_most(
        1.2,
        r"with an overlap $c_r$ it is $\sqrt{1 + 2 c_r + v_0^2 \gamma}$ there: 1.18 from the largest initialization",
    )
    sizes = starts.read_over_region(trial, largest_magnitude)
    yield printed(
        r"largest $\lvert v_r \rvert \sqrt{\gamma}$ while all $\lvert \rho_r \rvert$ are below 1", sizes, kept
    )


@over_alike(
    "scale-difference",
    says=r"At $t_1$ every $\rho_r$ is significantly larger than $v_r$, as $n \lvert \beta \rvert^2 \mathrm{tr} \gg 1$.",
)
def scale_difference(trial: Trial) -> Rows:
    def smallest_ratio(run: FeatureRun) -> float:
        """Return the least |rho_r/v_r| at t1."""
        return np.abs(run.stage.alignments[0] / run.stage.magnitudes[0]).min()

    larger = at_least(10.0, "significantly larger: ten times")
    ratios = starts.read_over_region(trial, smallest_ratio)
    yield printed(r"smallest $\lvert \rho_r/v_r \rvert$ at $t_1$", ratios, larger)
    powers = [settings.SAMPLES * signal**2 * settings.size(trial.quick)["dim"] for signal in settings.SIGNALS]
    yield printed(r"smallest $n \lvert \beta \rvert^2 \mathrm{tr}$ that (6) admits", lowest(powers), larger)


@over_alike(
    "slowing",
    says=r"As $\rho_r^2$ approaches $\gamma^{5/2}/\phi$, the growth rate of $\lvert \rho_r \rvert$ slows down.",
)
def growth_slows(trial: Trial) -> Rows:
    def rate_left(run: FeatureRun) -> float:
        """Return the rate of the mean of rho^2 where it is 0.9 of its limit, over that at t1."""
        square = np.log(run.history.mean_square[1:])
        rates = np.diff(square) / np.diff(run.history.times[1:])
        at = int(np.argmax(square >= np.log(0.9 * run.stages.limit)))
        return rates[at] / rates[run.first_state_at_t1()]

    slower = at_most(0.2, "by (11) a tenth is left where the square is at nine tenths of its limit: twice that")
    yield printed("rate there over the rate at $t_1$", starts.read_over_region(trial, rate_left), slower)
