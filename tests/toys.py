"""Small figures and claims that stand in for the papers' where the machinery itself is tested."""

from __future__ import annotations

import time
from typing import Any

from linnet import style
from linnet_papers.reproduction import Claim, Rows, Trial, Verdict, below, fact, printed, summary, verify, within
from linnet_papers.reproduction.figure import Figure, Settings


class Decay(Settings):
    """Settings of the toy figure."""

    rate: float = 1.0
    points: int = 50
    scales: tuple[float, ...] = (1.0, 2.0)
    data: str = "made"
    seeds: int = 1
    wait: float = 0.0
    breaks: bool = False
    limit: float = 1e-6


def compute(settings: Decay, panels: tuple[str, ...]) -> Any:
    import numpy as np
    import xarray as xr

    if settings.breaks:
        raise RuntimeError("the toy was\nasked to break")
    time.sleep(settings.wait)
    t = np.linspace(0.0, 3.0, settings.points)
    trained = np.exp(-settings.rate * t) + 1e-9 * np.random.default_rng(settings.seed).normal(size=t.size)
    return xr.Dataset(
        {"trained": ("time", trained), "theory": ("time", np.exp(-settings.rate * t))},
        {"time": ("time", t, {"units": "canonical", "long_name": "time"})},
        attrs={"panels": ",".join(panels), "limit": settings.limit},
    )


def plot(data: Any) -> Any:
    """Hardly any letters, and no layout of them, which is most of what drawing takes."""
    with style.applied():
        letters = data.attrs["panels"].split(",")
        picture, axes = style.subplots(1, len(letters), squeeze=False)
        picture.set_layout_engine("none")
        for letter, axis in zip(letters, axes[0], strict=True):
            axis.plot(data.time, data.trained, color=style.LOSS, **style.TRAINING)
            axis.plot(data.time, data.theory, color=style.LOSS, **style.THEORY)
            axis.set(title=letter, xticks=[], yticks=[])
        return picture


def check(data: Any) -> Rows:
    error = float(abs(data.trained - data.theory).max())
    yield printed("trained vs theory: max error", error, below(float(data.attrs["limit"]), "noise of 1e-9 was added"))
    yield fact("the loss ends <low> & near zero", float("inf"))


def toy_figure(name: str, paper: str = "watanabe", **quick: Any) -> Figure:
    return Figure(
        name=name,
        paper=paper,
        title=f"How the toy <{name}> decays",
        caption="A loss that decays & its prediction, for x < 3.",
        settings=Decay,
        quick={"points": 9, **quick},
        compute=compute,
        plot=plot,
        check=check,
        panels=("a", "b"),
        options={"data": "what decays"},
    )


FIGURES = {f.name: f for f in (toy_figure("watanabe-fig1"), toy_figure("watanabe-fig2"), toy_figure("tu-fig1", "tu"))}


def formula(x: float) -> float:
    """The theory that the toy claims measure; tests put a wrong one in its place."""
    return x * x


EXACT = within(1e-12, "rounding of one product", of=9)


def measure_square(trial: Trial) -> Rows:
    yield printed("square of $x$", formula(3.0), EXACT)
    yield fact("seed", trial.seed)


def measure_other(trial: Trial) -> Rows:
    yield printed("square of $x$", float("inf"), EXACT)
    yield summary(f"measured {trial.seed}, quick {trial.quick}")


def measure_broken(trial: Trial) -> Rows:
    yield printed("square of $x$", formula(3.0), EXACT)
    raise ZeroDivisionError("nothing to divide by")


def toy_claim(name: str, expected: Verdict, measure: Any) -> Claim:
    return Claim(
        name=name,
        paper=name.split("-")[0],
        where="Eq. (1)",
        says="The square of $x$ is $x^2$.",
        tried="$x = 3$",
        expected=expected,
        measure=measure,
    )


CLAIMS = {
    claim.name: claim
    for claim in (
        toy_claim("watanabe-square", Verdict.HOLDS, measure_square),
        toy_claim("watanabe-squares-again", Verdict.HOLDS, measure_square),
        toy_claim("tu-other", Verdict.REFUTED, measure_other),
    )
}
BROKEN = toy_claim("tu-broken", Verdict.HOLDS, measure_broken)


CALLS: list[float] = []  # the rates that `cells` was asked for, in order


def cells(points: dict[str, Any], seeds: Any, stops_at: float) -> dict[str, Any]:
    """A grid's cell function; it is interrupted at the rate `stops_at`, once."""
    import numpy as np

    rates = np.asarray(points["rate"])
    if stops_at in rates and -1.0 not in CALLS:
        CALLS.append(-1.0)
        raise KeyboardInterrupt
    CALLS.extend(rates.tolist())
    return {"end": np.exp(-rates)}


def grid() -> Any:
    """Four cells, a block each."""
    import linnet as ln

    axes = {"rate": [1.0, 2.0, 3.0, 4.0]}
    return ln.sweeps.run(
        ln.sweeps.Sweep(name="toy-grid", function="toys:cells", axes=axes, fixed={"stops_at": 3.0}, block=1)
    )


def measure_grid(trial: Trial) -> Rows:
    yield printed("sum of the cells", float(grid()["end"].sum()), EXACT)


GRID = toy_claim("tu-grid", Verdict.HOLDS, measure_grid)


def compute_grid(settings: Decay, panels: tuple[str, ...]) -> Any:
    data = grid()[["end"]]
    return compute(settings, panels).merge(data, combine_attrs="override")


class Verdicts:
    """Stands in for the process that measures the claims: the toys are measured here."""

    reused = False

    def __init__(self, out: Any, *, quick: bool, fresh: bool = False) -> None:
        self.trial = Trial(quick=quick)

    def results(self) -> Any:
        return verify(CLAIMS.values(), self.trial)

    def stop(self) -> None:
        """Nothing is going on."""
