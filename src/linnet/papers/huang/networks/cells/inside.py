"""The cells of the sweeps: each trains the networks of one block and keeps numbers, never a theory's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.papers.huang import misprints, settings
from linnet.papers.huang.networks.runs import (
    INGREDIENTS,
    FeatureRun,
    ingredients,
    inside,
    section_six,
    spectrum,
    train,
)

if TYPE_CHECKING:
    from linnet.problems.subgaussian import Regression

Points = dict[str, np.ndarray]
Block = dict[str, Any]
Rows = dict[str, tuple[str, ...]]

# What a cell of `neurons` keeps of each neuron, of each sample pair, and of the run.
PER_NEURON = (
    "alignments",  # |rho_r| at t1
    "magnitudes",  # |v_r| sqrt(n tr) |beta| at t1
    "start",  # v_r(0)
    "overlaps",  # c_r
    "difference",  # rho_r - sqrt(gamma) v_r at t1
    "gap",  # the largest |rho_r - sqrt(gamma) v_r|/|rho_r| of stage 2
    "across",  # the largest deviation from the feature of stage 2, in units of |rho_r|/(sqrt(n tr) |beta|)
    "kept",  # whether rho_r and v_r keep the sign of v_r(0) throughout
    "sign",  # of v_r at the end
    "rising",  # whether |rho_r| grows at every saved state of stage 2
    "multiplying",  # whether rho_r v_r does
)
EQUATION_STATES = (32, 128)  # kept of each stage


def neurons_cells(points: Points, seeds: np.ndarray, *, dim: int, width: int) -> Block:
    """Networks inside the printed assumption at given v_0/(sigma_0 sqrt(log m)) and margin of the start: what Lemmas
    5.2 and 5.3 speak of.

    Stage 2 is the lemma's: from t1, where the median |rho_r| is 1, until the loss is 4 epsilon.
    """
    rows = []
    for ratio, margin, seed in zip(points["ratio"].tolist(), points["margin"].tolist(), seeds.tolist(), strict=True):
        rows.append(_neurons(inside(seed, dim=dim, width=width, ratio=ratio, margin=margin)))
    dims: Rows = {**dict.fromkeys(PER_NEURON, ("neuron",)), **INGREDIENTS}
    return _stacked(rows, dims)


def _neurons(run: FeatureRun) -> Block:
    history, root = run.history, np.sqrt(run.history.gamma)
    stage = run.second_stage(4 * settings.EPSILON)
    first = stage[0]
    rho, v = (np.stack([getattr(moment, name) for moment in stage]) for name in ("alignments", "magnitudes"))
    across = np.stack([moment.deviations for moment in stage])
    signs = np.sign(history.magnitudes[0])
    smallest, largest, mean = _kernel_constants(run, [m.kernel for m in stage], v)
    return {
        "alignments": np.abs(first.alignments),
        "magnitudes": np.abs(first.magnitudes) * run.magnitude_unit,
        "start": history.magnitudes[0],
        "overlaps": history.overlaps,
        "difference": first.alignments - root * first.magnitudes,
        "gap": (np.abs(rho - root * v) / np.abs(rho)).max(axis=0),
        "across": (across / np.abs(rho)).max(axis=0) * run.magnitude_unit,
        "kept": (np.sign(history.alignments[1:]) == signs).all(axis=0) & (np.sign(history.magnitudes) == signs).all(0),
        "sign": np.sign(history.magnitudes[-1]),
        "rising": (np.diff(np.abs(rho), axis=0) > 0).all(axis=0),
        "multiplying": (np.diff(rho * v, axis=0) > 0).all(axis=0),
        "kernel_smallest": smallest,
        "kernel_largest": largest,
        "kernel_mean": mean,
        "kernel_none": np.linalg.norm(history.target, 2) / run.data.trace,
        "kernel_cosine": history.kernel_cosine[history.times > first.time].min(),
        # (2/m)|X'X W v| over sqrt(gamma), the largest; and |f(x_i)| over the least |y_i| at the start
        "pull": 2 * np.linalg.norm(run.outputs @ run.data.inputs, axis=1).max() / root,
        "first_output": np.abs(run.outputs[0]).max() / np.abs(run.data.outputs).min(),
        "kernel_growth": history.kernel_norm[-1] / np.interp(first.time, history.times, history.kernel_norm),
        "kernel_rising": (np.diff(history.kernel_norm[(history.times > first.time) & (run.share > 0.01)]) > 0).mean(),
        "output_start": _output_cosine(run, run.outputs[1]),
        "output_first": _output_cosine(run, _at(first.time, history.times, run.outputs)),
        "first_steps": first.time / run.scales["learning_rate"],
        "share": np.interp(first.time, history.times, run.share),
        "settled": np.interp(history.loss_time(1 - settings.FIRST_SHARE), history.times, history.median_ratio),
        "limit": (history.alignments[-1] ** 2).mean(),
        "spread": np.median(np.abs(history.alignments[-1] ** 2 / (history.alignments[-1] ** 2).mean() - 1)),
        **ingredients(run),
    }


def _output_cosine(run: FeatureRun, output: np.ndarray) -> float:
    """The cosine between X'X W v, the pull of the network's own output, and the feature X'y."""
    pull, feature = run.data.inputs.T @ output, run.data.inputs.T @ run.data.outputs
    return float(pull @ feature / (np.linalg.norm(pull) * np.linalg.norm(feature)))


