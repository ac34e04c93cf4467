"""Figure 1: descent and the self-consistent dynamics, errors and singular values in the active region."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt, model_validator

import linnet as ln
from linnet import style
from linnet.theories import lazy_active
from linnet_papers.reproduction import Figure, Rows, Settings, below, fact, printed, within
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.reproduction.drawing import panel_axes
from linnet_papers.tu import plane
from linnet_papers.tu.settings import FAST, GAMMAS
from linnet_papers.tu.training.self_consistent import self_consistent_steps
from linnet_papers.tu.training.starts import gaussian_start

# Eq. (1), descent as eq. (2) has it, and the public loop, whose second layer sees the new first one.
SIDES = ("self-consistent", "simultaneous", "sequential")
NAMES = {"self-consistent": "eq. (1)", "simultaneous": "descent", "sequential": "descent, public loop"}
LOOKS: dict[str, dict[str, Any]] = {  # solid and dashed as in the paper's caption
    "self-consistent": {"linestyle": "-", "linewidth": 1.3, "alpha": 0.8, "zorder": 2},
    "simultaneous": {"linestyle": (0, (4, 1.6)), "linewidth": 1.4, "zorder": 3},
    "sequential": {"linestyle": (0, (1, 1.2)), "linewidth": 1.4, "zorder": 3},
}
GAP = below(0.1, "'very close': a curve that is a tenth of the range away would be seen to be another")
SPEED = within(0.25, "near the threshold the leading vector still turns, and a step at $c = 5$ is not small", of=1)


class TuFig1(Settings):
    """Defaults are the paper's; `scheme` is how the self-consistent side is stepped: "euler" as the authors did,
    "network" by descent of the narrow network with imbalance 2g, and "flow" is its exact solution.

    `width` and `scale` (the standard deviation of the weights) may stand for `gamma_width` and `gamma_variance`.
    """

    dim: PositiveInt = 500
    rank: PositiveInt = plane.RANK
    noise_std: float = plane.NOISE_STD
    gamma_variance: float = GAMMAS[0]
    gamma_width: float = GAMMAS[1]
    width: PositiveInt | None = None
    scale: PositiveFloat | None = None
    c: PositiveFloat = FAST
    steps: PositiveInt = 90
    scheme: Literal["euler", "network", "flow"] = "euler"
    others: NonNegativeInt = 24

    @model_validator(mode="after")
    def _given_once(self) -> TuFig1:
        """Refuse a width or a scale that is given both as a number and by its exponent."""
        for plain, power in (("width", "gamma_width"), ("scale", "gamma_variance")):
            if {plain, power} <= self.model_fields_set and getattr(self, plain) is not None:
                raise ValueError(f"`{plain}` and `{power}` say the same: give one of them")
        return self

    @property
    def units(self) -> int:
        """The width of the network."""
        return self.width if self.width is not None else plane.width_of(self.dim, self.gamma_width)

    @property
    def exponents(self) -> tuple[float, float]:
        """Those of the variance and of the width in d, whichever way these are given."""
        variance = self.gamma_variance if self.scale is None else 2 * np.log(self.scale) / np.log(self.dim)
        return float(variance), float(self.gamma_width if self.width is None else np.log(self.width) / np.log(self.dim))


def compute(settings: TuFig1, panels: tuple[str, ...]) -> Dataset:
    d, steps = settings.dim, settings.steps
    problem = ln.problems.low_rank_plus_noise(d, rank=settings.rank, noise_std=settings.noise_std, key=settings.seed)
    variance = float(d ** settings.exponents[0])
    threshold = variance * settings.units
    weights = gaussian_start(d, settings.units, std=float(np.sqrt(variance)), key=settings.seed + 1)
    size = float(np.linalg.norm(np.asarray(problem.truth), 2))
    rate = float(plane.step_size(*settings.exponents, dim=d, size=size, c=settings.c))
    times = rate * np.arange(steps + 1)
    if settings.scheme == "flow":
        predicted = iter(lazy_active.self_consistent(problem.cross, weights.product, threshold, times))
    elif settings.scheme == "network":
        narrow = ln.inits.balanced(weights.product, 2 * threshold)
        predicted = iter(
            ln.gradient_descent(problem, narrow, learning_rate=rate, steps=steps, keep="products").products
        )
    else:
        predicted = self_consistent_steps(problem, weights.product, threshold, rate, steps)
    trained = [
        ln.gradient_descent(problem, weights, learning_rate=rate, steps=steps, update=update, keep="products").products
        for update in SIDES[1:]
    ]
    errors, values = np.zeros((2, len(SIDES), steps + 1)), np.zeros((len(SIDES), steps + 1, d))
    distance = np.zeros((2, steps + 1))
    for step, theory in enumerate(predicted):
        for side, product in enumerate((theory, *(run[step] for run in trained))):
            errors[:, side, step] = 2 / d**2 * np.array([problem.loss(product), problem.test_loss(product)])
            values[side, step] = np.linalg.svd(product, compute_uv=False)
            if side:
                distance[side - 1, step] = ((product - theory) ** 2).mean()
    goals = np.linalg.svd(problem.cross, compute_uv=False)
    leading = values[SIDES.index("simultaneous"), :, 0]
    grown = [lazy_active.aligned_modes(goals[:1], s, threshold, [rate])[0, 0] for s in leading]
    data = labeled(
        {
            "error": (("kind", "side", "step"), errors, "mean squared error per entry"),
            "singular_value": (("side", "step", "mode"), values, "singular values of the product"),
            "distance": (("update", "step"), distance, "mean squared distance of descent to eq. (1)"),
            "target": (("mode",), goals, "singular values of the target"),
            "leading_growth": (
                ("step",),
                np.array(grown) - leading,
                "growth of an aligned mode of this size over one step",
            ),
            "time": (("step",), times, "canonical time"),
        },
        attrs={
            "panels": ",".join(panels),
            "threshold": threshold,
            "width": float(settings.units),
            "rank": settings.rank,
            "learning_rate": rate,
            "scheme": settings.scheme,
            "others": settings.others,
        },
    )
    return data.assign_coords(
        kind=["train", "test"], side=list(SIDES), update=list(SIDES[1:]), step=np.arange(steps + 1)
    )


def plot(data: Dataset) -> style.Picture:
    panels = [letter for letter in str(data.attrs["panels"]).split(",") if letter] or ["a", "b"]
    with style.applied():
        picture, axes = panel_axes(panels, ratio=0.95)
        for letter, axis in axes.items():
            (_error_panel if letter == "a" else _spectrum_panel)(axis, data)
            axis.set_xlabel(f"step  (canonical time = {data.attrs['learning_rate']:.2g} × step)")
    return picture


def _error_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel a: train and test error of eq. (1) and of both descents."""
    for kind, color in (("train", style.LOSS), ("test", style.TEST_LOSS)):
        for side in SIDES:
            curve = data["error"].sel(kind=kind, side=side)
            axis.plot(data["step"], curve, color=color, label=f"{kind}, {NAMES[side]}", **LOOKS[side])
    axis.set(title="a  Errors of eq. (1) and of descent", ylabel="error per entry", ylim=(0, None))
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def _spectrum_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel b: the signal's singular values and some of the others, and the threshold."""
    rank, total = int(data.attrs["rank"]), data.sizes["mode"]
    rest = np.unique(np.linspace(rank, total - 1, min(int(data.attrs["others"]), total - rank)).astype(int))
    colors = style.shades(rank)
    for mode in [*rest.tolist(), *range(rank)]:
        color = colors[mode] if mode < rank else style.NOISE
        for side in SIDES:
            thin = {} if mode < rank else {"linewidth": 0.7, "alpha": 0.5}
            curve = data["singular_value"].sel(side=side).isel(mode=mode)
            label = NAMES[side] if mode == 0 else None
            axis.plot(data["step"], curve, color=color, label=label, **{**LOOKS[side], **thin})
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
    axis.set(title="b  Singular values of all three", ylabel="singular value", ylim=(0, None))
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, handlelength=1.6, columnspacing=1.0)


