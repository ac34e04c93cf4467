"""What is measured on Figure 2: how the runs ended, and what its caption says of each panel."""

from __future__ import annotations

import numpy as np

from linnet_papers.reproduction import Rows, above, at_least, at_most, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.fits import rank_correlation
from linnet_papers.tu.figures.fig2 import predicted
from linnet_papers.tu.figures.fig2.compute import REGIONS

NONE = at_most(0.0, "a cell without a run would be drawn as if it had one")
FLOOR = at_least(1.0, r"Theorem 2: never below a third of $\min(\lvert A^* \rvert^2, \lvert E \rvert^2)$")
GAIN = below(0.75, "'the active region has a small error while the lazy region does not': a quarter less is clearly so")
TREND = above(0.5, "'increases as one goes further into the active region', though a cell has noise of its own")
SMALL = 0.14  # root mean square distance that is a tenth of the target's size, sqrt(2) for each entry


def check(data: Dataset) -> Rows:
    if "min_test_loss" in data:
        yield from _map_rows(data)
        yield from predicted.rows(data)
    if "side_log_distance" in data:
        dims = data["dim"].values.astype(int).tolist()
        for region, (_, medians, _) in distance_quartiles(data).items():
            by_dim = {f"$d = {dim}$": median for dim, median in zip(dims, medians, strict=True)}
            yield fact(f"median ln distance to eq. (1), {region} region", by_dim)


def _map_rows(data: Dataset) -> Rows:
    """Yield what the four maps show, region by region."""
    order = ("gamma_width", "gamma_variance")
    test, ranks, steps, distance = (
        data[name].median("replicate").transpose(*order).values
        for name in ("min_test_loss", "stable_rank", "best_step", "log_distance")
    )
    region = data["region"].transpose(*order).values
    active, lazy = (region == REGIONS.index(name) for name in ("active", "lazy"))
    yield from _ending_rows(data)
    if lazy.any():
        floor = min(data.attrs["truth_power"], data.attrs["noise_power"]) / 3
        bound = r"$\min(\lvert A^* \rvert^2, \lvert E \rvert^2)/(3 d^2)$"
        yield printed(
            f"minimum test error of any lazy cell over the bound {bound}", float(test[lazy].min() / floor), FLOOR
        )
    if active.any() and lazy.any():
        gain = float(np.median(test[active]) / np.median(test[lazy]))
        yield printed("median test error of the active cells over that of the lazy ones", gain, GAIN)
    both = {"active region": active, "lazy region": lazy}
    medians = {name: float(np.median(ranks[cells])) for name, cells in both.items() if cells.any()}
    yield fact("median stable rank at the smallest test error", medians | {"$A^*$": data.attrs["truth_rank"]})
    depth = 1 - data["gamma_variance"].values[None, :] - data["gamma_width"].values[:, None]
    if active.sum() > 2:
        trend = rank_correlation(depth[active], steps[active])
        yield printed("rank correlation of the iterations with the depth of active cells", trend, TREND)
    size = np.exp(distance / 2)
    for name, cells in (("inside the theory's region", active | lazy), ("outside it", ~(active | lazy))):
        if cells.any():
            there = f"root mean square distance to eq. (1) {name}, entries of the target being about 1.4"
            yield fact(f"median {there}", float(np.median(size[cells])))
            yield fact(f"share of cells above {SMALL:g}, {there}", float((size[cells] > SMALL).mean()))


def _ending_rows(data: Dataset) -> Rows:
    """Yield how the runs ended, and how many diverged or ended at their first step."""
    codes, taken = data["reason"].values.astype(int), data["taken"].values
    names = str(data.attrs["reasons"]).split(",")
    lost = (codes == names.index("diverged")) | (taken <= 1)
    yield printed("cells that diverged or ended at their first step", int(lost.sum()), NONE)
    yield fact("cells by how they ended", {name: int((codes == code).sum()) for code, name in enumerate(names)})


def distance_quartiles(data: Dataset) -> dict[str, np.ndarray]:
    """Return the quartiles of ln distance, (3, dim), over the cells and replicates of each region that has any."""
    order = ("side_gamma_width", "side_gamma_variance")
    region = data["side_region"].transpose(*order).values
    distance = data["side_log_distance"].transpose("dim", "side_replicate", *order).values
    cells = {name: distance[..., region == REGIONS.index(name)] for name in ("active", "lazy")}
    return {name: np.quantile(own, [0.25, 0.5, 0.75], axis=(1, 2)) for name, own in cells.items() if own.size}