def _at(time: float, times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Each column of `values` (time, column) interpolated at one time."""
    return np.array([np.interp(time, times, column) for column in values.T])


def _kernel_constants(run: FeatureRun, kernels: list[np.ndarray], v: np.ndarray) -> tuple[float, float, float]:
    """The constants that Lemma 5.3's third line needs: with the smallest v_r^2, the largest, and the mean."""
    found = []
    for kernel, state in zip(kernels, v, strict=True):
        squares = np.array([(state**2).min(), (state**2).max(), (state**2).mean()])
        gaps = [np.linalg.norm(kernel - square * run.history.target, 2) for square in squares]
        found.append(gaps / (squares * run.data.trace))
    smallest, largest, mean = np.max(found, axis=0).tolist()
    return smallest, largest, mean


def equations_cells(points: Points, seeds: np.ndarray, *, dim: int, width: int) -> Block:
    """The alignments of all neurons at states of the two stages, and what a theory needs to start from.

    `setting` is "section 6" or a ratio v_0/(sigma_0 sqrt(log m)) inside the assumption. There stage 1 ends at t1, the
    saved state nearest to a median |rho_r| of 1; in section 6, where that is passed in the first step, when the loss
    has lost 5%. A stage of fewer steps repeats some states; `magnitudes` are those at the start of each stage.
    """
    early, late = EQUATION_STATES
    rows = []
    for setting, seed in zip(points["setting"].tolist(), seeds.tolist(), strict=True):
        run = _trained_to(1e-4, setting, seed, dim=dim, width=width)
        if setting == "section 6":
            begin = run.reached(settings.FIRST_SHARE)
        else:
            begin = int(np.abs(run.history.times - run.first_time()).argmin())
        end = run.reached(1e-4)
        states = np.concatenate([[0], np.linspace(1, begin, early - 1), np.linspace(begin, end, late + 1)[1:]])
        states = np.rint(states).astype(int)
        rows.append(
            {
                "steps": run.steps[states],
                "loss": run.history.loss[states],
                "alignments": run.history.alignments[states],
                "magnitudes": run.history.magnitudes[[0, begin]],
                "overlaps": run.history.overlaps,
                "ends": run.steps[[begin, end]],
                **ingredients(run),
            }
        )
    dims: Rows = {
        "steps": ("state",),
        "loss": ("state",),
        "alignments": ("state", "neuron"),
        "magnitudes": ("stage", "neuron"),
        "overlaps": ("neuron",),
        "ends": ("stage",),
        **INGREDIENTS,
    }
    return _stacked(rows, dims)


def _trained_to(share: float, setting: str, seed: int, *, dim: int, width: int) -> FeatureRun:
    """The network of a setting, trained until its loss has fallen to that share: slow ones longer, up to 16 times."""
    for longer in (1, 2, 4, 8, 16):
        if setting == "section 6":  # more steps than its figure has: some draws of a smaller network need them
            run = section_six(seed, dim=dim, width=width, steps=120 * longer)
        else:
            run = inside(seed, dim=dim, width=width, ratio=float(setting), growth_times=10.0 * longer)
        if run.share.min() <= share:
            return run
    raise RuntimeError(f"the network of {setting} with seed {seed} has only lost its loss down to {run.share[-1]:.2g}")


def region_cells(points: Points, seeds: np.ndarray, *, dim: int, width: int) -> Block:
    """Networks over the region of the printed Assumption 4.1: by the signal and by the margin of the start.

    `first_share` is what is left of the loss at t1, NaN where the median |rho_r| never reaches 1; `worst` by which
    factor an alignment or a magnitude is off its order there.
    """
    rows = []
    for signal, margin, seed in zip(points["signal"].tolist(), points["margin"].tolist(), seeds.tolist(), strict=True):
        run = inside(seed, dim=dim, width=width, signal=signal, margin=margin)
        history, first = run.history, run.history.alignment_time()
        printed = misprints.assumption(run.data, width=width, epsilon=settings.EPSILON, **run.scales)
        worst = np.inf
        if first == first:
            at = run.moment(first)
            sizes = np.abs([at.alignments, at.magnitudes * run.magnitude_unit])
            worst = max(sizes.max(), 1 / sizes.min())
        rows.append(
            {
                "inside": printed.holds,
                "settled": np.interp(history.loss_time(1 - settings.FIRST_SHARE), history.times, history.median_ratio),
                "first_share": np.interp(first, history.times, run.share) if first == first else np.nan,
                "worst": worst,
                "first_output": np.abs(run.outputs[0]).max() / np.abs(run.data.outputs).min(),
                "end_ratio": history.median_ratio[-1],
                "end_square": (history.alignments[-1] ** 2).mean(),
                "end_magnitude": (history.magnitudes[-1] ** 2).mean(),
                "last": run.share[-1],
                **ingredients(run),
            }
        )
    return _stacked(rows, INGREDIENTS)


def synthetic_cells(points: Points, seeds: np.ndarray) -> Block:
    """Section 6's own run, at its own size: ratio, alignments and kernel where the loss has lost 5%, and at the end."""
    rows = []
    for seed in seeds.tolist():
        run = _trained_to(1e-8, "section 6", seed, dim=settings.DIM, width=settings.WIDTH)
        history, first = run.history, run.history.loss_time(1 - settings.FIRST_SHARE)
        end = history.alignments[-1] ** 2
        predicted = ln.theories.feature_learning.end(run.data.inputs @ run.data.inputs.T, run.data.outputs)
        before, later = history.times < first, history.times >= first
        # until the loss has all but gone: beyond, the distance no longer moves
        distance, cosine = history.kernel_distance, history.kernel_cosine
        rows.append(
            {
                "first_step": first / run.scales["learning_rate"],
                "ratio_first": np.interp(first, history.times, history.median_ratio),
                "ratio_least": history.median_ratio[later].min(),
                "ratio_most": history.median_ratio[later].max(),
                "ratio_before": history.median_ratio[before].max(),
                "ratio_rising": (np.diff(history.median_ratio[before]) > 0).mean(),
                "loss_settled": np.where(history.median_ratio >= 0.9, run.share, np.nan)[
                    (history.median_ratio >= 0.9).argmax()
                ],
                "drop_steps": (history.loss_time(0.9) - first) / run.scales["learning_rate"],
                "mean_of_ratios_end": (history.alignments[-1] / history.magnitudes[-1]).mean() / np.sqrt(history.gamma),
                "square_mean": end.mean(),
                "square_spread": np.median(np.abs(end / end.mean() - 1)),
                "kernel_distance_first": np.interp(first, history.times, distance),
                "kernel_distance_least": distance.min(),
                "kernel_distance_end": distance[-1],
                "kernel_least_step": run.steps[distance.argmin()],
                "kernel_to_end": _relative(history.kernels[-1], predicted.kernel),
                "kernel_end_predicted": _relative(predicted.kernel, predicted.square * history.target),
                "kernel_rising": (np.diff(history.kernel_norm[later & (run.share > 0.01)]) > 0).mean(),
                "kernel_cosine": cosine[later].min(),
                "kernel_growth": history.kernel_norm[-1] / np.interp(first, history.times, history.kernel_norm),
                "turned": (history.alignments[-1] * history.magnitudes[0] < 0).mean(),
                "layers_within": _within_half(run, later),
                **ingredients(run),
            }
        )
    return _stacked(rows, INGREDIENTS)


def _relative(kernel: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(kernel - other, 2) / np.linalg.norm(other, 2))


def _within_half(run: FeatureRun, states: np.ndarray) -> float:
    """The share of neurons whose layers differ by at most half the alignment, at all of the states."""
    rho, v = run.history.alignments[states], run.history.magnitudes[states] * np.sqrt(run.history.gamma)
    return float((np.abs(rho - v) <= 0.5 * np.abs(rho)).all(axis=0).mean())


LAWS = {  # entries of z, and the power by which the eigenvalues of the covariance fall
    "normal": ("gaussian", 0.0),
    "signs": ("rademacher", 0.0),
    "uniform": ("uniform", 0.0),
    "sloped": ("gaussian", 0.25),
}


def law_data(key: Any, law: str, *, dim: int) -> Regression:
    """A teacher of unit signal on inputs of one of the `LAWS`, noise as in section 6."""
    entries, power = LAWS[law]
    covariance = np.arange(1, dim + 1) ** -power
    teacher = generator(key, 2).standard_normal(dim)
    teacher /= np.sqrt((covariance * teacher**2).sum())
    return ln.problems.subgaussian_regression(
        key=key,
        samples=settings.SAMPLES,
        covariance=covariance,
        teacher=teacher,
        noise_variance=settings.NOISE_VARIANCE,
        entries=entries,
    )


def convergence_cells(points: Points, seeds: np.ndarray, *, dim: int, width: int) -> Block:
    """When the loss of each network passes 4 epsilon, in steps (NaN: never); its losses, and the predictor's end.

    `law` names the data, `smaller` multiplies the admissible v_0 and sigma_0.
    """
    rows = []
    for law, smaller, seed in zip(points["law"].tolist(), points["smaller"].tolist(), seeds.tolist(), strict=True):
        run = inside(seed, data=law_data(seed, law, dim=dim), width=width, smaller=smaller)
        loss, rate = run.history.loss, run.scales["learning_rate"]
        rows.append(
            {
                "signal": run.data.signal,
                "trace": run.data.trace,
                "steps": run.history.loss_time(1 - min(4 * settings.EPSILON / loss[0], 0.999)) / rate,
                "falls": (np.diff(loss) < 0).mean(),
                "first_steps": run.first_time() / rate,
                "first_loss": loss[0],
                "last_loss": loss[-1],
                "highest_after": loss[loss <= 4 * settings.EPSILON].max(initial=0.0),
                **ingredients(run),
            }
        )
    return _stacked(rows, INGREDIENTS)


def lemmas_cells(points: Points, seeds: np.ndarray, *, dim: int, draws: int) -> Block:
    """|X beta|^2 and gamma of `draws` data sets of unit signal, standard normal inputs, in each cell."""
    forms, gammas = np.empty((len(seeds), draws)), np.empty((len(seeds), draws))
    for cell, seed in enumerate(seeds.tolist()):
        n = int(points["n"][cell])
        for draw in range(draws):
            data = ln.problems.gaussian_teacher(
                key=[seed, draw], samples=n, dim=dim, signal=1.0, noise_variance=n * float(points["noise"][cell])
            )
            forms[cell, draw] = ((data.inputs @ data.teacher) ** 2).sum()
            gammas[cell, draw] = ((data.inputs.T @ data.outputs) ** 2).sum()
    return {"form": (("draw",), forms), "gamma": (("draw",), gammas), "trace": np.full(len(seeds), float(dim))}


def scaling_data(key: Any, p: dict[str, float], *, dim: int) -> Regression:
    """The data of one case of the scalings: trace and signal are set exactly, the teacher's direction is drawn."""
    direction = generator(key, 2).standard_normal(dim)
    variance = p["trace"] / dim
    return ln.problems.subgaussian_regression(
        key=key,
        samples=int(p["n"]),
        covariance=np.full(dim, variance),
        teacher=p["beta"] * direction / (np.linalg.norm(direction) * np.sqrt(variance)),
        noise_variance=0.01 * p["beta"] ** 2,
    )


def scalings_cells(
    points: Points,
    seeds: np.ndarray,
    *,
    seed: int,
    dim: int,
    cases: dict[str, dict[str, float]],
    shares: list[float],
    most: int,
) -> Block:
    """When each network passes median |rho| = 1 and each share of its loss, in steps; its data's spectrum.

    `points` has `case`, a name in `cases`, and `replicate`: one teacher, inputs, noise and start per replicate, the
    same in every case. Spectra are NaN beyond n, up to `most`.
    """
    found = {
        "alignment_steps": np.empty(len(seeds)),
        "loss_steps": np.empty((len(seeds), len(shares))),
        "values": np.full((len(seeds), most), np.nan),
        "coefficients": np.full((len(seeds), most), np.nan),
    }
    for cell, (case, replicate) in enumerate(zip(points["case"].tolist(), points["replicate"].tolist(), strict=True)):
        p, key = cases[case], [seed, int(replicate)]
        data, scales = scaling_data(key, p, dim=dim), scaling_scales(p)
        growth = scales["learning_rate"] * np.linalg.norm(data.inputs.T @ data.outputs) / data.samples
        # t1 takes log(1/(v0 sqrt(gamma))), the drop a few more, the tail half the logarithm of the final share
        steps = int((np.log(1 / p["v0"]) + 16) / growth)
        run = train(data, key, steps=steps, save_every=max(1, steps // 512), **scales)
        rate = scales["learning_rate"]
        found["alignment_steps"][cell] = run.history.alignment_time() / rate
        found["loss_steps"][cell] = [run.history.loss_time(1 - share) / rate for share in shares]
        for name, numbers in zip(("values", "coefficients"), spectrum(data), strict=True):
            found[name][cell, : data.samples] = numbers
    dims = {"alignment_steps": (), "loss_steps": ("share",), "values": ("mode",), "coefficients": ("mode",)}
    return {name: (dims[name], values) for name, values in found.items()}


def scaling_scales(p: dict[str, float]) -> dict[str, Any]:
    """Width, canonical step and scales of a case; `ratio` is v_0/sigma_0."""
    rate = p["eta"] / p["m"]
    return {"width": int(p["m"]), "learning_rate": rate, "first_std": p["v0"] / p["ratio"], "magnitude": p["v0"]}


def _stacked(rows: list[Block], dims: Rows) -> Block:
    """The cells of a block under each other, with the names of their further dimensions."""
    return {name: (dims.get(name, ()), np.array([row[name] for row in rows])) for name in rows[0]}