def check(data: Dataset) -> Rows:
    for kind in ("train", "test"):
        theory, *trained = (data["error"].sel(kind=kind, side=side).values for side in SIDES)
        one, two = (float(np.abs(error - theory).max() / np.ptp(theory)) for error in trained)
        gap = f"largest gap between the {kind} error of descent and that of eq. (1), over its range"
        yield printed(gap, one, GAP) if np.isfinite(one) else fact(gap, one)
        yield fact(f"{gap}, public loop", two)
    norms = (data["singular_value"].sel(side="simultaneous") ** 2).sum("mode")
    apart = (data["distance"].max("step") / norms.max()) ** 0.5 * data.sizes["mode"]
    distances = {NAMES[side]: float(apart.sel(update=side)) for side in SIDES[1:]}
    yield fact("largest distance of the products from those of eq. (1), over their largest norm", distances)
    yield from _least_error_rows(data)
    yield from _speed_rows(data)


def _least_error_rows(data: Dataset) -> Rows:
    """Yield the minimum test error, and where the singular values are there."""
    tests = data["error"].sel(kind="test")
    best = {side: int(tests.sel(side=side).values.argmin()) for side in SIDES[:2]}
    yield fact("minimum test error", {NAMES[side]: float(tests.sel(side=side).min()) for side in best})
    yield fact("step of the minimum test error", {NAMES[side]: step for side, step in best.items()})
    rank, threshold = int(data.attrs["rank"]), float(data.attrs["threshold"])
    goals = data["target"].values
    values = data["singular_value"].sel(side="simultaneous").values[best["simultaneous"]]
    there = "at the minimum test error of descent"
    yield fact(f"leading singular values over those of the target, {there}", values[:rank] / goals[:rank])
    if rank < len(values):
        yield fact(f"the next one over that of the target, {there}", values[rank] / goals[rank])
        yield fact(f"the next one over the threshold, {there}", values[rank] / threshold)


