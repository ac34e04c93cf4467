"""Tu et al., Figure 1: descent and the self-consistent dynamics, errors and singular values in the active region."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import linnet as ln
from linnet import style
from linnet.reproduction.figure import Check, Figure, Settings

SIDES = ("descent", "self-consistent")


class TuFig1(Settings):
    """Defaults are the paper's; `scheme` is how the self-consistent side is stepped, "flow" its exact solution."""

    dim: int = 500
    rank: int = 5
    noise: float = 1.0
    gamma_variance: float = -1.85
    gamma_width: float = 2.25
    c: float = 5.0
    steps: int = 100
    update: Literal["simultaneous", "sequential"] = "simultaneous"
    scheme: Literal["euler", "network", "flow"] = "euler"
    others: int = 24


def compute(settings: TuFig1, panels: tuple[str, ...]) -> Any:
    import xarray as xr

    from linnet.trainers.self_consistent import stepping

    d = settings.dim
    problem = ln.problems.low_rank_plus_noise(d, rank=settings.rank, noise_std=settings.noise, key=settings.seed)
    variance, width = d**settings.gamma_variance, round(d**settings.gamma_width)
    threshold, std = variance * width, float(np.sqrt(variance))
    weights = ln.inits.reduced_gaussian(
        settings.seed + 1, in_dim=d, out_dim=d, width=width, first_std=std, second_std=std
    )
    rate = 1 / (settings.c * float(np.linalg.norm(np.asarray(problem.truth), 2)))
    trained = ln.gradient_descent(
        problem, weights, learning_rate=rate, steps=settings.steps, update=settings.update, keep="products"
    )
    times = rate * np.arange(settings.steps + 1)
    if settings.scheme == "flow":
        predicted = iter(ln.theories.mixed.self_consistent(problem.cross, weights.product, threshold, times))
    else:
        predicted = stepping(problem, weights.product, threshold, rate, settings.steps, settings.scheme)
    errors, values, distance = np.zeros((2, 2, times.size)), np.zeros((2, times.size, d)), np.zeros(times.size)
    for step, theory in enumerate(predicted):
        for side, product in enumerate((trained.products[step], theory)):
            errors[:, side, step] = 2 / d**2 * np.array([problem.loss(product), problem.test_loss(product)])
            values[side, step] = np.linalg.svd(product, compute_uv=False)
        distance[step] = ((trained.products[step] - theory) ** 2).mean()
    goals = np.linalg.svd(problem.cross, compute_uv=False)
    leading = values[0, :, 0]
    grown = [ln.theories.mixed.aligned_modes(goals[:1], s, threshold, [rate])[0, 0] for s in leading]
    return xr.Dataset(
        {
            "error": (("kind", "side", "step"), errors, {"long_name": "mean squared error per entry"}),
            "singular_value": (("side", "step", "mode"), values, {"long_name": "singular values of the product"}),
            "distance": (("step",), distance, {"long_name": "mean squared distance between the two sides"}),
            "target": (("mode",), goals, {"long_name": "singular values of the target"}),
            "leading_growth": (
                ("step",),
                np.array(grown) - leading,
                {"long_name": "growth of an aligned mode of this size over one step"},
            ),
            "time": (("step",), times, {"long_name": "canonical time"}),
        },
        coords={"kind": ["train", "test"], "side": list(SIDES), "step": np.arange(times.size)},
        attrs={
            "panels": ",".join(panels),
            "threshold": float(threshold),
            "width": float(width),
            "rank": settings.rank,
            "learning_rate": rate,
            "scheme": settings.scheme,
            "others": settings.others,
        },
    )


def plot(data: Any) -> Any:
    panels = [letter for letter in str(data.attrs["panels"]).split(",") if letter] or ["a", "b"]
    with style.applied():
        picture, axes = style.subplots(
            1, len(panels), size=style.column(len(panels), ratio=0.95 / len(panels)), squeeze=False
        )
        for letter, axis in zip(panels, axes[0], strict=True):
            (_errors if letter == "a" else _spectrum)(axis, data)
            axis.set_xlabel(f"step  (canonical time = {data.attrs['learning_rate']:.2g} × step)")
    return picture


