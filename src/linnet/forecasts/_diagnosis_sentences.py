"""A diagnosis in sentences, in lines for a terminal and in four headline numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.forecasts._columns import pluralize
from linnet.forecasts._forecast_summary import regime_sentence
from linnet.forecasts.curves import FLAT_CHANGE, mean_and_standard_error
from linnet.forecasts.rates import pytorch_rates
from linnet.forecasts.scale_trials import SIGNIFICANT_STANDARD_ERRORS, is_significant, smaller_start_factor
from linnet.observables.mode_regimes import regimes

if TYPE_CHECKING:
    import xarray as xr

    from linnet.forecasts.curves import CrossValidationCurves
    from linnet.forecasts.diagnosis import Diagnosis

MAX_LINES = 24  # of the findings; the command adds one more, where the page is
SAFE_SHARE = 0.8  # of the largest stable rate of one initialization: at 0.95 three of ten others diverged, at 0.9 none
AS_GOOD = 0.05  # of ridge's error: a difference that is certainly smaller is none
HARDLY_MOVED = 0.05  # of a tangent kernel, relative: how the modes differ is not worth a line
EXACT_ERROR = 1e-6  # of the variance: an error below it is none
ADVERBS = {"lazy": "lazily", "active": "actively"}
PREPROCESS_SENTENCES = {
    "standardize": "inputs and targets are centered and divided by their standard deviations",
    "center": "inputs and targets are centered, not scaled",
    "whiten": "inputs are whitened, targets centered and divided by their standard deviations",
}


def findings(diagnosis: Diagnosis) -> list[str]:
    """Return the lines that are printed: the sentences, then the learning rates as a table with aligned columns."""
    rows = rate_table(diagnosis)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [*sentences(diagnosis), *("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)]
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], "More is on the page."]


def sentences(diagnosis: Diagnosis) -> list[str]:
    """Write what was found, and the notes on the table: sentences without line breaks."""
    s = diagnosis.settings
    written = [
        f"{s['rows']} rows, {s['inputs']} inputs, {pluralize(s['targets'], 'target')}; "
        f"{PREPROCESS_SENTENCES[s['preprocess']]}.",
        *diagnosis.table.notes,
        _spectrum_sentence(diagnosis),
        _regimes_sentence(diagnosis),
        _advised_scale_sentence(diagnosis),
        _kernels_sentence(diagnosis),
        *_half_time_sentences(diagnosis),
        *_stopping_sentences(diagnosis),
        *_baselines_sentences(diagnosis),
        _trial_sentence(diagnosis),
        _threshold_curve_sentence(diagnosis),
        _learning_curve_sentence(diagnosis),
        _rates_sentence(diagnosis),
    ]
    return [sentence for sentence in written if sentence]


def rate_table(diagnosis: Diagnosis) -> list[tuple[str, ...]]:
    """Return the learning rates for our loss and for those of PyTorch, as rows of text; the first names the columns."""
    s, stable = diagnosis.settings, diagnosis.forecast.largest_stable_rate
    rows = [("rate", "this loss", *pytorch_rates(1.0, rows=1, targets=1))]
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


def regime_adverbs(diagnosis: Diagnosis) -> list[str]:
    """Return "lazily" or "actively", mode by mode, by the definition of `observables.regimes`."""
    return [ADVERBS[label] for label in diagnosis.regimes.labels]


def _spectrum_sentence(diagnosis: Diagnosis) -> str:
    """Say how the variance of the inputs is spread over their directions."""
    variances = diagnosis.forecast.problem.factor.scales**2
    shares = np.cumsum(variances) / variances.sum()
    most = int(np.searchsorted(shares, 0.9)) + 1
    return (
        f"Inputs: the strongest direction holds {shares[0]:.0%} of the variance, {most} of {len(variances)} hold 90%; "
        f"the largest variance is {variances[0] / variances[-1]:.3g} times the smallest."
    )


def _regimes_sentence(diagnosis: Diagnosis) -> str:
    """Say how many modes this start learns lazily and how many actively."""
    s, r = diagnosis.settings, diagnosis.regimes.regimes
    return (
        f"Width {s['width']}, init {s['init']} x {s['init_scale']:g}: {regime_sentence(regime_adverbs(diagnosis))} "
        f"Threshold {r.thresholds.mean():.3g}, sizes {_range_text(r.sizes)} (of what ridge learns)."
    )


def _advised_scale_sentence(diagnosis: Diagnosis) -> str:
    """Say which change of the initialization would make lazy modes active, or active ones lazy."""
    start, scale = diagnosis.regimes, diagnosis.advised_scale
    if diagnosis.gain_over_mean[0] <= 0:
        return ""
    wanted = "lazy" if start.active == len(start.labels) else "active"
    if scale is None:
        return f"No scale of the initialization makes every mode certainly {wanted}: they share hidden units."
    which, they_are = ("The mode", "it is") if len(start.labels) == 1 else ("All modes", "they are")
    return (
        f"{which} would be learned {ADVERBS[wanted]} from an init {start.advised_factor:.2g} times this one "
        f"(--init-scale {scale:.3g}): that changes how {they_are} learned, not by itself the error."
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
    if moved < HARDLY_MOVED:
        return (
            f"At step {run.steps[at]} the tangent kernel has hardly moved: by {moved:.1%} at most along the modes "
            f"(predicted within {off:.1%})."
        )
    return (
        f"At step {run.steps[at]} the tangent kernel along the modes is {_range_text(measured)} times what it was at "
        f"the initialization; predicted within {off:.1%}."
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
            """Write the step at which a mode is half learned; before step 10, its time."""
            steps = times[mode] / rate
            return f"time {times[mode]:.2g} ({steps:.2g} steps)" if steps < 10 else f"step {half[mode]:.0f}"

        last = f", mode {late + 1} at {when_half_learned(late)}" if late != early else ""
        lines.append(f"Mode {early + 1} is half learned at {when_half_learned(early)}{last}.")
    if left := len(half) - known.size:
        verb = "is" if left == 1 else "are"
        lines.append(f"{pluralize(left, 'mode')} {verb} not half learned after {diagnosis.forecast.steps[-1]} steps.")
    return lines


def _stopping_sentences(diagnosis: Diagnosis) -> list[str]:
    """Say when to stop, and what the held-out error is then; what is not certain of it; what Stein's estimate says."""
    lines = [_when_to_stop(diagnosis)]
    gain, standard_error = diagnosis.gain_over_mean
    if 0 < gain <= SIGNIFICANT_STANDARD_ERRORS * standard_error:
        lines.append(
            f"That it is better than the mean of the targets is not certain: by {gain:.3f} +- {standard_error:.3f}."
        )
    if diagnosis.stein is not None:
        lines.append(f"Stein's estimate, without held-out rows, says step {diagnosis.stein.step}.")
    return lines


