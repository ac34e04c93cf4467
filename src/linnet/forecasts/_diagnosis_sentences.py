"""A diagnosis in sentences: the verdict first, then sections; in lines for a terminal and in four headline numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnet.forecasts._columns import pluralize
from linnet.forecasts.curves import FLAT_CHANGE, mean_and_standard_error
from linnet.forecasts.rates import pytorch_rates
from linnet.forecasts.scale_trials import SIGNIFICANT_STANDARD_ERRORS, is_significant, smaller_start_factor
from linnet.observables.mode_regimes import regimes

if TYPE_CHECKING:
    import xarray as xr

    from linnet.forecasts.diagnosis import Diagnosis

SAFE_SHARE = 0.8  # of the largest stable rate of one initialization: at 0.95 three of ten others diverged, at 0.9 none
AS_GOOD = 0.05  # of ridge's error: a difference that is certainly smaller is none
EXACT_ERROR = 1e-6  # of the variance: an error below it is none
UNEVEN = 10.0  # ratio of the variances of the inputs from which the slow directions are worth a sentence
ADVERBS = {"lazy": "lazily", "active": "actively"}
PREPROCESS_SENTENCES = {
    "standardize": "Inputs and targets are centered and divided by their standard deviations",
    "center": "Inputs and targets are centered, not scaled",
    "whiten": "Inputs are whitened, targets centered and divided by their standard deviations",
}
INITIALIZATIONS = {"pytorch": "PyTorch's default initialization", "gaussian": "Gaussian initialization"}


class Section(NamedTuple):
    """Findings on one question: a title, rows of a table as lines of text, and sentences."""

    title: str
    rows: list[str]
    sentences: list[str]


def findings(diagnosis: Diagnosis) -> list[str]:
    """Return the lines that are printed: the verdict, then each section with its title."""
    lines = verdict(diagnosis)
    for title, rows, written in sections(diagnosis):
        lines += ["", title, *("  " + line for line in (*rows, *written))]
    return lines


def diagnosis_sentences(diagnosis: Diagnosis) -> list[str]:
    """Return all sentences below the verdict, without the rows of tables."""
    return [sentence for section in sections(diagnosis) for sentence in section.sentences]


def sections(diagnosis: Diagnosis) -> list[Section]:
    """Write the findings by question: errors, stopping, how the network learns, the data, learning rates."""
    s = diagnosis.settings
    start = INITIALIZATIONS.get(str(s["init"]), f"initialization {s['init']}")
    scale = "" if s["init_scale"] == 1 else f" times {s['init_scale']:g}"
    first, *others = _aligned(rate_table(diagnosis))
    learning = [
        *_regimes_sentences(diagnosis),
        _kernels_sentence(diagnosis),
        *_half_time_sentences(diagnosis),
        _slow_directions_sentence(diagnosis),
        _advised_scale_sentence(diagnosis),
        _trial_sentence(diagnosis),
        _threshold_curve_sentence(diagnosis),
    ]
    data = [
        f"{s['rows']} rows, {pluralize(s['inputs'], 'input')}, {pluralize(s['targets'], 'target')}. "
        f"{PREPROCESS_SENTENCES[s['preprocess']]}.",
        *diagnosis.table.notes,
        _spectrum_sentence(diagnosis),
        _learning_curve_sentence(diagnosis),
    ]
    return [
        Section(_error_title(diagnosis), _error_rows(diagnosis), _error_sentences(diagnosis)),
        Section("Stopping", [], _stopping_sentences(diagnosis)),
        Section(
            f"How the network learns (width {s['width']}, {start}{scale})",
            [],
            [sentence for sentence in learning if sentence],
        ),
        Section("Data", [], [sentence for sentence in data if sentence]),
        Section(first, others, _rates_sentences(diagnosis)),
    ]


def verdict(diagnosis: Diagnosis) -> list[str]:
    """Write what to do, in at most three sentences: which method, when to stop, and with which learning rate."""
    c = diagnosis.curves
    network, ridge = c.out_of_fold_error(), diagnosis.comparison.baselines["ridge"]
    if diagnosis.gain_over_mean[0] <= 0:
        return [
            "Do not train the network: at no step is it better than the mean of the targets.",
            _ridge_alone(diagnosis),
        ]
    if c.step == 0:
        return [
            "Do not train the network: its held-out error is smallest before the first step.",
            _ridge_alone(diagnosis),
        ]
    rate = f"with learning rate {diagnosis.forecast.learning_rate:.3g}"
    stop = f"stop at step {c.step} {rate}."
    if c.still_falling:
        stop = f"train it for {c.step} steps or more {rate}: the held-out error still falls."
    if max(network.mean(), ridge.mean()) < EXACT_ERROR:
        return [
            "Use ridge regression. The targets are a linear map of the inputs: every method finds it.",
            f"Network: {stop}",
        ]
    mean, spread = _difference(diagnosis)
    if mean < -SIGNIFICANT_STANDARD_ERRORS * spread:
        return [
            f"Use the network. Its held-out error is {-mean:.1%} smaller than that of ridge regression.",
            stop.capitalize(),
        ]
    if mean > SIGNIFICANT_STANDARD_ERRORS * spread:
        reason = f"Its held-out error is smaller: the network's is {mean:.1%} larger."
    elif abs(mean) + SIGNIFICANT_STANDARD_ERRORS * spread <= AS_GOOD:
        reason = "The network is as good but not better, and ridge is simpler."
    else:
        reason = "Which of the two is better cannot be decided here, and ridge is simpler."
    return [f"Use ridge regression. {reason}", f"If you train the network anyway, {stop}"]


def rate_table(diagnosis: Diagnosis) -> list[tuple[str, ...]]:
    """Return the learning rates for this loss and for PyTorch's losses, as rows of text; the first names the
    columns."""
    s, stable = diagnosis.settings, diagnosis.forecast.largest_stable_rate
    rows = [("Learning rates", "this loss", *pytorch_rates(1.0, rows=1, targets=1))]
    for name, rate in (("used", diagnosis.forecast.learning_rate), ("largest stable", stable.rate)):
        others = pytorch_rates(rate, rows=s["rows"], targets=s["targets"])
        rows.append((name, f"{rate:.3g}", *(f"{value:.3g}" for value in others.values())))
    return rows


def headline(data: xr.Dataset) -> dict[str, str]:
    """Return the four numbers that matter most, as text by their labels, from the dataset of a diagnosis.

    Both errors are of folds that took no part in the choice. Modes are active as the sentences say it (`regime`), not
    as the run on all rows has measured it so far (`learned`).
    """
    learns = float((data["mean_error"] - data["network_error"]).mean()) > 0
    return {
        "stop at step": (f"{data.attrs['stop']}" if data.attrs["stop"] else "do not train")
        if learns
        else "nothing is learned",
        "held-out error": f"{float(data['network_error'].mean()):.3f}",
        "ridge's": f"{float(data['ridge_error'].mean()):.3f}",
        "modes learned actively": f"{int((data['regime'] == 'active').sum())} of {data.sizes['mode']}",
    }


def _ridge_alone(diagnosis: Diagnosis) -> str:
    """Say whether ridge regression learns something that the network does not."""
    gains = diagnosis.comparison.mean_error - diagnosis.comparison.baselines["ridge"]
    mean, spread = mean_and_standard_error(gains)
    if mean > SIGNIFICANT_STANDARD_ERRORS * spread:
        return "Use ridge regression, which is better than the mean."
    return "Ridge regression is not certainly better than the mean either: there may be nothing to learn."


def _difference(diagnosis: Diagnosis) -> tuple[float, float]:
    """Return the network's error minus ridge's, and its standard error, as fractions of ridge's error."""
    network, ridge = diagnosis.curves.out_of_fold_error(), diagnosis.comparison.baselines["ridge"]
    unit = max(ridge.mean(), EXACT_ERROR)
    mean, spread = (part / unit for part in mean_and_standard_error(network - ridge))
    return mean, spread


