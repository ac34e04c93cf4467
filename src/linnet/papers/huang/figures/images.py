"""What the image figures share: the settings, the pictures drawn, and the four conventions side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

import linnet as ln
from linnet.papers.huang import settings
from linnet.reproduction import Check, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import xarray as xr

    from linnet.papers.huang.networks.pictures import PictureRun

OPTIONS = {
    "data": "the images: photographs, digits (both in scikit-learn), cifar10-sample (in foolbox), cifar10 or "
    "fashion-mnist",
    "path": "the folder with a local copy of cifar10 or fashion-mnist",
}


class ImageSettings(Settings):
    """The paper gives no settings for its image figures: these are linnet's.

    Pictures of two classes, `centred` or raw, scaled to unit mean square; `targets` are "signs" (+1 and -1) or
    "labels" (the numbers of the classes). The classes are the set's own pair unless given. `growth` is the step as the
    growth per step of the first stage: the canonical step is `growth` n/sqrt(gamma), so that one number suits every
    data set. `conventions` trains the other three combinations of pixels and targets as well.
    """

    data: str = "photographs"
    path: str = ""
    samples: PositiveInt = settings.IMAGE_SAMPLES
    first_class: NonNegativeInt | None = None
    second_class: NonNegativeInt | None = None
    centred: bool = True
    targets: str = "signs"
    conventions: bool = True
    width: PositiveInt = settings.IMAGE_WIDTH
    growth: PositiveFloat = settings.LINEAR_GROWTH
    first_std: PositiveFloat = settings.IMAGE_FIRST_STD
    magnitude: PositiveFloat = settings.IMAGE_MAGNITUDE
    steps: PositiveInt = 600
    save_every: PositiveInt = 4


def drawn(chosen: ImageSettings, **changes: Any) -> tuple[np.ndarray, np.ndarray, str]:
    """Inputs, targets and a sentence that says which data they are."""
    chosen = chosen.model_copy(update=changes)
    loaded = ln.problems.load_images(chosen.data, chosen.path or None)
    X, y = loaded.two_classes(
        chosen.first_class,
        chosen.second_class,
        samples=chosen.samples,
        key=chosen.seed,
        centred=chosen.centred,
        targets=chosen.targets,
    )
    pair = (chosen.first_class, chosen.second_class)
    names = [loaded.classes[loaded.pair[i] if label is None else label] for i, label in enumerate(pair)]
    return X, y, f"{len(y)} images of {loaded.name} ({' and '.join(names)})"


def network_settings(chosen: ImageSettings) -> dict[str, Any]:
    """The settings that the networks take."""
    names = ("seed", "width", "growth", "first_std", "magnitude", "steps", "save_every")
    return {name: getattr(chosen, name) for name in names}


def conventions(chosen: ImageSettings, network: Callable[..., PictureRun]) -> xr.Dataset:
    """Ratio and kernel at t1, after the drop and at the end in all four conventions, (convention, moment) each.

    NaN for a convention in which the loss never loses 5%.
    """
    import numpy as np
    import xarray as xr

    from linnet.papers.huang.networks.pictures import CONVENTIONS, MOMENTS, convention

    shape = (len(CONVENTIONS), len(MOMENTS))
    found = {name: np.full(shape, np.nan) for name in ("ratios", "cosines", "distances")}
    for row, (centred, targets) in enumerate(CONVENTIONS):
        X, y, _ = drawn(chosen, centred=centred, targets=targets)
        run = network(X, y, **network_settings(chosen))
        try:
            moments = run.moments()
        except RuntimeError:  # the loss never moves: class numbers that are all but constant, once centred
            continue
        found["ratios"][row] = run.history.median_ratio[moments]
        found["cosines"][row] = run.history.kernel_cosine[moments]
        found["distances"][row] = run.history.kernel_distance[moments]
    words = [convention(*each) for each in CONVENTIONS]
    texts = {
        "ratios": "median over neurons of rho/(v sqrt(gamma)), by convention",
        "cosines": "cosine to the target-aligned kernel, by convention",
        "distances": "relative distance to the target-aligned kernel, by convention",
    }
    variables = {
        name: (("convention", "moment"), values, {"long_name": texts[name], "units": "1"})
        for name, values in found.items()
    }
    coords = {
        "convention": ("convention", words, {"long_name": "what is done to the pixels, and what is asked for"}),
        "moment": (
            "moment",
            list(MOMENTS),
            {"long_name": "5% of the loss lost, nine tenths of the drop done, the end"},
        ),
    }
    return xr.Dataset(variables, coords=coords)


def described(
    ds: xr.Dataset, chosen: ImageSettings, run: PictureRun, network: str, words: str, inputs: int
) -> xr.Dataset:
    """The dataset with what its headings and checks say of the data."""
    from linnet.papers.huang.networks.pictures import convention

    return ds.assign_attrs(
        data=words,
        subtitle=f"{network}, m = {chosen.width}, on {words}, {inputs} inputs",
        convention_drawn=convention(chosen.centred, chosen.targets),
        loss_floor=run.floor,
        dominance=run.dominance,
    )


def convention_checks(ds: xr.Dataset) -> list[Check]:
    """A line for each convention: nothing is claimed of it, as the paper names none."""
    if "convention" not in ds.dims:
        return []
    lines = []
    for words in ds.convention.values:
        each = {name: ds[name].sel(convention=words).values for name in ("ratios", "cosines", "distances")}
        if each["ratios"][0] != each["ratios"][0]:
            lines.append(Check(f"{words}: the loss never loses 5%"))
            continue
        lines.append(
            Check(
                f"{words}: at t1, after the drop and at the end ratio {_three(each['ratios'], '.3f')}, kernel cosine "
                f"{_three(each['cosines'], '.4f')}, kernel distance {_three(each['distances'], '.2g')}"
            )
        )
    return lines


def _three(values: np.ndarray, form: str) -> str:
    return ", ".join(format(float(value), form) for value in values)
