"""Figure 1 of Huang et al.: the two stages on the synthetic data of section 6."""

from __future__ import annotations

from pydantic import PositiveFloat, PositiveInt

from linnet_papers.huang import misprints
from linnet_papers.huang import settings as paper
from linnet_papers.huang.figures import curves, panels
from linnet_papers.huang.training.runs import train_section_six
from linnet_papers.reproduction import Figure, Rows, Settings, above, below, fact, printed, within
from linnet_papers.reproduction.datasets import Dataset

TURNED = within(0.1, "a fixed ratio while the loss is flat: a tenth from it would be seen in the panel", of=1)
STAYED = within(0.01, "in stage 2 everything grows along the feature: what is left aside is below 1%", of=1)
SQUARE = within(0.02, "twice the limit of the ratio, of which it is the square", of=1)
ALIGNED = above(0.999, "a cosine to three digits, as the panel shows it")
CLOSED = within(0.1, "the closed form is for a vanishing start, and the run is not quite at its end", of=1)
FOLLOWED = below(0.01, "of the first loss: a line's width in the panel")


class TwoStages(Settings):
    """Section 6's settings; `eta` is the paper's step, m times the canonical one."""

    samples: PositiveInt = paper.SAMPLES
    dim: PositiveInt = paper.DIM
    width: PositiveInt = paper.WIDTH
    eta: PositiveFloat = paper.ETA
    first_std: PositiveFloat = paper.FIRST_STD
    magnitude: PositiveFloat = paper.MAGNITUDE
    noise_variance: float = paper.NOISE_VARIANCE
    steps: PositiveInt = 40


def compute(settings: TwoStages, chosen: tuple[str, ...]) -> Dataset:
    run = train_section_six(**settings.model_dump())
    broken = misprints.assumption(run.data, epsilon=paper.EPSILON, **run.scales).broken
    return curves.summary(run.history, run.stages).assign_attrs(
        panels=",".join(chosen or panels.PANELS),
        magnitude=settings.magnitude,
        broken=", ".join(broken),
        subtitle=f"Linear network, m = {settings.width}, on {settings.samples} synthetic samples in {settings.dim} "
        "dimensions",
    )


def check(ds: Dataset) -> Rows:
    high = ds.loss.values > paper.FIRST_SHARE
    ratio = r"median $\rho/(v \sqrt{\gamma})$"
    yield printed(f"{ratio} at the last step with the loss above 95%", float(ds.ratio.values[high][-1]), TURNED)
    yield printed(f"{ratio} at the end", float(ds.ratio[-1]), STAYED)
    yield printed(r"mean $\rho^2$ at the end over $\gamma^{5/2}/\phi$", float(ds.mean_square[-1]), SQUARE)
    cosine = float(ds.kernel_cosine.values[~high].min())
    yield printed("smallest cosine of the kernel to the target-aligned one from there on", cosine, ALIGNED)
    yield from panels.kernel_facts(ds)
    end = float(ds.kernel_distance[-1]) / ds.attrs["end_distance"]
    yield printed("that distance at the end over its closed form", end, CLOSED)
    gap = float(abs(ds.loss - ds.loss_theory).max())
    yield printed("largest distance of the loss from Eq. (10) with the mean over neurons", gap, FOLLOWED)
    yield fact("step at which the loss has lost 5%", ds.attrs["first_time_loss"])
    passed = r"step at which the median $\lvert \rho \rvert$ is 1"
    root = ds.attrs["root_gamma"] * ds.attrs["magnitude"]
    yield fact(passed, ds.attrs["first_time_alignment"], rf"at once, as $v_0 \sqrt{{\gamma}}$ is {root:.0f}")
    yield fact(f"{passed}, predicted", ds.attrs["first_time_predicted"])
    broken = ds.attrs["broken"].split(", ") if ds.attrs["broken"] else []
    which = f"conditions {ds.attrs['broken'] or 'none'}; the two stages appear all the same"
    yield fact("conditions of the printed Assumption 4.1 that are broken with all constants 1", len(broken), which)


FIGURE = Figure(
    name="fig1",
    title="Two stages of feature learning on synthetic data",
    caption=(
        "A linear network of section 6, trained in reduced coordinates and read neuron by neuron. The loss is flat "
        "while each neuron turns towards the feature (alignment and magnitude reach a fixed ratio, the kernel the "
        "direction of the target-aligned one), then drops while everything grows along it. Solid: training. Dashed: "
        "the two-dimensional system (10) with the mean over neurons, from the network's own start. Eq. (10) knows only "
        "the feature's direction, so its kernel cannot show what grows in the others: its distance goes on falling "
        "where the trained one rises to the value that the closed form has for this data (black line). The paper "
        "averages the ratios of the neurons (dotted); where a magnitude near zero carries that mean out of the panel, "
        "an arrow marks it. Vertical line: the loss has lost 5%."
    ),
    settings=TwoStages,
    quick={"steps": 32},
    compute=compute,
    plot=panels.draw,
    check=check,
    panels=panels.PANELS,
)
