"""Tu et al., Figure 2: the phase diagram of variance and width, and two error maps beside it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import linnet as ln
from linnet import style
from linnet.reproduction.figure import Check, Figure, Settings

# variable, title, whether its colours are logarithmic
MAPS = {
    "a": ("best_test", "Smallest test error", False),
    "b": ("stable_rank", "Stable rank at that time", False),
    "c": ("best_step", "Iterations until then", True),
    "d": ("log_distance", "ln distance to eq. (1)", False),
}
REGIONS = ("underparametrized", "infinite-noise", "lazy", "active")  # the numbers of `region` in the dataset
SHORT = {
    "best_test": "test error",
    "stable_rank": "stable rank",
    "best_step": "iterations",
    "log_distance": "ln distance",
}
LONG = {
    "best_test": "smallest test error per entry over the run",
    "stable_rank": "|A|_F^2/|A|_op^2 at the smallest test error",
    "best_step": "iterations until the smallest test error",
    "log_distance": "ln of the largest mean squared distance to the self-consistent dynamics over the run",
    "last_train": "train error per entry at the end of the run",
    "reason": "why the run ended, by its number in the attribute `reasons`",
    "taken": "steps taken",
    "region": "region of the phase diagram: 0 underparametrized, 1 infinite noise, 2 lazy, 3 active",
    "border_width": "width exponents of the borders",
    "border_lazy": "variance exponent of the lazy border",
    "border_noise": "variance exponent of the border of infinite noise",
    "width_dim": "width exponent of w = d",
    "width_rank": "width exponent of w = K",
}
DARKEST = -14.0  # ln distances below it are of runs that stopped at once


class TuFig2(Settings):
    """Defaults are the paper's grid; `seeds` tasks each, `side_*` the coarser grid of the panels e and f."""

    dim: int = 200
    rank: int = 5
    noise: float = 1.0
    grid: int = 35
    least_variance: float = -3.0
    most_variance: float = 0.0
    most_width: float = 2.8
    c: float = 50.0
    steps: int = 1500
    update: Literal["simultaneous", "sequential"] = "simultaneous"
    plateau: Literal["stop", "wait"] = "stop"
    seeds: int = 1
    dtype: Literal["float32", "float64"] = "float32"
    workers: int = 0
    side_dims: tuple[int, ...] = (25, 50, 100)
    side_grid: int = 9
    side_seeds: int = 5