def _error_title(diagnosis: Diagnosis) -> str:
    """Write the unit of errors, with an example."""
    names, error = diagnosis.table.output_names, diagnosis.curves.out_of_fold_error().mean()
    what = f"`{names[0]}`" if len(names) == 1 else "the targets"
    example = f"; {error:.2f} means R^2 = {1 - error:.2f}" if abs(error) < 1e3 else ""
    return f"Held-out error (fraction of the variance of {what} that is not explained{example})"


def _error_rows(diagnosis: Diagnosis) -> list[str]:
    """List the held-out error of each method, and its difference from ridge regression within folds."""
    baselines = diagnosis.comparison.baselines
    methods = {"network, stopped": diagnosis.curves.out_of_fold_error(), **baselines}
    methods["mean of the training rows"] = diagnosis.comparison.mean_error
    rows = [("", "error", "difference from ridge")]
    for name, errors in methods.items():
        gap = "" if name == "ridge" else _plus_minus(*mean_and_standard_error(errors - baselines["ridge"]))
        rows.append((name, _plus_minus(*mean_and_standard_error(errors)), gap))
    return _aligned(rows)


def _error_sentences(diagnosis: Diagnosis) -> list[str]:
    """Explain the table of errors, and compare the network with ridge regression."""
    mean, spread = _difference(diagnosis)
    larger = "larger" if mean > 0 else "smaller"
    certain = abs(mean) > SIGNIFICANT_STANDARD_ERRORS * spread
    chance = "more than two standard errors" if certain else "less than two standard errors, so it may be chance"
    lines = [
        f"+/- is one standard error over {diagnosis.settings['folds']} folds. Differences are taken within folds, and "
        "are therefore more precise than the errors.",
        "Every method makes its choices, such as the stopping step, without the fold on which it is scored.",
    ]
    if max(diagnosis.curves.out_of_fold_error().mean(), diagnosis.comparison.baselines["ridge"].mean()) >= EXACT_ERROR:
        lines.append(f"The network's error is {abs(mean):.1%} +/- {spread:.1%} {larger} than ridge's: {chance}.")
    return lines


