"""Readings of a monitor, as a dataset and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from linnet._arguments import shown
from linnet.torch._readings import Reading
from linnet.torch.pairs import Pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def dataset(pairs: Sequence[Pair], readings: Mapping[int, Sequence[Reading]], unseen: Mapping[str, str]) -> xr.Dataset:
    """Readings by `step`, `pair` and `mode`."""
    steps, width = sorted(readings), max(pair.width for pair in pairs)
    flat = ("share_first", "effective_rank", "alignment")
    spectra = ("imbalance", "singular_values")
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    for name in flat:
        read_values = [[getattr(read, name) for read in readings[step]] for step in steps]
        variables[name] = (("step", "pair"), np.array(read_values, dtype=np.float64).reshape(len(steps), len(pairs)))
    for name in spectra:
        values = np.full((len(steps), len(pairs), width), np.nan)
        for i, step in enumerate(steps):
            for j, read in enumerate(readings[step]):
                values[i, j, : pairs[j].width] = getattr(read, name)
        variables[name] = (("step", "pair", "mode"), values)
    coords = {
        "step": np.array(steps, dtype=np.int64),
        "pair": [pair.name for pair in pairs],
        "mode": np.arange(1, width + 1),
        "kind": ("pair", [pair.kind for pair in pairs]),
        "scale": ("pair", [pair.scale for pair in pairs]),
    }
    attributes = {"unseen": "; ".join(f"{name}: {reason}" for name, reason in unseen.items())}
    return xr.Dataset(variables, coords=coords, attrs=attributes)


def picture(data: xr.Dataset, pairs: Iterable[str] | None = None) -> Figure:
    """Four panels; with many pairs, their medians as a line and all of them in gray."""
    from linnet import style

    chosen = data if pairs is None else data.sel(pair=_check_names(data, pairs))
    step = chosen["step"].values
    with style.applied():
        figure, axes = style.subplots(2, 2, size=style.column(2, ratio=0.62), sharex=True)
        for axis, name, title in (
            (axes[0, 0], "singular_values", "singular values of the product"),
            (axes[0, 1], "imbalance", "eigenvalues of the imbalance"),
        ):
            for j in range(chosen.sizes["pair"]):
                for i in range(chosen.sizes["mode"]):
                    axis.plot(
                        step,
                        chosen[name].values[:, j, i],
                        color=style.shades(chosen.sizes["mode"])[i],
                        lw=0.9,
                        alpha=0.8,
                    )
            axis.set_title(title)
        axes[0, 0].set_ylim(bottom=0)
        for axis, name, title, color in (
            (axes[1, 0], "share_first", "fraction of the update by the first factor", style.FIRST_LAYER),
            (axes[1, 1], "alignment", "alignment with the first gradient", style.ALIGNMENT),
        ):
            axis.plot(step, chosen[name].values, color=style.GUIDE, lw=0.7, alpha=0.6)
            axis.plot(step, _median_over_pairs(chosen[name].values), color=color, lw=1.8, label="median over pairs")
            axis.set(
                title=title,
                xlabel="step",
                ylim=(0 if name == "share_first" else _axis_start(chosen[name].values), 1.02),
            )
        rank = axes[1, 1].twinx()
        rank.plot(step, _median_over_pairs(chosen["effective_rank"].values), color=style.PRODUCT, lw=1.4, ls="--")
        rank.set_ylabel("effective rank (dashed)", color=style.PRODUCT)
        rank.set_ylim(bottom=0)
        rank.grid(visible=False)
        axes[1, 0].legend(loc="best")
    return figure


def _check_names(data: xr.Dataset, pairs: Iterable[str]) -> list[str]:
    """Names of pairs, checked."""
    known = [str(name) for name in data["pair"].values]
    wanted: list[Any] = list(pairs) if isinstance(pairs, Iterable) and not isinstance(pairs, (str, bytes)) else [pairs]
    for name in wanted or [None]:
        if not isinstance(name, str) or name not in known:
            raise ValueError(f"`pairs` must be names of pairs, such as {known[0]!r}: got {shown(name)}.")
    return wanted


def _axis_start(values: np.ndarray) -> float:
    """Where an axis begins that shows zero and all numbers."""
    return min(0.0, float(values[np.isfinite(values)].min(initial=0.0)))


def _median_over_pairs(values: np.ndarray) -> np.ndarray:
    """The median over pairs at each step; NaN where no pair has a number."""
    return np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.nan for row in values])
