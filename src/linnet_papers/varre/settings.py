"""The numbers of Varre et al. that figures, tables and claims share; where the paper leaves one open it is ours, and
said so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from linnet_papers.reproduction import above, at_most, below, within

# Section 4, "Experiments": the regression of Figures 1a and 4
SAMPLES, INPUTS, OUTPUTS, WIDTH = 5, 10, 3, 200
# Figure 1b: orthogonal data, one output, width 200; the step, the noise and the start are ours
NOISY_INPUTS, NOISY_RATE = 5, 0.02
NOISY_RATES = (0.02, 0.08)  # steps at which the decay is measured
# Figures 2 and 5: points, inputs and neurons of the ReLU teacher and of its student; the scales of the starts are ours
POINTS, POINT_INPUTS, TEACHERS, HIDDEN = 10, 5, 2, 20
# Figure 4: variances of both layers
FIRST_VARIANCE = 1e-3
SECOND_VARIANCES = (1e-2, 1e-3)

# How flows are followed (ours)
STATES = 100
SHORTEST_TIME, LONGEST_TIME = 25.0, 25600.0  # times at which a flow may end
LEFT_LOSS = 1e-21  # of the loss, where it may
_FROM_SMALL = (1e-6, 1e-4, 1e-2, 1.0, 10.0)
_FROM_TINY = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 10.0)
# gammas and number of data sets of each kind of flow, quick or not
FLOW_GRIDS: dict[str, dict[bool, tuple[tuple[float, ...], int]]] = {
    "regression": {True: (_FROM_SMALL, 6), False: (_FROM_SMALL, 12)},
    "scalar": {True: (_FROM_TINY, 4), False: (_FROM_TINY, 12)},
    "white": {True: ((1e-12, 1e-6, 1.0), 4), False: ((1e-12, 1e-9, 1e-6, 1e-3, 1.0), 6)},
    "gaussian": {True: ((1e-2, 1.0), 6), False: ((1e-2, 1.0), 12)},
}

# The noise process (ours but for d = 2 and the start of Figure 3)
DIMS = (2, 3, 5)  # one input has no commutator
STARTS = ("zero", "tilted")
BATCH = 6000
MOMENTS = (1.0, 3.0, 6.0)  # when the paths are looked at
NOISE = {True: (6000, 0.02), False: (60_000, 0.005)}  # paths and step, quick or not
LOG_STEP = 0.02  # of Euler's scheme, where logarithms of singular values are followed to t = 24
GROWTH_DIMS = (2, 3, 4, 5, 6)
# paths, step and time of the growth rates, quick or not: after t = 40 the angle of two neurons nears the last digit
GROWTH = {True: (6000, 0.05, 40.0), False: (24_000, 0.025, 40.0)}

BURN_IN_TIME = 4.0  # the angles that decide the growth forget their start within a time of about one


def _gamma_range(kind: str) -> str:
    """Return the range of the scales gamma of one kind of flow, for a sentence."""
    gammas, _ = FLOW_GRIDS[kind][False]
    first, last = (
        f"$10^{{{round(np.log10(gamma))}}}$" if gamma < 1 else f"{gamma:g}" for gamma in (gammas[0], gammas[-1])
    )
    return f"{first} to {last}"


def _path_counts(modes: Mapping[bool, tuple[float, ...]]) -> str:
    """Return how many paths there are in quick and in full mode, for a sentence."""
    quick, full = (f"{modes[mode][0]:,}".replace(",", " ") for mode in (True, False))
    return f"{quick} paths ({full} in full mode)"


# What several claims assume, and on what they are tried
START = r"orthogonal initialization of scale $\gamma$"
INTERPOLATED = f"{START}, data that can be interpolated"
SIZES = f"$n = {SAMPLES}$, $d = {INPUTS}$, $k = {OUTPUTS}$"
FLOWS = f"gradient flow until $10^{{{round(np.log10(LEFT_LOSS))}}}$ of the loss is left, {SIZES}, width {WIDTH}"
REGRESSION = f"{FLOWS}, orthogonal initializations of scale {_gamma_range('regression')}"
ONE_OUTPUT = (
    f"{FLOWS.replace(f'$k = {OUTPUTS}$', '$k = 1$')}, orthogonal initializations of scale {_gamma_range('scalar')}"
)
NOISE_ALONE = f"Euler-Maruyama from $W_1 = I$ and $a = 0$, unit noise, $t$ up to {MOMENTS[-1]:g}, {_path_counts(NOISE)}"
RATES = (
    f"growth rates of lengths and areas from $t = {BURN_IN_TIME:g}$ to {GROWTH[True][-1]:g}, {_path_counts(GROWTH)}, "
    "a scheme of weak order 2"
)

# Limits that several claims share
ERRORS, MANY_ERRORS = 4.5, 10.0  # standard errors
STATIONARITY = below(1e-7, r"at $\gamma = 10^{-6}$ the inverse of $W_1^\top W_1$ loses six of the sixteen digits")
FEW_ERRORS = below(ERRORS, "one in 150 000 draws of a normal number lies beyond so many standard errors")
CLEARLY = above(MANY_ERRORS, "no heavy tail explains so many standard errors")
NOT_CLEARLY = at_most(MANY_ERRORS, "no heavy tail explains more standard errors than that")
EULER_STEPS = 4.0  # by so many steps may Euler's mean squares be off
EULER = "Euler's own mean squares leave the exact ones by about $d/2$ of a step: four steps are allowed"
_SCHEME = 0.002, "the splitting scheme's own error in a growth rate at step 0.05; four times less at 0.025"
SCHEME = partial(within, *_SCHEME, errors=ERRORS)
BEYOND_SCHEME = above(*_SCHEME, errors=ERRORS)