def _when_to_stop(diagnosis: Diagnosis) -> str:
    """Write the first case that applies: nothing is learned, or the error is zero, still falls, is flat, or rises."""
    c = diagnosis.curves
    level, standard_error = (_format_error(part) for part in mean_and_standard_error(c.out_of_fold_error()))
    error = f"held-out error {level} +- {standard_error} of the variance, each fold at the step the others choose"
    if diagnosis.gain_over_mean[0] <= 0:
        return _nothing_learned_sentence(diagnosis, error)
    if c.step == 0:
        return f"Do not train: the held-out error is smallest before the first step ({error})."
    if c.mean[c.best] < EXACT_ERROR:
        first = c.steps[np.argmax(c.mean < EXACT_ERROR)]
        return f"The held-out error is zero from step {first} on (below {EXACT_ERROR:g} of the variance): stop there."
    if c.still_falling:
        return _still_falling_sentence(c, error)
    if c.flat_from is not None:
        return (
            f"Stop at step {c.step}: {error}. It is flat from step {c.flat_from} on, within {FLAT_CHANGE:.1%} of its "
            f"least until step {c.steps[-1]}: training longer changes nothing."
        )
    return _least_error_sentence(c, error)


def _nothing_learned_sentence(diagnosis: Diagnosis, error: str) -> str:
    """Say that the mean of the targets is better than the network at every step; `error` is the network's, in words."""
    gain, standard_error = diagnosis.gain_over_mean
    return (
        f"No step is better than the mean of the targets: {error}, that of the mean is {_format_error(-gain)} +- "
        f"{_format_error(standard_error)} lower (within folds). There is nothing here that the network can learn."
    )


