"""Cells of networks inside the printed Assumption 4.1: all neurons, the assumption's region, the time to 4 epsilon."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import linnet as ln
from linnet._randomness import Key, generator
from linnet.problems.subgaussian import Regression
from linnet_papers.huang import misprints, settings
from linnet_papers.huang.training.runs import FeatureRun, theory_inputs, train_inside
from linnet_papers.reproduction.cells import Block, cell_by_cell


@cell_by_cell
def neurons_cells(key: int, *, ratio: float, margin: float, dim: int, width: int) -> Block:
    """Train a network inside the printed assumption at a given v_0/(sigma_0 sqrt(log m)) and margin of the start;
    return what Lemmas 5.2 and 5.3 speak of.

    Stage 2 is the lemma's: from t1, where the median |rho_r| is 1, until the loss is 4 epsilon.
    """
    run = train_inside(key, dim=dim, width=width, ratio=ratio, margin=margin)
    history = run.history
    root = np.sqrt(history.gamma)
    stage = run.second_stage(4 * settings.EPSILON)
    rho, v = stage.alignments, stage.magnitudes
    first = stage.times[0]
    squares = v**2
    of_neurons = {
        "alignments": np.abs(rho[0]),  # |rho_r| at t1
        "magnitudes": np.abs(v[0]) * run.inverse_magnitude_unit,  # |v_r| sqrt(n tr) |beta| at t1
        "start": history.magnitudes[0],  # v_r(0)
        "overlaps": history.overlaps,  # c_r
        "difference": rho[0] - root * v[0],  # rho_r - sqrt(gamma) v_r at t1
        # of stage 2: the largest |rho_r - sqrt(gamma) v_r|/|rho_r|, and the largest deviation from the feature, in
        # units of |rho_r|/(sqrt(n tr) |beta|)
        "gap": stage.layer_gaps.max(axis=0),
        "across": (stage.deviations / np.abs(rho)).max(axis=0) * run.inverse_magnitude_unit,
        "kept": history.keeps_sign,
        "sign": np.sign(history.magnitudes[-1]),  # of v_r at the end
        # whether |rho_r|, and rho_r v_r, grow at every saved state of stage 2
        "rising": (np.diff(np.abs(rho), axis=0) > 0).all(axis=0),
        "multiplying": (np.diff(rho * v, axis=0) > 0).all(axis=0),
    }
    return {
        **{name: ("neuron", values) for name, values in of_neurons.items()},
        # the constants that Lemma 5.3's third line needs with the smallest v_r^2, the largest and the mean, and with
        # a kernel of zero
        "kernel_smallest": kernel_constant(run, stage.kernels, squares.min(axis=1)),
        "kernel_largest": kernel_constant(run, stage.kernels, squares.max(axis=1)),
        "kernel_mean": kernel_constant(run, stage.kernels, squares.mean(axis=1)),
        "kernel_none": np.linalg.norm(history.target, 2) / run.data.trace,
        **run.kernel_after(first),
        # (2/m)|X'X W v| over sqrt(gamma), the largest
        "pull": 2 * np.linalg.norm(run.outputs @ run.data.inputs, axis=1).max() / root,
        "first_output": run.relative_first_output,
        "output_start": output_cosine(run, run.outputs[1]),
        "output_first": output_cosine(run, [np.interp(first, history.times, each) for each in run.outputs.T]),
        "first_steps": first / run.scales["learning_rate"],
        "spread": np.median(np.abs(history.alignments[-1] ** 2 / (history.alignments[-1] ** 2).mean() - 1)),
        **theory_inputs(run),
    }


def output_cosine(run: FeatureRun, output: ArrayLike) -> float:
    """Return the cosine between X'X W v, the pull of the network's own output, and the feature X'y."""
    pull = run.data.inputs.T @ output
    feature = run.data.inputs.T @ run.data.outputs
    return float(pull @ feature / (np.linalg.norm(pull) * np.linalg.norm(feature)))


def kernel_constant(run: FeatureRun, kernels: np.ndarray, squares: np.ndarray) -> float:
    """Return the C with which all kernels (time, sample, sample) are within C v^2 tr of the target-aligned one, v^2
    being `squares` (time,)."""
    gaps = np.linalg.eigvalsh(kernels - squares[:, None, None] * run.history.target)
    return (np.abs(gaps).max(axis=1) / (squares * run.data.trace)).max()


KERNEL_AFTER = ("kernel_cosine", "kernel_growth", "kernel_rising")


