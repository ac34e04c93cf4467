"""What is measured on Figure 2: how the runs ended, and what its caption says of each panel."""

from __future__ import annotations

import numpy as np

from linnet_papers.reproduction import Limit
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.figure import Check
from linnet_papers.reproduction.fits import rank_correlation
from linnet_papers.tu.figures.fig2 import predicted
from linnet_papers.tu.figures.fig2.compute import REGIONS

FLOOR = Limit(1.0, "Theorem 2: the test error of the lazy region never falls below a third of min(|A*|^2, |E|^2)")
GAIN = Limit(0.75, "'the active region has a small error while the lazy region does not': a quarter less is clearly so")
TREND = Limit(0.5, "'increases as one goes further into the active region', though a cell has noise of its own")
SMALL = 0.14  # root mean square distance that is a tenth of the target's size, sqrt(2) for each entry


def check(data: Dataset) -> list[Check]:
    checks = _map_checks(data) + predicted.checks(data) if "min_test_loss" in data else []
    if "side_log_distance" in data:
        for region, (_, medians, _) in distance_quartiles(data).items():
            shown = [f"{median:.2f} at d = {int(d)}" for d, median in zip(data["dim"].values, medians, strict=True)]
            text = f"{region} region: median ln distance to eq. (1) is {', '.join(shown)}"
            checks.append(Check(text, float(medians[-1])))
    return checks


def _map_checks(data: Dataset) -> list[Check]:
    """Check what the four maps show, region by region."""
    order = ("gamma_width", "gamma_variance")
    test, ranks, steps, distance = (
        data[name].median("replicate").transpose(*order).values
        for name in ("min_test_loss", "stable_rank", "best_step", "log_distance")
    )
    region = data["region"].transpose(*order).values
    active, lazy = (region == REGIONS.index(name) for name in ("active", "lazy"))
    depth = 1 - data["gamma_variance"].values[None, :] - data["gamma_width"].values[:, None]
    return [
        _endings_check(data),
        _lazy_floor_check(test[lazy], min(data.attrs["truth_power"], data.attrs["noise_power"]) / 3),
        _active_gain_check(test[active], test[lazy]),
        Check(
            f"stable rank at the smallest test error, median: {_median(ranks[active]):.2f} in the active region, "
            f"{_median(ranks[lazy]):.2f} in the lazy one; that of A* is {data.attrs['truth_rank']:.2f}",
        ),
        _iterations_check(depth[active], steps[active]),
        _distance_check(distance, active | lazy),
    ]


def _endings_check(data: Dataset) -> Check:
    """Check that no run diverged or ended at its first step, and count how the others ended."""
    codes, taken = data["reason"].values.astype(int), data["taken"].values
    names = str(data.attrs["reasons"]).split(",")
    ends = ", ".join(f"{(codes == code).sum()} {name}" for code, name in enumerate(names) if (codes == code).any())
    lost = (codes == names.index("diverged")) | (taken <= 1)
    return Check(
        f"how the {codes.size} cells ended: {ends}; {int((taken <= 1).sum())} at their first step (limit: none "
        "diverged, none at the first step)",
        float(lost.sum()),
        0.0,
        bool(not lost.any()),
    )


def _lazy_floor_check(test: np.ndarray, floor: float) -> Check:
    """Check that no lazy cell comes below the bound of Theorem 2."""
    if not test.size:
        return Check("lazy region: no cell of this grid lies in it, so its floor is not measurable")
    margin = float(test.min() / floor)
    text = "lazy region: least test error of any cell over the bound min(|A*|^2, |E|^2)/(3 d^2)"
    return Check.at_least(text, margin, FLOOR, form=".2f")


def _active_gain_check(active: np.ndarray, lazy: np.ndarray) -> Check:
    """Check that active cells have the smaller test error."""
    if not active.size or not lazy.size:
        return Check("smallest test error: not measurable, as a region has no cell on this grid")
    gain = _median(active) / _median(lazy)
    medians = f"{_median(active):.3g} in the active region, {_median(lazy):.3g} in the lazy one"
    return Check.below(f"smallest test error, median: {medians}: ratio", gain, GAIN, form=".2f")


def _iterations_check(depth: np.ndarray, steps: np.ndarray) -> Check:
    """Check that iterations rise with the distance from the lazy border."""
    if depth.size < 3:
        return Check("iterations against the distance from the lazy border: not measurable, fewer than 3 active cells")
    trend = rank_correlation(depth, steps)
    text = "iterations rise with the distance of active cells from the lazy border: rank correlation"
    return Check.above(text, trend, TREND, form=".2f")


def _distance_check(distance: np.ndarray, inside: np.ndarray) -> Check:
    """Measure the distance to eq. (1) inside the theory's region and outside it."""
    size = np.exp(distance / 2)
    parts = []
    for name, cells in (("inside the theory's region", size[inside]), ("outside it", size[~inside])):
        if cells.size:
            share = float((cells > SMALL).mean())
            parts.append(f"{name}: median {_median(cells):.3g}, above {SMALL:g} in {share:.0%} of the cells")
    return Check(
        f"root mean square distance to eq. (1), a target's entries being about 1.4: {'; '.join(parts)} (the caption "
        "calls it small almost everywhere outside)",
        _median(size[inside]),
    )


def _median(values: np.ndarray) -> float:
    """Return the median, NaN where there is nothing."""
    return float(np.median(values)) if values.size else np.nan


def distance_quartiles(data: Dataset) -> dict[str, np.ndarray]:
    """Return the quartiles of ln distance, (3, dim), over the cells and replicates of each region that has any."""
    order = ("side_gamma_width", "side_gamma_variance")
    region = data["side_region"].transpose(*order).values
    distance = data["side_log_distance"].transpose("dim", "side_replicate", *order).values
    cells = {name: distance[..., region == REGIONS.index(name)] for name in ("active", "lazy")}
    return {name: np.quantile(own, [0.25, 0.5, 0.75], axis=(1, 2)) for name, own in cells.items() if own.size}