def _still_falling_sentence(curves: CrossValidationCurves, error: str) -> str:
    """Say that the held-out error still falls at the last step, by how much, and whether to train longer."""
    fall, standard_error = (part / (curves.mean[-1] + curves.late_fall[0]) for part in curves.late_fall)
    certain = fall > SIGNIFICANT_STANDARD_ERRORS * standard_error
    advice = f"train longer (--steps {2 * curves.step})" if certain else "that training longer helps is not certain"
    return (
        f"Stopping: the held-out error still falls at step {curves.step}, by {fall:.1%} +- {standard_error:.1%} over "
        f"the last half of the run ({error}); {advice}."
    )


def _least_error_sentence(curves: CrossValidationCurves, error: str) -> str:
    """Say at which step the held-out error is smallest, which steps are as good, and what training to the end costs."""
    (low, high), rise = curves.steps_within_one_error, curves.mean[-1] / curves.mean[curves.best] - 1
    return (
        f"Stop at step {curves.step}: {error}. By the differences within folds (paired, less noisy than the error "
        f"itself) steps {low} to {high} are within one standard error; at step {curves.steps[-1]} it is {rise:.1%} "
        "higher."
    )


def _baselines_sentences(diagnosis: Diagnosis) -> list[str]:
    """Compare the network with other methods in the same folds."""
    network, ridge = diagnosis.curves.out_of_fold_error(), diagnosis.comparison.baselines["ridge"]
    methods = {"the network": network, **diagnosis.comparison.baselines}
    listed = ", ".join(f"{name} {_format_error(errors.mean())}" for name, errors in methods.items())
    lines = [f"In the same folds, every choice made without the held-out ones: {listed}."]
    if max(network.mean(), ridge.mean()) < EXACT_ERROR:
        return [*lines, "The targets are a linear map of the inputs: each of these methods finds it."]
    unit = max(ridge.mean(), EXACT_ERROR)
    mean, spread = (part / unit for part in mean_and_standard_error(network - ridge))
    difference = f"its error differs by {mean:+.1%} +- {spread:.1%}"
    if diagnosis.stop == 0:
        so = "use ridge" if mean > 0 else "ridge has learned nothing either"
        verdict = f"An untrained network has learned nothing ({difference} from ridge's): {so}."
    elif abs(mean) <= SIGNIFICANT_STANDARD_ERRORS * spread:
        if abs(mean) + SIGNIFICANT_STANDARD_ERRORS * spread <= AS_GOOD:
            verdict = f"The network is as good as ridge, not better ({difference}): ridge is simpler."
        else:
            verdict = f"Whether ridge or the network is better cannot be decided here ({difference}): ridge is simpler."
    elif mean > 0:
        verdict = f"The network does not beat ridge: its error is {mean:.1%} larger. Use ridge."
    else:
        errors = f"{-mean / spread:.1f} standard errors"
        verdict = f"The network beats ridge here: its error is {-mean:.1%} smaller ({errors})."
    return [*lines, verdict]


