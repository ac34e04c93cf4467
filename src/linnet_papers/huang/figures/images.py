"""What the image figures share: the settings, the pictures drawn, and the four conventions side by side."""

from __future__ import annotations

import numpy as np
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.figures import curves, panels
from linnet_papers.huang.images import load_images
from linnet_papers.huang.training.pictures import (
    CONVENTIONS,
    MOMENTS,
    PictureRun,
    describe_convention,
    picture_network,
)
from linnet_papers.reproduction import Rows, Settings, above, fact, printed
from linnet_papers.reproduction.datasets import Dataset, Described, by_name, labeled, variable_attributes

OPTIONS = {
    "data": "the images: photographs or digits (both in scikit-learn), or cifar10",
    "data_dir": "the folder with a local copy of cifar10",
}


SETTLED = above(0.95, "the ratio is 1 when a neuron has turned to the feature; real images leave a few percent aside")


class ImageSettings(Settings):
    """The paper gives no settings for its image figures: these are linnet's.

    Pictures of two classes, `centered` or raw, scaled to unit mean square; `targets` are "signs" (+1 and -1) or
    "labels" (the numbers of the classes). The classes are the set's own pair unless given. `growth` is the step as the
    growth per step of the first stage: the canonical step is `growth` n/sqrt(gamma), so that one number suits every
    data set, but at most `sharpness` over the largest curvature at the end. Training goes on, twice as long each time,
    until no more than `until` of what can be lost is left, and keeps about `states` states, evenly spaced in the
    logarithm of the step. `conventions` trains the other three combinations of pixels and targets as well.
    """

    data: str = "photographs"
    data_dir: str = ""
    samples: PositiveInt = settings.IMAGE_SAMPLES
    first_class: NonNegativeInt | None = None
    second_class: NonNegativeInt | None = None
    centered: bool = True
    targets: str = "signs"
    conventions: bool = True
    width: PositiveInt = settings.IMAGE_WIDTH
    growth: PositiveFloat = settings.LINEAR_GROWTH
    first_std: PositiveFloat = settings.IMAGE_FIRST_STD
    magnitude: PositiveFloat = settings.IMAGE_MAGNITUDE
    sharpness: PositiveFloat = 1.8
    steps: PositiveInt = 600
    until: PositiveFloat = 0.005
    states: PositiveInt = 200


def train_on_images(chosen: ImageSettings, *, relu: bool) -> tuple[PictureRun, str, int]:
    """Draw images of the chosen set and train a network on them; return the run, the data set in words, and the number
    of inputs."""
    loaded = load_images(chosen.data, chosen.data_dir or None)
    pair = (chosen.first_class, chosen.second_class)
    X, y = loaded.two_classes(
        *pair, samples=chosen.samples, key=chosen.seed, centered=chosen.centered, targets=chosen.targets
    )
    names = [loaded.classes[loaded.pair[i] if label is None else label] for i, label in enumerate(pair)]
    taken = chosen.model_dump(
        include={"seed", "width", "growth", "first_std", "magnitude", "steps", "until", "sharpness"}
    )
    run = picture_network(X, y, relu=relu, save_every=ln.trajectories.log_spaced(chosen.states), **taken)
    return run, f"{len(y)} images of {loaded.name} ({' and '.join(names)})", X.shape[1]


def compare_conventions(chosen: ImageSettings, drawn: PictureRun, *, relu: bool) -> Dataset:
    """Train in the conventions besides the chosen one, that of the run `drawn`: of all four, ratio and kernel where 5%,
    a half and four fifths of what can be lost is lost, (convention, moment) each.

    NaN where the loss never falls so far. `end_ratios` (convention,) is where the ratio ends by the closed form.
    """
    changed = [
        chosen.model_copy(update={"centered": centered, "targets": targets}) for centered, targets in CONVENTIONS
    ]
    runs = [drawn if each == chosen else train_on_images(each, relu=relu)[0] for each in changed]

    def at_moments(run: PictureRun) -> dict[str, np.ndarray]:
        """Return ratio, cosine and distance at each of the `MOMENTS`, NaN where the loss never falls so far."""
        fallen = run.remaining_share <= np.reshape(list(MOMENTS.values()), (-1, 1))  # (moment, time)
        there = run.history[fallen.argmax(axis=1)]
        values = {"ratios": there.median_ratio, "cosines": there.kernel_cosine, "distances": there.kernel_distance}
        return {name: np.where(fallen[:, -1], value, np.nan) for name, value in values.items()}

    measured = by_name(at_moments(run) for run in runs)
    conventions = [describe_convention(*each) for each in CONVENTIONS]
    words = {
        "ratios": "median over neurons of rho/(v sqrt(gamma))",
        "cosines": "cosine to the target-aligned kernel",
        "distances": "relative distance to the target-aligned kernel",
    }
    variables: Described = {
        name: (("convention", "moment"), measured[name], f"{text}, by convention", "1") for name, text in words.items()
    }
    ends = [run.end.settled for run in runs]
    variables["end_ratios"] = ("convention", ends, "a linear network's ratio at the end", "1")
    coords = {
        "convention": ("convention", conventions, "what is done to the pixels, and what is asked for"),
        "moment": ("moment", list(MOMENTS), "5%, a half and four fifths of what can be lost is lost"),
    }
    return labeled(variables, coords)


