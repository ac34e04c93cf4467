"""What the feature-learning figures draw of a run: the trained curves beside those that the stages predict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.reproduction.fits import relative_distance

if TYPE_CHECKING:
    from linnet.theories.feature_learning import Stages
    from linnet_papers.huang.training.features import FeatureHistory


def summary(history: FeatureHistory, stages: Stages) -> Dataset:
    """Return what the figures draw of a run: loss, ratio and kernel over the steps, as trained and as the stages
    predict."""
    zero = np.zeros_like(history.overlaps)
    rho, v = stages.two_variable(zero, history.magnitudes[0], history.steps, overlaps=history.overlaps)
    predicted = stages.network_kernel(rho, v, history.overlaps)
    # the same reading of the predicted alignments, magnitudes and kernels as of the trained ones
    theory = replace(history, alignments=rho, magnitudes=v, kernels=predicted)
    of_neurons = history.alignments / (history.magnitudes * np.sqrt(history.gamma))
    curves = {
        "loss": (history.loss / history.loss[0], "loss, share of its start"),
        "loss_theory": (stages.loss(rho, v, history.overlaps) / history.loss[0], "predicted loss, share of its start"),
        "ratio": (history.median_ratio, "median over neurons of rho/(v sqrt(gamma))"),
        # one magnitude near 0 can move this one anywhere
        "mean_of_ratios": (of_neurons.mean(axis=-1), "mean over neurons of rho/(v sqrt(gamma)), as the paper averages"),
        "ratio_of_means": (history.mean_ratio, "mean |rho| over mean |v|, divided by sqrt(gamma)"),
        "ratio_theory": (theory.median_ratio, "predicted median of rho/(v sqrt(gamma))"),
        "alignment": (np.median(np.abs(history.alignments), axis=1), "median over neurons of |rho|"),
        "mean_square": (history.mean_square / stages.limit, "mean rho^2 over gamma^(5/2)/phi"),
        "kernel_distance": (history.kernel_distance, "relative operator-norm distance to the target-aligned kernel"),
        "kernel_distance_theory": (theory.kernel_distance, "predicted distance to the target-aligned kernel"),
        "kernel_cosine": (history.kernel_cosine, "cosine to the target-aligned kernel"),
        "kernel_norm": (history.kernel_norm, "operator norm of the kernel (canonical)"),
    }
    end = ln.theories.feature_learning.final_state(stages.gram, stages.outputs)
    assert history.steps is not None
    variables = {name: ("step", values, text, "1") for name, (values, text) in curves.items()}
    variables["time"] = ("step", history.times, "time t", "canonical")
    dataset = labeled(variables, {"step": ("step", history.steps, "training step")})
    dataset.attrs.update(
        gamma=float(history.gamma),
        phi=float(stages.phi),
        learning_rate=float(stages.learning_rate),
        loss_start=float(history.loss[0]),
        root_gamma=float(np.sqrt(history.gamma)),
        end_ratio=end.settled,  # of a linear network, by the closed form
        end_distance=relative_distance(end.kernel, end.square * history.target, 2),
        first_time_alignment=history.alignment_time(1.0) / stages.learning_rate,
        first_time_loss=history.loss_time(0.05) / stages.learning_rate,
        first_time_predicted=stages.first_time() / stages.learning_rate,
        neurons_of_one_sign=float((np.sign(history.alignments[-1]) == np.sign(history.magnitudes[-1])).mean()),
    )
    return dataset