def _stopping_sentences(diagnosis: Diagnosis) -> list[str]:
    """Say when to stop and how exact that step is, whether the network certainly learns, and what SURE recommends."""
    lines = [_when_to_stop(diagnosis)]
    gain, standard_error = diagnosis.gain_over_mean
    if 0 < gain <= SIGNIFICANT_STANDARD_ERRORS * standard_error:
        lines.append(
            f"It is not certain that the network is better than the mean of the targets: its error is {gain:.3f} +/- "
            f"{standard_error:.3f} smaller."
        )
    if diagnosis.stein is not None:
        lines.append(
            f"SURE, Stein's unbiased risk estimate, needs no held-out rows. It recommends step {diagnosis.stein.step}."
        )
    return lines


def _when_to_stop(diagnosis: Diagnosis) -> str:
    """Write the first case that applies: nothing is learned, or the error is zero, still falls, is flat, or rises."""
    c = diagnosis.curves
    gain, standard_error = diagnosis.gain_over_mean
    if gain <= 0:
        return (
            f"No step is better than the mean of the targets: the network's error is {_format_error(-gain)} +/- "
            f"{_format_error(standard_error)} larger (within folds)."
        )
    if c.step == 0:
        return "The held-out error is smallest before the first step."
    if c.mean[c.best] < EXACT_ERROR:
        first = c.steps[np.argmax(c.mean < EXACT_ERROR)]
        return f"The held-out error is zero from step {first} on (below {EXACT_ERROR:g} of the variance): stop there."
    if c.still_falling:
        fall, spread = (part / (c.mean[-1] + c.late_fall[0]) for part in c.late_fall)
        certain = fall > SIGNIFICANT_STANDARD_ERRORS * spread
        advice = f"train longer (--steps {2 * c.step})" if certain else "it is not certain that training longer helps"
        return (
            f"The error still falls at step {c.step}, by {fall:.1%} +/- {spread:.1%} over the last half of the run: "
            f"{advice}."
        )
    if c.flat_from is not None:
        return (
            f"The error is flat: from step {c.flat_from} to step {c.steps[-1]}, where this run ends, it stays within "
            f"{FLAT_CHANGE:.1%} of its minimum. Any step in this range is as good."
        )
    (low, high), rise = c.steps_within_one_error, c.mean[-1] / c.mean[c.best] - 1
    return (
        f"The minimum is at step {c.step}. Steps {low} to {high} are within one standard error of it (paired, by the "
        f"differences within folds). At step {c.steps[-1]}, where this run ends, the error is {rise:.1%} larger."
    )


def regime_adverbs(diagnosis: Diagnosis) -> list[str]:
    """Return "lazily" or "actively", mode by mode, by the definition of `observables.regimes`."""
    return [ADVERBS[label] for label in diagnosis.regimes.labels]