def _errors(axis: Any, data: Any) -> None:
    for kind, colour in (("train", style.LOSS), ("test", style.TEST_LOSS)):
        for side, look in zip(SIDES, (style.TRAINING, style.THEORY), strict=True):
            axis.plot(
                data["step"], data["error"].sel(kind=kind, side=side), color=colour, label=f"{kind}, {side}", **look
            )
    axis.set(title="a  Errors of descent and of eq. (1)", ylabel="error per entry", yscale="log")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def _spectrum(axis: Any, data: Any) -> None:
    rank, total = int(data.attrs["rank"]), data.sizes["mode"]
    rest = np.unique(np.linspace(rank, total - 1, min(int(data.attrs["others"]), total - rank)).astype(int))
    colours = style.shades(rank)
    for mode in [*rest.tolist(), *range(rank)]:
        colour = colours[mode] if mode < rank else style.NOISE
        for side, look in zip(SIDES, (style.TRAINING, style.THEORY), strict=True):
            thin = {} if mode < rank else {"linewidth": 0.7, "alpha": 0.5}
            curve = data["singular_value"].sel(side=side).isel(mode=mode)
            label = side if mode == 0 else None
            axis.plot(data["step"], curve, color=colour, label=label, **{**look, **thin})
    axis.plot([], [], color=style.NOISE, linewidth=0.7, label=f"{len(rest)} of the {total - rank} others")
    axis.axhline(float(data.attrs["threshold"]), **style.GUIDELINE)
    axis.annotate(
        "threshold σ²w",
        (float(data["step"][-1]), float(data.attrs["threshold"])),
        ha="right",
        va="bottom",
        fontsize=7,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
    )
    axis.set(title="b  Singular values of both", ylabel="singular value")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, handlelength=1.6, columnspacing=1.0)


def check(data: Any) -> list[Check]:
    train, test = (data["error"].sel(kind=kind).values for kind in ("train", "test"))
    gaps = [float(np.abs(error[0] - error[1]).max() / error[0].max()) for error in (train, test)]
    best = [int(side.argmin()) for side in test]
    relative = float(
        np.sqrt(data["distance"].max() / (data["singular_value"].isel(side=0) ** 2).sum("mode").max())
        * data.sizes["mode"]
    )
    rank, threshold = int(data.attrs["rank"]), float(data.attrs["threshold"])
    values = data["singular_value"].sel(side="descent").values
    goals = data["target"].values
    signal, others = values[best[0], :rank] / goals[:rank], values[best[0], rank] / threshold
    following = values[best[0], rank] / goals[rank]
    speed = _speed_up(values, data["leading_growth"].values, float(goals[0]), threshold)
    return [
        Check(
            f"train error of descent vs eq. (1) ({data.attrs['scheme']} steps): largest gap {gaps[0]:.2g} of its "
            f"range (limit 0.1)",
            gaps[0],
            0.1,
            gaps[0] < 0.1,
        ),
        Check(
            f"test error of descent vs eq. (1): largest gap {gaps[1]:.2g} of its range (limit 0.1)",
            gaps[1],
            0.1,
            gaps[1] < 0.1,
        ),
        Check(f"products of descent vs eq. (1): largest distance {relative:.2g} of the largest norm", relative),
        Check(
            f"least test error {test[0].min():.3g} at step {best[0]} (eq. (1): {test[1].min():.3g} at step "
            f"{best[1]}); there "
            f"the {rank} leading singular values are at {signal.min():.2f} to {signal.max():.2f} of the target's, the "
            "next one at "
            f"{following:.2f} of its target and {others:.2g} of the threshold",
            others,
        ),
        Check(
            f"leading mode: speed over distance left is {speed[0]:.2f} below a fifth of the threshold and "
            f"{speed[1]:.2f} above five "
            f"times it, in units of 2 sqrt(s^2 + g^2) (limit: 0.25 from 1)",
            float(np.abs(np.array(speed) - 1).max()),
            0.25,
            bool(np.abs(np.array(speed) - 1).max() < 0.25),
        ),
    ]


def _speed_up(values: np.ndarray, growth: np.ndarray, goal: float, threshold: float) -> tuple[float, float]:
    """Measured growth of the leading singular value over the predicted one, while lazy and while active.

    Steps are compared with the exact solution of the aligned mode over one step, as steps are not small.
    """
    now, ratio = values[:-1, 0], np.diff(values[:, 0]) / growth[:-1]
    started = np.arange(now.size) > 1  # before, the start's own singular vectors are leading
    lazy = started & (now < threshold / 5)
    active = started & (now > 5 * threshold) & (now < 0.5 * goal)
    if not lazy.any():
        lazy = started & (now < threshold)
    if not active.any():
        active = started & (now > threshold) & (now < 0.7 * goal)
    means = [float(ratio[part].mean()) if part.any() else np.nan for part in (lazy, active)]
    return means[0], means[1]


FIGURE = Figure(
    name="fig1",
    title="Descent follows the self-consistent dynamics, lazy below the threshold and active above",
    caption=(
        "Left: train and test error of gradient descent (solid) and of the self-consistent dynamics, eq. (1), stepped "
        "at the same "
        "rate (dashed). Right: singular values of both; the leading ones speed up once they pass the threshold σ²w "
        "(dotted). "
        "d = 500, rank 5, w = d^2.25, σ² = d^-1.85, c = 5 (quick: d = 100)."
    ),
    settings=TuFig1,
    quick={"dim": 100},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
