"""The page *Depth*: how modes are learned at depth 2 to 6, trained and predicted, and the phase diagram by depth.

`linnet_papers.explorer.computing` says what the files of this folder must keep to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln

if TYPE_CHECKING:
    import xarray as xr

DEPTHS = (2, 3, 4, 5, 6)
SIDE = 3  # inputs and outputs of the trained network: one compiled flow for each depth
ORDER = 6  # letters of the longest word of the Krylov space that is kept, of the network and of the formula
TIMES = 121  # points of a curve
# Of the map along each side, in powers of two: few couplings sqrt(w) sigma then differ, and `drawing.map_axis` needs
# cells of one size.
CELLS = 24
MAP_STRENGTH, MAP_RATIO = 0.5, 0.95  # of the task's singular values: the largest over d, and each over the one before


def horizon(weakest: float, coupling: float, depth: int) -> float:
    """Return twice the time in which a mode is learned: a plateau that ends at c^(2 - L)/S, then an exponential."""
    lazy = 1 / (depth * max(coupling ** (2 * depth - 2), weakest ** (2 - 2 / depth)))
    plateau = np.log(2 + weakest / coupling**2) if depth == 2 else coupling ** (2 - depth)
    return 2 * float(lazy + plateau / max(weakest, coupling**depth))


def deep_modes(*, depth: int, coupling: float, width: int, values: tuple[float, ...], seed: int) -> xr.Dataset:
    """Train a deep network of any width by gradient flow from a Gaussian start, beside the mode equations.

    **Arguments:** `depth` L layers; `coupling` c = sqrt(w) sigma of the start, `width` w of all hidden layers;
    `values`, the singular values of the target; `seed` of the start.

    **Returns** `trained` and `predicted` (time, mode), `loss` (time) and `threshold`, which `pages/depth.py` draws.
    """
    import xarray as xr

    s = np.sort(np.array(values, dtype=float))[::-1]
    times = np.linspace(0, horizon(float(s[-1]), coupling, depth), TIMES)
    problem = ln.Problem.from_target(np.diag([*s, *[0.0] * (SIDE - len(s))]))
    start = ln.inits.reduced_gaussian(
        in_dim=SIDE, out_dim=SIDE, width=width, depth=depth, stds=coupling * width**-0.5, key=seed, order=ORDER
    )
    run = ln.gradient_flow(problem, start, times=times, rtol=1e-6, reduce=False, max_steps=20_000)
    predicted = ln.theories.deep.gaussian_modes(s, coupling, depth, times, order=ORDER)
    return xr.Dataset(
        {
            "trained": (("time", "mode"), run.singular_values[:, : len(s)]),
            "predicted": (("time", "mode"), predicted),
            "loss": ("time", run.loss),
            "threshold": ((), ln.theories.deep.threshold(coupling, depth)),
        },
        {"time": ("time", times, {"units": "canonical"}), "mode": ("mode", s, {"long_name": "singular value"})},
        {"depth": depth, "reduced_widths": ", ".join(map(str, start.widths))},
    )


def mode_order(*, coupling: float, values: tuple[float, ...]) -> xr.Dataset:
    """Compute when the first and the last mode are half learned at each depth, by the mode equations.

    `half_time` is (depth, which), `which` the largest and the smallest of the target's singular `values`.
    """
    import xarray as xr

    ends = np.array([max(values), min(values)])
    half_times = []
    for depth in DEPTHS:
        times = np.linspace(0, horizon(float(ends[1]), coupling, depth), 4 * TIMES)
        modes = ln.theories.deep.gaussian_modes(ends, coupling, depth, times, order=ORDER)
        half_times.append([float(np.interp(0.5 * end, modes[:, i], times)) for i, end in enumerate(ends)])
    return xr.Dataset(
        {"half_time": (("depth", "which"), np.array(half_times), {"units": "canonical"})},
        {"depth": list(DEPTHS), "which": ["largest", "smallest"]},
    )


def depth_diagram(*, depth: int, dim: int, rank: int, noise_std: float) -> xr.Dataset:
    """Compute the least test error of wide networks over variance and width, by formula.

    **Arguments:** `depth` L; `dim` d, `rank` and `noise_std` of the task, a matrix of low rank in noise.
    """
    strengths = MAP_STRENGTH * dim * MAP_RATIO ** np.arange(rank)
    spectrum = ln.theories.lazy_active.asymptotic_spectrum(strengths, dim, noise_std)
    least = np.ceil(np.log2(32 * dim))  # the formula asks for 16 units for each input and output
    border = np.round(np.log2(strengths[0] ** (2 / depth)))  # of sigma^2 w, at which the largest mode turns lazy
    widths = 2.0 ** (least + np.arange(CELLS // 2))
    variances = 2.0 ** (border - least + np.arange(-CELLS + 3, 3))
    diagram = ln.theories.lazy_active.predicted_diagram(spectrum, variances, widths, points=16, draws=0, depth=depth)
    return (
        diagram.to_dataset()[["min_test_loss", "best_time", "stable_rank", "covered"]]
        .assign(min_test_loss=(("width", "variance"), diagram.min_test_loss * 2 / dim**2))
        .assign_attrs(depth=depth, dim=dim, strengths=strengths, units="errors per entry; times canonical")
    )