def _regimes_sentences(diagnosis: Diagnosis) -> list[str]:
    """Say how many modes this initialization learns lazily and how many actively, with their strengths."""
    adverbs, r = regime_adverbs(diagnosis), diagnosis.regimes.regimes
    modes, targets = pluralize(len(adverbs), "mode"), pluralize(int(diagnosis.settings["targets"]), "target")
    counts = {adverb: adverbs.count(adverb) for adverb in dict.fromkeys(adverbs)}
    if len(counts) > 1:
        how = f"{counts['actively']} are learned actively and {counts['lazily']} lazily"
    else:
        how = f"{'It is' if len(adverbs) == 1 else 'All are'} learned {adverbs[0]}"
    strengths = "Its strength is" if len(adverbs) == 1 else "Their strengths are"
    return [
        f"The table has {targets} and {modes}. {how}.",
        f"{strengths} {_range_text(r.sizes)} in the solution of ridge regression, and the threshold is "
        f"{r.thresholds.mean():.3g}. Modes below the threshold are learned lazily, modes above it actively.",
    ]


def _advised_scale_sentence(diagnosis: Diagnosis) -> str:
    """Say which change of the initialization would make lazy modes active, or active ones lazy."""
    start, scale = diagnosis.regimes, diagnosis.advised_scale
    if diagnosis.gain_over_mean[0] <= 0:
        return ""
    wanted = "lazy" if start.active == len(start.labels) else "active"
    if scale is None:
        return f"No scale of the initialization makes every mode certainly {wanted}, because they share hidden units."
    which, they_are = ("the mode", "it is") if len(start.labels) == 1 else ("all modes", "they are")
    return (
        f"With --init-scale {scale:.3g}, {which} would be learned {ADVERBS[wanted]}. This changes how {they_are} "
        "learned, but need not lower the error."
    )