def _speed_rows(data: Dataset) -> Rows:
    """Yield how fast the leading singular value grows over what is predicted, while lazy and while active.

    Steps are compared with the exact solution of the aligned mode over one step, as steps are not small.
    """
    threshold, goal = float(data.attrs["threshold"]), float(data["target"][0])
    values = data["singular_value"].sel(side="simultaneous").isel(mode=0).values
    # without the first two steps, when the initialization's own singular vectors are leading
    now, speed = values[2:-1], (np.diff(values) / data["leading_growth"].values[:-1])[2:]
    parts = {  # far from the threshold, or else on its side of it
        "below the threshold": [(now < threshold / 5) & (now < 0.7 * goal), (now < threshold) & (now < 0.7 * goal)],
        "above the threshold": [(now > 5 * threshold) & (now < 0.5 * goal), (now > threshold) & (now < 0.7 * goal)],
    }
    measured = {name: [speed[part].mean() for part in choices if part.any()] for name, choices in parts.items()}
    of_leading = r"speed of the leading mode over its distance left, in units of $2 \sqrt{s^2 + \sigma^4 w^2}$"
    if all(measured.values()):
        yield printed(of_leading, {name: float(means[0]) for name, means in measured.items()}, SPEED)
    else:
        yield fact(f"{of_leading}: not measurable, as it is never on both sides of the threshold while it grows", [])


FIGURE = Figure(
    name="fig1",
    title="Descent follows the self-consistent dynamics, lazy below the threshold and active above",
    caption=(
        "Left: train and test error of the self-consistent dynamics, eq. (1) (solid), and of gradient descent at the "
        "same step: as eq. (2) has it (dashed), and as the authors' public loop runs, whose second layer sees the new "
        "first one (dotted); most of the gap seen in the paper's figure is that of the latter. Right: singular values "
        "of all three; the leading ones speed up once they pass the threshold σ²w. d = 500, rank 5, w = d^2.25, "
        "σ² = d^-1.85, c = 5, 90 steps (quick: d = 100); another width or scale may be set."
    ),
    settings=TuFig1,
    quick={"dim": 100},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
