"""What is allowed, and why: results that are infinite or NaN by their definition, and warnings that are meant."""

from __future__ import annotations

# Results that may not be finite, with the sentence of the documentation that says so.
NOT_FINITE = {
    "observables.crossing_time": "NaN where the level is never reached",
    "observables.commutator": "the sine of an angle with a zero vector is NaN",
    "theories.lazy_active.crossing_times": "infinite where the level is never reached",
    "theories.lazy_active.task_spectrum": "overlaps and the truth's power are NaN without a truth",
    "theories.lazy_active.predicted_diagram": "best times are NaN on plateaus, errors and scatter where nothing was "
    "drawn",
    "theories.deep.deep_diagram": "the scatter of wide networks is NaN",
    "theories.lazy_active.PredictedDiagram.to_dataset": "best times are NaN on plateaus, the scatter of wide networks",
    "predictions.PhaseDiagram.to_dataset": "best times are NaN on plateaus",
    "theories.lazy_active.predicted_run": "test losses are NaN without a truth",
    "theories.spectral_bias.activation_times": "infinite for a mode of zero",
    "theories.spectral_bias.duality_gap": "infinite where the multiplier is not feasible",
    "theories.spectral_bias.convergence_bound": "infinite at time zero",
    "forecasts.denoise": "without noise the matrix itself, which is reached at infinite time",
    "forecasts.learning_curve": "nothing is predicted without more rows than inputs: NaN",
    "forecasts.diagnose": "what cannot be predicted or measured is NaN",
    "forecasts.diagnose_table": "what cannot be predicted or measured is NaN",
    "trainers.gaussian_diagram": "losses of a run that diverged may be infinite or NaN",
    "sweeps.Sweep": "fixed arguments may be infinite or NaN",
    "theories.spectral_descent.minimum": "no formula below the smaller of inputs and outputs: NaN",
    "theories.ridge.risk": "infinite with noise at as many samples as directions",
    "theories.feature_learning.Stages.proxy": "NaN beyond its limit",
    "observables.regimes": "the movement of a kernel that starts at zero is infinite",
    "observables.Regimes.measured": "the movement of a kernel that starts at zero is infinite",
    "inits.Weights.computed": "weights that a trainer computed, as they are",
    "forecasts.Forecast.half_steps": "NaN for modes that are not half learned by the end",
    "forecasts.Forecast.to_dataset": "NaN for modes that are not half learned by the end",
    "forecasts.forecast": "movements of kernels that start at zero are infinite",
    "torch.ModelForecast.half_steps": "NaN for modes that are not half learned",
    "torch.ModelForecast.to_dataset": "NaN for modes that are not half learned",
    "torch.PairMonitor": "NaN before the first gradient, and where a pair has fewer modes",
    "torch.PairMonitor.scalars": "the alignment is NaN before the first gradient",
    "torch.PairMonitor.summary": "the alignment is NaN before the first gradient",
    "torch.PairMonitor.to_dataset": "NaN before the first gradient, and where a pair has fewer modes",
}
# Calls that may warn, with the reason.
WARNS = {
    "estimators.LowRankDenoiser": "too few singular values to tell the noise",
    "estimators.LowRankDenoiser.fit": "too few singular values to tell the noise",
    "trainers.gradient_descent": "rounding decides what tiny weights learn next",
}
# Relative distance that is allowed between the results of equal numbers in different forms, where it is not rounding.
DISTANCE = {
    "reductions.DeepReduction.lift": 1e-6,
    "reductions.Reduction.lift": 1e-6,  # states stay in the precision they were trained in
    "trainers.gradient_flow": 1e-6,  # rounding may move its steps: the example asks for rtol 1e-8
    "theories.lazy_active.integrate": 1e-5,  # likewise, with rtol 1e-6
}