@cell_by_cell
def region_cells(key: int, *, signal: float, margin: float, dim: int, width: int) -> Block:
    """Train a network in the region of the printed Assumption 4.1, by its signal and the margin of its start; return
    whether it has two stages.

    What is read at t1 and after is NaN where the median |rho_r| never reaches 1: `first_share`, what is left of the
    loss; `worst`, the factor by which an alignment or a magnitude is off its order; the largest `gap` between the
    layers in stage 2; what the kernel does; the cosine `output_first` of X'X W v to X'y.
    """
    run = train_inside(key, dim=dim, width=width, signal=signal, margin=margin)
    history = run.history
    first = run.history.alignment_time()
    printed = misprints.assumption(run.data, epsilon=settings.EPSILON, **run.scales)
    worst, share, gap, after, aligned = np.nan, np.nan, np.nan, dict.fromkeys(KERNEL_AFTER, np.nan), np.nan
    if first == first:
        at = run.history_at(first)
        later = history[(history.times > first) & (run.loss_share > settings.LEFT)]
        if len(later.times):
            gap = later.layer_gaps.max()
        after = run.kernel_after(first)
        aligned = output_cosine(run, [np.interp(first, history.times, each) for each in run.outputs.T])
        sizes = np.abs([at.alignments, at.magnitudes * run.inverse_magnitude_unit])
        worst, share = max(sizes.max(), 1 / sizes.min()), at.loss / history.loss[0]
    return {
        "inside": printed.holds,
        "settled": np.interp(history.loss_time(1 - settings.FIRST_SHARE), history.times, history.median_ratio),
        "first_share": share,
        "worst": worst,
        "gap": gap,
        **after,
        "output_first": aligned,
        "mean_square": (history.alignments[-1] ** 2).mean(),
        "first_output": run.relative_first_output,
        "sign": ("neuron", np.sign(history.magnitudes[-1])),
        "start": ("neuron", history.magnitudes[0]),
        "overlaps": ("neuron", history.overlaps),
        **theory_inputs(run),
    }


class Law(NamedTuple):
    """Entries of z, the power by which the eigenvalues of the covariance fall, and the noise of the labels."""

    entries: Literal["gaussian", "rademacher", "uniform"]
    power: float = 0.0
    noise_variance: float = settings.NOISE_VARIANCE


LAWS = {
    "normal": Law("gaussian"),
    "signs": Law("rademacher"),
    "uniform": Law("uniform"),
    "sloped": Law("gaussian", power=0.25),
    "noisy": Law("gaussian", noise_variance=settings.NOISE_LIMIT),
}


def law_data(key: Key, law: str, *, dim: int) -> Regression:
    """Draw data of one of the `LAWS` with a teacher of unit signal."""
    entries, power, noise_variance = LAWS[law]
    covariance = np.arange(1, dim + 1) ** -power
    teacher = generator(key, 2).standard_normal(dim)
    teacher /= np.sqrt((covariance * teacher**2).sum())
    return ln.problems.subgaussian_regression(
        key=key,
        samples=settings.SAMPLES,
        covariance=covariance,
        teacher=teacher,
        noise_variance=noise_variance,
        entries=entries,
    )


@cell_by_cell
def convergence_cells(key: int, *, law: str, smaller: float, dim: int, width: int) -> Block:
    """Return when the loss of a network passes 4 epsilon, in steps (NaN: never), its first and last loss, and t1.

    `law` names the data, `smaller` multiplies the admissible v_0 and sigma_0.
    """
    data = law_data(key, law, dim=dim)
    # from a larger loss it is a longer way to 4 epsilon: a growth time more for each factor of e
    longer = max(0.0, float(np.log(data.noise_variance)))
    run = train_inside(key, data=data, width=width, smaller=smaller, growth_times=10.0 + longer)
    loss, rate = run.history.loss, run.scales["learning_rate"]
    reached = np.logical_or.accumulate(loss <= 4 * settings.EPSILON)  # from the first such state on
    return {
        "signal": run.data.signal,
        "trace": run.data.trace,
        "noise_variance": run.data.noise_variance,
        "steps": run.history.loss_time(1 - min(4 * settings.EPSILON / loss[0], 0.999)) / rate,
        "falls": (np.diff(loss) < 0).mean(),
        "first_steps": run.first_time() / rate,
        "first_loss": loss[0],
        "last_loss": loss[-1],
        "highest_after": loss[reached].max(initial=0.0),
        **theory_inputs(run),
    }