def _kernels_sentence(diagnosis: Diagnosis) -> str:
    """Say by how much the tangent kernel has moved at the stopping step, predicted and measured."""
    run = diagnosis.forecast
    at = int(np.searchsorted(run.steps, diagnosis.stop).clip(0, len(run.steps) - 1))
    predicted = regimes(run.problem, run.weights, product=run.trajectory.products[at]).movement
    measured = run.kernel[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.max(np.abs(predicted / measured - 1))
    moved = np.max(np.abs(measured - 1))
    change = f"changes by at most {moved:.1%}" if moved < 1 else f"grows by factors of {_range_text(measured)}"
    error = "of less than 0.1%" if off < 1e-3 else f"of at most {off:.1%}"
    return (
        f"Up to step {run.steps[at]} the tangent kernel {change} along the modes. "
        f"Theory predicts the kernel at this step with an error {error}."
    )


def _half_time_sentences(diagnosis: Diagnosis) -> list[str]:
    """Say when the first and the last mode are learned."""
    half, times = diagnosis.forecast.half_steps, diagnosis.half_times
    known = np.flatnonzero(~np.isnan(times))
    lines = []
    if known.size:
        early, late = known[np.argmin(times[known])], known[np.argmax(times[known])]
        rate = diagnosis.forecast.learning_rate

        def when_half_learned(mode: int) -> str:
            """Write the step at which a mode is half learned, with its time before step 10."""
            steps = times[mode] / rate
            return f"after {steps:.2g} steps (time {times[mode]:.2g})" if steps < 10 else f"at step {half[mode]:.0f}"

        first = "The mode" if len(half) == 1 else f"Mode {early + 1}"
        last = f", and mode {late + 1} {when_half_learned(late)}" if late != early else ""
        lines.append(f"{first} is half learned {when_half_learned(early)}{last}.")
    if left := len(half) - known.size:
        verb = "is" if left == 1 else "are"
        lines.append(f"{pluralize(left, 'mode')} {verb} not half learned after {diagnosis.forecast.steps[-1]} steps.")
    return lines


def _slow_directions_sentence(diagnosis: Diagnosis) -> str:
    """Say that lazy training fits directions of the inputs at rates in proportion to their variances."""
    variances = diagnosis.forecast.problem.factor.scales**2
    ratio = variances[0] / variances[-1]
    if ratio < UNEVEN or diagnosis.regimes.active or diagnosis.gain_over_mean[0] <= 0:
        return ""
    return (
        f"Lazy training fits strong input directions first. The weakest direction is learned about {ratio:.3g} times "
        "more slowly than the strongest."
    )


def _trial_sentence(diagnosis: Diagnosis) -> str:
    """Say what another scale of the initialization did to the held-out error, tried in the same folds."""
    trial, c = diagnosis.trial, diagnosis.curves
    if trial is None:
        return ""
    before = ""
    if smaller_start_factor(c, diagnosis.comparison.mean_error) is not None:
        before = (
            f"The initialization itself hurts: before training the network's error is {c.mean[0]:.3g}, and the mean's "
            f"is {diagnosis.comparison.mean_error.mean():.3g}. "
        )
    error = f"{trial.curves.out_of_fold_error().mean():.4f}"
    tried = f"{before}With --init-scale {trial.init_scale:.2g}, tried in the same folds, the held-out error is {error}"
    gain = f"{abs(trial.gain):.4f} +/- {trial.gain_error:.4f}"
    if trial.helps:
        return f"{tried}, smaller by {gain}, at step {trial.curves.step}. Use that scale."
    return f"{tried}, larger by {gain}: keep this one." if trial.harms else f"{tried}, no different ({gain})."


def _threshold_curve_sentence(diagnosis: Diagnosis) -> str:
    """Say what another scale of the initialization would gain, by the exact flow; with one target only."""
    curve = diagnosis.comparison.thresholds
    now = float(diagnosis.forecast.regimes.thresholds.mean())
    if curve is None or now <= 0 or curve.mean.min() < EXACT_ERROR:
        return ""
    gain, spread = curve.gain(now)
    (smallest, largest), low, high = np.sqrt(curve.thresholds[[0, -1]] / now), curve.mean.min(), curve.mean.max()
    across = (
        f"for gradient flow from a negligible initial product, the held-out error is between {low:.4f} and {high:.4f} "
        f"at all scales from {smallest:.2g} to {largest:.2g} times this one"
    )
    chosen = f"choosing the best scale gains {gain:.4f} +/- {spread:.4f}"
    if is_significant(gain, spread, low):
        return f"Another scale of the initial weights would help: {across}, and {chosen}."
    product = " apart from their initial product" if diagnosis.trial is not None else ""
    return f"Smaller or larger initial weights would help little{product}: {across}, and {chosen}."


def _spectrum_sentence(diagnosis: Diagnosis) -> str:
    """Say how the variance of the inputs is spread over their directions."""
    variances = diagnosis.forecast.problem.factor.scales**2
    shares = np.cumsum(variances) / variances.sum()
    most = int(np.searchsorted(shares, 0.9)) + 1
    return (
        f"The strongest input direction has {shares[0]:.0%} of the variance, and {most} of {len(variances)} directions "
        f"have 90%. The largest variance is {variances[0] / variances[-1]:.3g} times the smallest."
    )


def _learning_curve_sentence(diagnosis: Diagnosis) -> str:
    """Say how the test error falls with the number of rows."""
    curve = diagnosis.comparison.learning_curve
    first, last = curve.samples[[0, -1]]
    before, after = curve.measured[[0, -1]]
    text = (
        f"The error of ridge is {before:.3f} with {first} training rows, and {after:.3f} +/- "
        f"{curve.standard_error[-1]:.3f} with {last} (random splits and a fixed penalty, unlike above)"
    )
    if np.isnan(curve.gap):
        return f"{text}. A prediction needs more rows than inputs."
    return (
        f"{text}. Theory predicts {curve.predicted[-1]:.3f} for {last} rows; its mean error over {len(curve.samples)} "
        f"numbers of rows is {curve.gap:.1%}."
    )


def _rates_sentences(diagnosis: Diagnosis) -> list[str]:
    """Say what loss and time mean, and how the largest stable rate was tried."""
    stable, rate = diagnosis.forecast.largest_stable_rate, diagnosis.forecast.learning_rate
    blurred = "" if stable.checked else "; it has no sharp boundary"
    return [
        "This loss is half the squared error, summed over targets and averaged over rows. "
        f"Step {diagnosis.stop} is time {diagnosis.stop * rate:.3g} (learning rate x steps).",
        f"The largest stable rate was found by training this initialization for {stable.steps} steps{blurred}. "
        f"Another initialization may diverge there. Take at most {SAFE_SHARE * stable.rate:.3g}, {SAFE_SHARE:g} of it.",
    ]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Write rows of cells as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _plus_minus(mean: float, error: float) -> str:
    """Write a number with its standard error."""
    return f"{_format_error(mean)} +/- {_format_error(error)}"


def _format_error(error: float) -> str:
    """Write an error with three decimals; one of 1000 and more, as by an outlier, in four digits."""
    return f"{error:.3f}" if abs(error) < 1e3 else f"{error:.4g}"


def _range_text(values: np.ndarray) -> str:
    """Write the smallest and the largest of some values, once where they are nearly equal."""
    low, high = float(np.min(values)), float(np.max(values))
    return f"{high:.3g}" if np.isclose(low, high, rtol=5e-3) else f"{low:.3g} to {high:.3g}"