def compute(settings: TuFig2, panels: tuple[str, ...]) -> Any:
    import jax
    import xarray as xr

    from linnet.papers.tu.phase_cells import REASONS

    every = jax.default_backend() != "cpu"  # an accelerator takes all cells in one batch
    parts: dict[str, Any] = {}
    if set(panels) & set(MAPS) or not panels:
        block = settings.grid**2 * settings.seeds if every else max(1, settings.grid**2 // 7)
        axes = {"replicate": list(range(settings.seeds)), **_axes(settings, settings.grid)}
        maps = ln.sweeps.run(_sweep("tu-fig2", settings, axes, block=block, dim=settings.dim), workers=settings.workers)
        parts |= {str(name): maps[name] for name in maps.data_vars if name != "cell_status"}
    if set(panels) & {"e", "f"}:
        axes = {"dim": list(settings.side_dims), "replicate": list(range(settings.side_seeds))}
        coarse = {f"side_{name}": values for name, values in _axes(settings, settings.side_grid).items()}
        sides = ln.sweeps.run(
            _sweep(
                "tu-fig2-seeds",
                settings,
                {**axes, **_axes(settings, settings.side_grid)},
                block=settings.side_grid**2 * settings.side_seeds,
                dim=None,
            ),
            workers=settings.workers,
        )
        renamed = sides.rename({name[5:]: name for name in coarse} | {"replicate": "side_replicate"})
        parts |= {f"side_{name}": renamed[name] for name in renamed.data_vars if name != "cell_status"}
    data = xr.Dataset({name: value.astype(float) for name, value in parts.items()})
    data = data.assign(_theory(settings, data))
    for name in data.data_vars:
        data[name].attrs["long_name"] = LONG[str(name).removeprefix("side_")]
    task = ln.problems.low_rank_plus_noise(
        settings.dim, rank=settings.rank, noise_std=settings.noise, key=[settings.seed, 0]
    )
    truth = np.asarray(task.truth)
    data.attrs = {
        "panels": ",".join(panels),
        "rank": settings.rank,
        "dim": settings.dim,
        "reasons": ",".join(REASONS),
        "truth_size": float(np.linalg.norm(truth, 2)),
        "truth_power": float((truth**2).mean()),
        "noise_power": float(((task.cross - truth) ** 2).mean()),
        "truth_rank": float((truth**2).sum() / np.linalg.norm(truth, 2) ** 2),
        "scheme": "network: descent on the narrow network of the self-consistent dynamics, at the same step size",
    }
    return data


def _sweep(name: str, settings: Any, axes: dict[str, Any], *, block: int, dim: int | None) -> Any:
    """The grid of cells as a sweep: resumable, and one block a batch."""
    fixed = {
        "rank": settings.rank,
        "noise": settings.noise,
        "c": settings.c,
        "steps": settings.steps,
        "update": settings.update,
        "plateau": settings.plateau,
        "seed": settings.seed,
        **({} if dim is None else {"dim": dim}),
    }
    return ln.sweeps.Sweep(
        name=name,
        function="linnet.papers.tu.phase_cells:cells",
        axes=axes,
        seed=settings.seed,
        fixed=fixed,
        block=block,
        apart=[] if dim else ["dim"],
        dtype=settings.dtype,
    )


def _theory(settings: TuFig2, data: Any) -> dict[str, Any]:
    """What the theory says of the plane: the region of every cell (by its number) and the borders between them."""
    mixed = ln.theories.mixed
    heights = np.linspace(0.0, settings.most_width, 50)
    lines = mixed.borders(heights, dim=settings.dim, rank=settings.rank)
    found = {
        "border_width": (("border",), heights),
        "border_lazy": (("border",), lines["lazy"]),
        "border_noise": (("border",), lines["infinite-noise"]),
        "width_dim": ((), float(lines["width-dim"])),
        "width_rank": ((), float(lines["width-rank"])),
    }
    for before in ("", "side_"):
        up, across = f"{before}gamma_width", f"{before}gamma_variance"
        if up in data.coords:
            region = mixed.phase(data[across].values[None, :], data[up].values[:, None])
            codes = np.select([region == name for name in REGIONS], range(len(REGIONS)))
            found[f"{before}region"] = ((up, across), codes.astype(float))
    if "dim" in data.coords:
        dims = data["dim"].values.astype(int).tolist()
        ranks = [float(mixed.borders(0.0, dim=d, rank=settings.rank)["width-rank"]) for d in dims]
        found["side_width_rank"] = (("dim",), ranks)
    return found


def _axes(settings: TuFig2, count: int) -> dict[str, list[float]]:
    return {
        "gamma_width": np.linspace(0.0, settings.most_width, count).tolist(),
        "gamma_variance": np.linspace(settings.least_variance, settings.most_variance, count).tolist(),
    }


def plot(data: Any) -> Any:
    panels = [letter for letter in str(data.attrs["panels"]).split(",") if letter] or list(MAPS)
    drawings: list[Any] = []
    for letter in panels:
        if letter in MAPS:
            drawings.append(lambda axis, letter=letter: _map(axis, data, letter))
        elif letter == "e":
            for number, name in enumerate(SHORT, start=1):
                drawings.append(lambda axis, name=name, number=number: _spread(axis, data, name, number))
        else:
            drawings.append(lambda axis: _dimensions(axis, data, beside=len(drawings) % 2 == 1 and len(drawings) > 1))
    columns = min(len(drawings), 2)
    rows = -(-len(drawings) // columns)
    with style.applied():
        picture, axes = style.subplots(
            rows, columns, size=style.column(1.7 if columns > 1 else 1.0, ratio=0.8 * rows / columns), squeeze=False
        )
        for axis, draw in zip(axes.flat, drawings, strict=False):
            draw(axis)
        for axis in axes.flat[len(drawings) :]:
            axis.set_axis_off()
        handles, labels = axes.flat[0].get_legend_handles_labels()
        if len(handles) == 4:
            picture.legend(handles, labels, loc="outside lower center", ncols=2, facecolor="#B0B0B0", framealpha=1)
    return picture


def _map(axis: Any, data: Any, letter: str) -> None:
    name, title, logarithmic = MAPS[letter]
    values = data[name].median("replicate").where(~_idle(data))
    narrowest = float(data["width_rank"])
    _coloured(axis, data, values, f"{letter}  {title}", logarithmic, "gamma_variance", "gamma_width", narrowest)


def _idle(data: Any) -> Any:
    """Cells whose runs stopped at their first step, as their train error hardly changes there: not a phase."""
    return data["taken"].median("replicate") <= 1


def _spread(axis: Any, data: Any, name: str, number: int) -> None:
    dim = int(data["dim"].values[-1])
    values = data[f"side_{name}"].sel(dim=dim)
    spread = values.quantile(0.75, "side_replicate") - values.quantile(0.25, "side_replicate")
    spread = spread.where(data["side_taken"].sel(dim=dim).median("side_replicate") > 1)
    narrowest = float(data["side_width_rank"].sel(dim=dim))
    _coloured(
        axis,
        data,
        spread,
        f"e{number}  Spread: {SHORT[name]}",
        False,
        "side_gamma_variance",
        "side_gamma_width",
        narrowest,
    )


def _coloured(
    axis: Any, data: Any, values: Any, title: str, logarithmic: bool, across: str, up: str, narrowest: float
) -> None:
    from matplotlib.colors import LogNorm
    from matplotlib.patheffects import withStroke

    drawn = values.transpose(up, across).values
    if logarithmic:
        drawn = np.maximum(drawn, 1)
    shades = axis.pcolormesh(
        data[across],
        data[up],
        drawn,
        shading="nearest",
        cmap=style.SEQUENCE,
        norm=LogNorm() if logarithmic else None,
        rasterized=True,
    )
    if np.nanmin(drawn) < DARKEST:
        shades.set_clim(DARKEST, None)
    axis.figure.colorbar(shades, ax=axis, extend="min" if np.nanmin(drawn) < DARKEST else "neither")
    axis.set_facecolor("#C8C8C8")
    axis.grid(False)
    axis.plot(data["border_lazy"], data["border_width"], color="black", linewidth=1.1, label="lazy / active: σ²w = d")
    axis.plot(data["border_noise"], data["border_width"], color="red", linewidth=1.1, label="infinite noise: σ⁴w = 1")
    outlined = {"color": "white", "linewidth": 1.1, "path_effects": [withStroke(linewidth=2.2, foreground="#333333")]}
    axis.axhline(float(data["width_dim"]), linestyle="--", label="w = d", **outlined)
    axis.axhline(narrowest, linestyle=":", label="w = K", **outlined)
    limits = {"xlim": data[across].values[[0, -1]], "ylim": data[up].values[[0, -1]]}
    axis.set(**limits, title=title, xlabel="variance exponent γ(σ²)", ylabel="width exponent γ(w)")


def _dimensions(axis: Any, data: Any, *, beside: bool) -> None:
    medians, low, high = _regional(data)
    colours = {"active": style.ACTIVE, "lazy": style.LAZY}
    for region, colour in ((name, colours[name]) for name in medians):
        axis.plot(
            data["dim"],
            medians[region],
            color=colour,
            marker="o",
            label=f"{region} region: median, quartiles shaded",
            **style.ALONE,
        )
        axis.fill_between(data["dim"], low[region], high[region], color=colour, alpha=0.2, linewidth=0)
    axis.set(title="f  Distance against d", xlabel="dimension d", ylabel="ln mean squared distance", xscale="log")
    axis.set_xticks(data["dim"].values, [str(int(d)) for d in data["dim"].values])
    axis.minorticks_off()
    best = "center left" if beside else "upper right"
    legend = axis.legend(loc=best, bbox_to_anchor=(1.05, 0.5) if beside else None)
    legend.set_in_layout(False)  # it stands in the empty place beside; the panels keep their width


def _regional(data: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Median and quartiles of ln distance over cells of a region and seeds, for each dimension."""
    order = ("side_gamma_width", "side_gamma_variance")
    region = data["side_region"].transpose(*order).values
    ran = data["side_log_distance"].where(data["side_taken"] > 1).transpose("dim", "side_replicate", *order).values
    inside = {name: ran[..., region == REGIONS.index(name)].reshape(len(ran), -1) for name in ("active", "lazy")}
    quartiles = {name: np.nanquantile(cells, [0.5, 0.25, 0.75], axis=1) for name, cells in inside.items() if cells.size}
    return tuple({name: q[i] for name, q in quartiles.items()} for i in range(3))  # type: ignore[return-value]


def check(data: Any) -> list[Check]:
    checks: list[Check] = []
    if "best_test" in data:
        checks += _map_checks(data)
    if "side_log_distance" in data:
        medians, _, _ = _regional(data)
        for region, values in medians.items():
            checks.append(
                Check(
                    f"{region} region: median ln distance to eq. (1) is "
                    + ", ".join(f"{v:.2f} at d = {int(d)}" for d, v in zip(data["dim"].values, values, strict=True)),
                    float(values[-1]),
                )
            )
    return checks


def _map_checks(data: Any) -> list[Check]:
    own = [name for name in data.data_vars if "replicate" in data[name].dims]
    median = data[own].median("replicate").transpose("gamma_width", "gamma_variance")
    region = data["region"].transpose("gamma_width", "gamma_variance").values
    ran = ~_idle(data).transpose("gamma_width", "gamma_variance").values
    active, lazy = ((region == REGIONS.index(name)) & ran for name in ("active", "lazy"))
    test, distance, ranks = (median[name].values for name in ("best_test", "log_distance", "stable_rank"))
    floor = min(float(data.attrs["truth_power"]), float(data.attrs["noise_power"])) / 3
    margin = float(np.nanmin(test[lazy]) / floor) if lazy.any() else np.nan
    depth = (1 - data["gamma_variance"].values[None, :] - data["gamma_width"].values[:, None])[active]
    trend = _rank_correlation(depth, median["best_step"].values[active])
    codes = data["reason"].values.astype(int)
    names = str(data.attrs["reasons"]).split(",")
    ends = ", ".join(f"{(codes == code).sum()} {name}" for code, name in enumerate(names) if (codes == code).any())
    gain = _middle(test[active]) / _middle(test[lazy])
    inside, outside = active | lazy, ran & ~(active | lazy)
    return [
        Check(
            f"how the {codes.size} cells ended: {ends}; {(~ran).sum()} stopped at their first step and are left out "
            f"below",
            float((codes == 1).sum()),
            0.0,
            bool((codes != 1).all()),
        ),
        Check(
            f"lazy region: least test error of any cell is {margin:.2f} times the bound min(|A*|^2, |E|^2)/(3 d^2) "
            "(at least 1)",
            margin,
            1.0,
            bool(margin >= 1) if lazy.any() else None,
        ),
        Check(
            f"smallest test error, median: {_middle(test[active]):.3g} in the active region, "
            f"{_middle(test[lazy]):.3g} in the "
            f"lazy one: ratio {gain:.2f} (at most 0.75)",
            gain,
            0.75,
            bool(gain < 0.75) if lazy.any() else None,
        ),
        Check(
            f"stable rank at the smallest test error, median: {_middle(ranks[active]):.2f} in the active region, "
            f"{_middle(ranks[lazy]):.2f} in the lazy one; that of A* is {data.attrs['truth_rank']:.2f}",
        ),
        Check(
            f"iterations rise with the distance from the lazy border: rank correlation {trend:.2f}, active cells (at "
            "least 0.5)",
            trend,
            0.5,
            bool(trend > 0.5),
        ),
        Check(
            f"ln distance to eq. (1) inside the theory's region: median {_middle(distance[inside]):.2f}, largest "
            f"{_largest(distance[inside]):.2f}; outside it: median {_middle(distance[outside]):.2f}",
            _middle(distance[inside]),
        ),
    ]


def _middle(values: np.ndarray) -> float:
    return float(np.nanmedian(values)) if values.size else np.nan


def _largest(values: np.ndarray) -> float:
    return float(np.nanmax(values)) if values.size else np.nan


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(first, second).statistic)


FIGURE = Figure(
    name="fig2",
    title="The phase diagram of variance and width",
    caption=(
        "Gradient descent over variances σ² = d^γ(σ²) and widths w = d^γ(w): smallest test error (a), stable rank "
        "then (b), "
        "iterations to it (c), and the log of the largest mean squared distance to the self-consistent dynamics, eq. "
        "(1), over "
        "the run (d). Beyond the paper: the spread (interquartile range) of all four over tasks and starts (e), and "
        "the distance "
        "against the dimension (f). d = 200, rank 5, 35 x 35 cells, c = 50 (quick: d = 40, 13 x 13). Grey cells "
        "are no phase: from so small a start the train error changes by less than 1e-6 at the first step, which the "
        "stopping rule "
        "takes for the end (--set plateau=wait lets them run)."
    ),
    settings=TuFig2,
    quick={
        "dim": 40,
        "grid": 13,
        "side_dims": (20, 40),
        "side_grid": 7,
        "side_seeds": 3,
        "dtype": "float64",
        "steps": 1000,
    },
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b", "c", "d", "e", "f"),
)