def _trial_sentence(diagnosis: Diagnosis) -> str:
    """Say what another scale of the initialization did to the held-out error, tried in the same folds."""
    trial, c = diagnosis.trial, diagnosis.curves
    if trial is None:
        return ""
    before = ""
    if smaller_start_factor(c, diagnosis.comparison.mean_error) is not None:
        before = (
            f"The initialization itself hurts: before training its error is {c.mean[0]:.3g} of the variance, and "
            f"the mean's is {diagnosis.comparison.mean_error.mean():.3g}. "
        )
    error = f"{trial.curves.out_of_fold_error().mean():.4f}"
    tried = f"{before}Tried in the same folds, --init-scale {trial.init_scale:.2g}: held-out error {error}"
    gain = f"{abs(trial.gain):.4f} +- {trial.gain_error:.4f}"
    if trial.helps:
        return f"{tried}, lower by {gain}, stopped at step {trial.curves.step}. Take that scale."
    return f"{tried}, higher by {gain}: keep this one." if trial.harms else f"{tried}, no different ({gain})."


def _threshold_curve_sentence(diagnosis: Diagnosis) -> str:
    """Say what another scale of the initialization would gain, by the exact flow; with one target only."""
    curve = diagnosis.comparison.thresholds
    now = float(diagnosis.forecast.regimes.thresholds.mean())
    if curve is None or now <= 0 or curve.mean.min() < EXACT_ERROR:
        return ""
    gain, spread = curve.gain(now)
    (smallest, largest), low, high = np.sqrt(curve.thresholds[[0, -1]] / now), curve.mean.min(), curve.mean.max()
    across = (
        f"over starts from {smallest:.2g} to {largest:.2g} times this one the minimum held-out error of the flow "
        f"goes from {low:.4f} to {high:.4f}"
    )
    if is_significant(gain, spread, low):
        return (
            f"Does the scale of the initialization matter? Yes: {across}; choosing it gains {gain:.4f} +- {spread:.4f}."
        )
    best = f"the best gains {gain:.4f} +- {spread:.4f} over this one"
    answer = (
        "Hardly, but for the initial product, which this flow leaves out" if diagnosis.trial is not None else "Hardly"
    )
    return f"Does the scale of the initialization matter? {answer}: {across}; {best}."


def _learning_curve_sentence(diagnosis: Diagnosis) -> str:
    """Say how the test error falls with the number of rows."""
    curve = diagnosis.comparison.learning_curve
    first, last = curve.samples[[0, -1]]
    before, after = curve.measured[[0, -1]]
    text = f"Rows: ridge's test error falls from {before:.3f} at {first} to {after:.3f} at {last}"
    if np.isnan(curve.gap):
        return f"{text}; a prediction needs more rows than inputs."
    return (
        f"{text}; predicted {curve.predicted[-1]:.3f} there, off by {curve.gap:.1%} on average over "
        f"{len(curve.samples)} sizes."
    )


def _rates_sentence(diagnosis: Diagnosis) -> str:
    """Say what loss and time mean, and how the largest stable rate was tried."""
    stable, rate = diagnosis.forecast.largest_stable_rate, diagnosis.forecast.learning_rate
    blurred = "" if stable.checked else ", and has no sharp boundary"
    return (
        f"The loss is half the squared error, summed over targets, averaged over rows. Time is steps times rate: step "
        f"{diagnosis.stop} is time {diagnosis.stop * rate:.3g}. The largest stable rate is that of this one "
        f"initialization in {stable.steps} steps{blurred}: of others, drawn alike, some diverge there. Take at most "
        f"{SAFE_SHARE * stable.rate:.3g}, {SAFE_SHARE:g} of it."
    )


def _format_error(error: float) -> str:
    """Write an error with four decimals; one of 10 000 and more, as by an outlier, in four digits."""
    return f"{error:.4f}" if abs(error) < 1e4 else f"{error:.4g}"


def _range_text(values: np.ndarray) -> str:
    """Write the smallest and the largest of some values, once where they are nearly equal."""
    low, high = float(np.min(values)), float(np.max(values))
    return f"{high:.3g}" if np.isclose(low, high, rtol=5e-3) else f"{low:.3g} to {high:.3g}"
