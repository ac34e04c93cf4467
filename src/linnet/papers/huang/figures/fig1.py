"""Figure 1 of Huang et al.: the two stages on the synthetic data of section 6."""

from __future__ import annotations

from typing import TYPE_CHECKING

import linnet as ln
from linnet.papers.huang.figures import curves as feature_curves
from linnet.papers.huang.figures import panels as feature_panels
from linnet.reproduction.figure import Check, Figure, Settings

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture


class TwoStages(Settings):
    """Section 6's settings; `eta` is the paper's step, m times the canonical one."""

    samples: int = 10
    dim: int = 10_000
    width: int = 1024
    eta: float = 0.1
    first_std: float = 0.01
    magnitude: float = 0.001
    noise_variance: float = 0.01
    steps: int = 40


def compute(settings: TwoStages, panels: tuple[str, ...]) -> xr.Dataset:
    data = ln.problems.gaussian_teacher(
        settings.seed, samples=settings.samples, dim=settings.dim, noise_variance=settings.noise_variance
    )
    scales = {"first_std": settings.first_std, "magnitude": settings.magnitude}
    start = ln.inits.signed([settings.seed, 1], in_dim=settings.dim, width=settings.width, **scales)
    rate = settings.eta / settings.width
    problem = ln.Problem.from_data(data.inputs, data.outputs)
    trajectory = ln.gradient_descent(problem, start, learning_rate=rate, steps=settings.steps)
    stages = ln.theories.feature_learning.Stages(
        data.inputs, data.outputs, width=settings.width, learning_rate=rate, **scales
    )
    ds = feature_curves.summary(ln.observables.feature_history(trajectory), stages)
    ds.attrs["panels"] = ",".join(panels or feature_panels.PANELS)
    ds.attrs["magnitude"] = settings.magnitude
    ds.attrs["subtitle"] = (
        f"Linear network, m = {settings.width}, on {settings.samples} synthetic samples in {settings.dim} dimensions"
    )
    return ds


def plot(ds: xr.Dataset) -> Picture:
    return feature_panels.draw(ds)


def check(ds: xr.Dataset) -> list[Check]:
    high = ds.loss.values > 0.95
    before = float(ds.ratio.values[high][-1])
    end, square, cosine = float(ds.ratio[-1]), float(ds.mean_square[-1]), float(ds.kernel_cosine.values[~high].min())
    gap = float(abs(ds.loss - ds.loss_theory).max())
    return [
        _within("median rho/(v sqrt(gamma)) at the last step with the loss above 95%", before, 0.05),
        _within("median rho/(v sqrt(gamma)) at the end", end, 0.01),
        _within("mean rho^2 at the end over gamma^(5/2)/phi", square, 0.02),
        Check(
            f"NTK cosine to the target-aligned kernel from there on: at least {cosine:.5f} (limit 0.999)",
            cosine,
            0.999,
            cosine > 0.999,
        ),
        feature_panels.kernel_check(ds),
        Check(
            f"loss against eq. (10) with the mean over neurons: max error {gap:.2g} of its start (limit 0.01)",
            gap,
            0.01,
            gap < 0.01,
        ),
        Check(
            f"empirical t1: the loss has lost 5% at step {ds.attrs['first_time_loss']:.1f}; median |rho| is 1 at step "
            f"{ds.attrs['first_time_alignment']:.2f} (predicted {ds.attrs['first_time_median']:.2f}): with v0 "
            "sqrt(gamma) = "
            f"{ds.attrs['root_gamma'] * ds.attrs['magnitude']:.0f} the alignment passes 1 at once"
        ),
    ]


def _within(what: str, value: float, limit: float) -> Check:
    off = abs(value - 1)
    return Check(f"{what}: {value:.4f} (within {limit:.0%} of 1: {off:.2%})", value, limit, off < limit)


FIGURE = Figure(
    name="fig1",
    title="Two stages of feature learning on synthetic data",
    caption=(
        "A linear network of section 6, trained in reduced coordinates and read neuron by neuron. The loss is "
        "flat while each neuron turns towards the feature (alignment and magnitude reach a fixed ratio, the kernel the "
        "direction of the target-aligned one), then drops while everything grows along it. Solid: training. Dashed: "
        "the "
        "two-dimensional system (10) with the mean over neurons, from the network's own start. Eq. (10) knows only the "
        "feature's direction, so its kernel cannot show what grows in the others: its distance goes on falling where "
        "the "
        "trained one rises again. Vertical line: the loss has lost 5%."
    ),
    settings=TwoStages,
    quick={"steps": 32},
    compute=compute,
    plot=plot,
    check=check,
    panels=feature_panels.PANELS,
)