def train_for_figure(chosen: ImageSettings, letters: tuple[str, ...], *, relu: bool) -> Dataset:
    """Train one network; return what the figures draw of it, with what headings and checks say of the data. `letters`
    are the panels asked for."""
    run, words, inputs = train_on_images(chosen, relu=relu)
    ds = curves.summary(run.history, run.stages).assign_attrs(
        panels=",".join(letters or panels.PANELS),
        data=words,
        subtitle=f"{'ReLU' if relu else 'Linear'} network, m = {chosen.width}, on {words}, {inputs} inputs"
        + ("" if chosen.data.startswith("cifar10") else ", a stand-in for CIFAR-10"),
        convention_drawn=describe_convention(chosen.centered, chosen.targets),
        loss_floor=run.floor,
        dominance=run.dominance,
        left=float(run.remaining_share[-1]),
        logarithmic=1,
    )
    if relu:
        text = "cosine to the target-aligned kernel between images on one side of the feature"
        ds = ds.assign(gated_cosine=("step", run.gated_cosine, variable_attributes(text, "1")))
    return ds.merge(compare_conventions(chosen, run, relu=relu)) if chosen.conventions else ds


def stage_rows(ds: Dataset) -> Rows:
    """Yield the paper's three behaviors measured: loss flat then falling, ratio settled at t1, kernel turned.

    The ratio of a linear network must have settled at t1, as its equations have it.
    """
    loss, ratio, cosine = ds.loss.values, ds.ratio.values, ds.kernel_cosine.values
    begun = loss <= settings.FIRST_SHARE
    first = int(np.argmax(begun)) if begun.any() else len(loss) - 1
    floor = ds.attrs["loss_floor"]
    dropped = int(np.argmax(loss <= max(floor + 0.1 * (1 - floor), loss[-1])))
    during = ratio[first : dropped + 1]
    median = r"median $\rho/(v \sqrt{\gamma})$"
    at_first = f"{median} where the loss has lost 5%", float(ratio[first])
    yield fact(r"fraction of $X X^\top$ in its first mode", ds.attrs["dominance"], f"{ds.attrs['data']}")
    yield fact("step at which the loss has lost 5%", ds.attrs["first_time_loss"], ds.attrs["convention_drawn"])
    yield fact("step at which it has lost 90% of what can be lost, or all that was", int(ds.step[dropped]))
    yield fact(*at_first) if panels.is_relu(ds) else printed(*at_first, SETTLED)
    yield fact("spread of that ratio over the drop, over its mean", float(np.ptp(during) / during.mean()))
    yield fact(f"{median} at the last step, {int(ds.step[-1])}", float(ratio[-1]))
    yield fact("fraction left there of what can be lost", ds.attrs["left"])
    if not panels.is_relu(ds):
        yield fact(f"{median} at the end of training by the closed form", ds.attrs["end_ratio"])
    states = {"at initialization": 0, "at $t_1$": first, "after the drop": dropped, "at the end": -1}
    yield fact("kernel cosine to the target-aligned kernel", {words: cosine[at] for words, at in states.items()})


def convention_facts(ds: Dataset) -> Rows:
    """Yield what each convention does: nothing is claimed of it, as the paper names none."""
    if "convention" not in ds.dims:
        return
    words = {"ratios": r"median $\rho/(v \sqrt{\gamma})$", "cosines": "kernel cosine", "distances": "kernel distance"}
    conventions = ds.convention.values.tolist()
    lost = [f"{1 - share:.0%} lost" for share in MOMENTS.values()]
    labels = [f"{convention}, {moment}" for convention in conventions for moment in lost]
    for name, what in words.items():
        values = ds[name].transpose("convention", "moment").values.ravel()
        yield fact(f"{what} by convention and moment", dict(zip(labels, values, strict=True)), "NaN: not reached")
    if not panels.is_relu(ds):
        ends = dict(zip(conventions, ds.end_ratios.values, strict=True))
        yield fact(f"{words['ratios']} at the end by the closed form, by convention", ends)
