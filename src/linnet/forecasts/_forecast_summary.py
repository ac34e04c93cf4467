"""A forecast in lines for a terminal and as a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.trajectories.datasets import provenance

if TYPE_CHECKING:
    import xarray as xr

    from linnet.forecasts.forecasting import Forecast

MAX_MODES_LISTED = 12  # one by one; weaker ones are counted


def findings(forecast: Forecast) -> list[str]:
    """Return the lines that are printed: when to stop, the run, how many modes are lazy, and a table of the modes."""
    return [*_stopping_sentences(forecast), *_run_sentences(forecast), *_mode_lines(forecast)]


def _stopping_sentences(forecast: Forecast) -> list[str]:
    """Say when to stop, if there are held-out samples or a signal."""
    held_out = forecast.held_out
    if held_out is None:
        return []
    what = "held-out" if forecast.validation_loss is not None else "test"
    last = int(forecast.steps[-1])
    if forecast.best_step == last:
        return [f"Train longer: the {what} loss still falls at the last step, {last} ({forecast.best_loss:.4g})."]
    rise = held_out[-1] / held_out.min() - 1
    return [
        f"Stop at step {forecast.best_step}: the {what} loss is {forecast.best_loss:.4g} there, and {rise:.1%} larger "
        f"at the last step, {last}."
    ]


def _run_sentences(forecast: Forecast) -> list[str]:
    """Say how far the loss falls, how many modes are learned lazily or actively, and how far the prediction is off."""
    start, end = forecast.loss[0], forecast.loss[-1]
    lines = [
        f"The training loss falls from {start:.4g} to {end:.4g} in {forecast.steps[-1]} steps with learning rate "
        f"{forecast.learning_rate:.3g}."
    ]
    if forecast.problem.cost is None:
        floor = float(forecast.problem.factor.floor)
        gone = (start - end) / (start - floor) if start > floor else 1.0
        lines[0] += f" This is {gone:.1%} of the possible decrease: no linear map has a loss below {floor:.4g}."
    lines.append(_regime_sentence(forecast.learned))
    if forecast.prediction is not None:
        distance = np.abs(forecast.prediction.loss - forecast.loss).max() / np.ptp(forecast.loss)
        lines.append(f"`ln.predict` differs from this run by at most {distance:.1%} of the decrease, without training.")
    return lines


def _mode_lines(forecast: Forecast) -> list[str]:
    """List the strongest modes, and count the others."""
    r = forecast.regimes
    rows = [("mode", "strength", "half learned at step", "learned at the end", "how", "size", "threshold", "kernel")]
    for mode, adverb in enumerate(forecast.learned[:MAX_MODES_LISTED]):
        half = forecast.half_steps[mode]
        rows.append(
            (
                str(mode + 1),
                f"{r.strengths[mode]:.3g}",
                "not in this run" if np.isnan(half) else f"{half:.0f}",
                f"{forecast.shares[-1, mode]:.0%}",
                adverb,
                f"{r.sizes[mode]:.2g}",
                f"{r.thresholds[mode]:.2g} +/- {r.uncertainties[mode]:.1g}",
                f"x {forecast.kernel[-1, mode]:.3g}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    weaker = len(forecast.half_steps) - len(rows) + 1
    lines += [f"  and {weaker} weaker modes"] if weaker else []
    return [
        *lines,
        "  strength: singular value of the input-output correlation; size and threshold: a mode above the threshold is "
        "active; kernel: final over initial tangent kernel",
    ]


def _regime_sentence(adverbs: list[str]) -> str:
    """Say how many modes are learned lazily, actively, or crossing."""
    names = {"lazily": "lazily", "crossing": "crossing the threshold", "actively": "actively"}
    parts = [f"{adverbs.count(adverb)} {name}" for adverb, name in names.items() if adverb in adverbs]
    return f"{len(adverbs)} {'mode is' if len(adverbs) == 1 else 'modes are'} learned: {', '.join(parts)}."


def dataset(forecast: Forecast) -> xr.Dataset:
    """Build the dataset: losses along `time`, shares and kernels along `time` and `mode`, thresholds along `mode`."""
    import xarray as xr

    r = forecast.regimes
    variables: dict[str, Any] = {"loss": ("time", forecast.loss, {"long_name": "training loss, 1/2 E|y - A x|^2"})}
    for name, values in (("test_loss", forecast.test_loss), ("validation_loss", forecast.validation_loss)):
        if values is not None:
            variables[name] = ("time", values)
    if forecast.prediction is not None:
        variables["predicted_loss"] = ("time", forecast.prediction.loss, {"long_name": "loss by ln.predict"})
        variables["predicted_share"] = (("time", "mode"), forecast.predicted_shares)
    for name, values, about in (
        ("share", forecast.shares, "fraction of the mode's residual that is gone"),
        ("kernel", forecast.kernel, "tangent kernel along the mode, relative to its initial value"),
        ("strength", r.strengths, "singular value of the cross-covariance"),
        ("size", r.sizes, "of the mode at the end, as its kernel sees it: sqrt((theta/2)^2 - g^2)"),
        ("threshold", r.thresholds, "size at which the mode turns active"),
        ("uncertainty", r.uncertainties, "uncertainty of the threshold"),
        ("movement", r.movement, "predicted kernel at the end, relative to its initial value"),
        ("half_step", forecast.half_steps, "step at which the mode is half learned"),
    ):
        variables[name] = (("time", "mode")[-values.ndim :], values, {"long_name": about})
    variables |= {
        "learned": ("mode", np.array(forecast.learned)),
        "output_direction": (("output", "mode"), r.left),
        "input_direction": (("input", "mode"), r.right),
    }
    clock = {"long_name": "time", "units": "canonical"}
    coordinates = {
        "time": ("time", forecast.trajectory.times, clock),
        "step": ("time", forecast.steps, {"long_name": "step of descent"}),
        "mode": ("mode", np.arange(1, len(r.strengths) + 1)),
    }
    settings: dict[str, Any] = {"learning_rate": forecast.learning_rate, "width": forecast.weights.full_width}
    if forecast.best_step is not None:
        settings["best_step"] = forecast.best_step
    return xr.Dataset(variables, coordinates, attrs={**provenance(), **settings})
