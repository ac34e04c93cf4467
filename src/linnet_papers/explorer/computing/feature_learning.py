"""The numbers of the page *Feature learning*: neurons that turn towards the feature and then grow along it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.huang.training import features
from linnet_papers.reproduction.datasets import labeled

if TYPE_CHECKING:
    import xarray as xr

    from linnet.theories.feature_learning import Stages

SAMPLES = 10  # the size of the reduced network: fixed, so that one compiled loop serves every state
NOISE_VARIANCE = 0.01  # of the teacher's labels
SAVES, SHOWN = 160, 24  # saved states, and neurons whose angles are kept
SHARE = 0.05  # of the loss: what is gone where the first stage ends, what is left where the second does
TAIL = 6.0  # a run goes on for so many growth times after the second stage would saturate


def feature_learning(
    *, dim: int, width: int, first_std: float, magnitude: float, signal: float, growth: float, seed: int
) -> xr.Dataset:
    """Train a network on ten samples and read it neuron by neuron, beside what the two-dimensional system predicts.

    **Arguments:** `dim` d inputs, `width` m neurons; `first_std` sigma_0 and `magnitude` v_0 of the start; `signal`
    the size of the teacher; `growth` by how much of itself the first stage grows in a step, eta sqrt(gamma)/(n m);
    `seed` of data and start.
    """
    data = ln.problems.gaussian_teacher(
        key=seed, samples=SAMPLES, dim=dim, noise_variance=NOISE_VARIANCE, signal=signal
    )
    # Only the samples' span moves, and there a Gaussian start is Gaussian again: the inputs are written in it.
    inputs = data.inputs @ np.linalg.qr(data.inputs.T)[0]
    feature = inputs.T @ data.outputs
    rate = growth * SAMPLES / float(np.linalg.norm(feature))
    scales: dict[str, float] = {"first_std": first_std, "magnitude": magnitude}
    stages = ln.theories.feature_learning.Stages(inputs, data.outputs, width=width, learning_rate=rate, **scales)
    start = ln.inits.signed(key=[seed, 1], in_dim=SAMPLES, width=width, **scales)
    rise = np.log(np.sqrt(stages.limit / stages.gamma) / max(first_std, magnitude))
    steps = int(np.ceil((max(rise, 0.0) + TAIL) / np.log1p(growth)))
    problem = ln.Problem.from_data(inputs, data.outputs)
    run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps, save_every=max(1, steps // SAVES))
    history = features.feature_history(run)
    neurons = run.weights.first[:, :SHOWN]
    cosines = neurons @ (feature / np.linalg.norm(feature)) / np.linalg.norm(neurons, axis=-1)
    angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    # the same reading of the predicted alignments, magnitudes and kernels as of the trained ones
    rho, v = stages.two_variable(np.zeros(width), history.magnitudes[0], history.steps, overlaps=history.overlaps)
    kernels = stages.network_kernel(rho, v, history.overlaps)
    theory = replace(history, alignments=rho, magnitudes=v, kernels=kernels)
    step, signs = "step", np.sign(history.magnitudes[0, : angles.shape[1]])
    variables = {
        "loss": (step, history.loss / history.loss[0], "loss, share of its start"),
        "loss_predicted": (step, stages.loss(rho, v, history.overlaps) / history.loss[0], "predicted loss, same share"),
        "ratio": (step, history.median_ratio, "median over neurons of ρ/(v√γ)"),
        "ratio_predicted": (step, theory.median_ratio, "predicted median of ρ/(v√γ)"),
        "alignment": (step, np.median(np.abs(history.alignments), axis=1), "median over neurons of |ρ|"),
        "mean_square": (step, history.mean_square / stages.limit, "mean ρ² over its predicted limit"),
        "kernel_cosine": (step, history.kernel_cosine, "cosine to the target-aligned kernel"),
        "kernel_cosine_predicted": (step, theory.kernel_cosine, "predicted cosine to the target-aligned kernel"),
        "kernel_distance": (step, history.kernel_distance, "relative distance to the target-aligned kernel"),
        "kernel_norm": (
            step,
            history.kernel_norm / history.kernel_norm.max(),
            "operator norm of the kernel / its largest",
        ),
        "time": (step, history.times, "time t", "canonical"),
        "angle": ((step, "neuron"), angles, "angle to the feature", "degrees"),
        "sign": ("neuron", signs, "sign of v_r(0)"),
    }
    moments = {
        "learning_rate": rate,
        "gamma": float(stages.gamma),
        "phi": float(stages.phi),
        "first_step": stages.first_time() / rate,
        "first_step_trained": history.alignment_time() / rate,
        "drop_step_trained": history.loss_time(SHARE) / rate,
        "second_step": _second_stage_end(stages) / rate,
        "second_step_trained": history.loss_time(1 - SHARE) / rate,
    }
    return labeled(variables, {step: (step, history.steps, "training step")}, moments)


def _second_stage_end(stages: Stages) -> float:
    """Return the time at which the second stage is predicted to end, NaN where the first one runs into it."""
    try:
        return float(stages.first_time() + stages.second_time(SHARE))
    except ValueError:
        return float("nan")
