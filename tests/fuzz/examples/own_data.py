"""Forecasts, estimators and adapters: the user's own problem."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import linnet as ln
from fuzz.examples import example, instance
from fuzz.examples import materials as m

OWN = "forecasts."
instance(OWN + "CrossValidationCurves", m.curves, received=True)
SCALE_TRIAL = m.made(lambda: ln.forecasts.ScaleTrial(0.5, m.curves(), gain=0.1, gain_error=0.08))
instance(OWN + "ScaleTrial", SCALE_TRIAL, received=True)
instance(OWN + "Denoised", m.denoised, received=True)
instance(OWN + "DenoisingPath", m.made(lambda: m.denoised().path), received=True)
instance(OWN + "Diagnosis", m.diagnosis, received=True)
instance(OWN + "Forecast", m.forecast, received=True)
instance(OWN + "LearningCurve", m.made(lambda: m.diagnosis().comparison.learning_curve), received=True)
instance(OWN + "Scaler", m.made(lambda: ln.forecasts.scaler(m.X, "standardize")), received=True)
instance(
    OWN + "StableRate",
    m.made(lambda: ln.forecasts.largest_stable_rate(m.data_problem(), m.weights(), steps=20)),
    received=True,
)
instance(
    OWN + "SteinStop",
    m.made(lambda: ln.forecasts.stein_stop(m.whitened_data(), m.whitened_forecast(), "whiten")),
    received=True,
)
instance(OWN + "DataTable", m.table, received=True)
ROWS, TARGETS = m.array(24, 3), m.array(24, 2, seed=1)
example(OWN + "all_folds", X=ROWS, Y=TARGETS, folds=3, preprocess="standardize", center=True, key=0)
example(
    OWN + "cross_validate", folds=m.folds, starts=m.starts, learning_rate=0.05, steps=10, slow=True, long=("steps",)
)
example(OWN + "denoise", Y=m.array(8, 6), noise_std=0.5, nan=("Y",))  # NaN marks missing entries
SMALL: dict = {"long": ("steps",), "width": 6, "folds": 3, "seeds": 1, "steps": 20, "learning_rate": 0.05, "key": 0}
example(OWN + "diagnose", X=ROWS, Y=TARGETS, **SMALL, init="pytorch", init_scale=1.0, missing="error", slow=True)
instance(OWN + "Comparison", m.made(lambda: m.diagnosis().comparison), received=True)
instance(OWN + "StartRegimes", m.made(lambda: m.diagnosis().regimes), received=True)
instance(OWN + "ThresholdCurve", m.threshold_curve, received=True)
instance(OWN + "Settings", m.settings)
JUDGED = m.made(lambda: ln.forecasts.start_regimes(m.data_problem(), m.weights(), ridge=0.25))
example(OWN + "StartRegimes.movement", on=JUDGED, factor=0.5)
example(OWN + "StartRegimes.labels_at", on=JUDGED, factor=0.5)
example(OWN + "ThresholdCurve.gain", on=m.threshold_curve, threshold=0.5)
example(OWN + "ThresholdCurve.time", on=m.threshold_curve, threshold=0.5)
example(OWN + "ThresholdCurve.errors_at", on=m.threshold_curve, threshold=0.5)
example(OWN + "Settings", **{k: v for k, v in SMALL.items() if k != "long"}, preprocess="standardize")
example(OWN + "diagnose_table", data=m.table, settings=m.settings, slow=True)
example(OWN + "threshold_curve", folds=m.one_target_folds, slow=True)
example(OWN + "start_regimes", problem=m.data_problem, weights=m.weights, ridge=0.25)
example(OWN + "pytorch_rates", rate=0.5, rows=10, targets=2)
RUN: dict = {"problem": m.data_problem, "weights": m.weights, "steps": 20, "slow": True, "long": ("steps",)}
example(OWN + "forecast", **RUN, learning_rate=0.05)
example(OWN + "largest_stable_rate", **RUN, first=0.5)
example(OWN + "learning_curve", X=ROWS, Y=TARGETS, ridge=0.25, preprocess="standardize", repeats=2, key=0)
example(OWN + "noise_level", values=[4.0, 3.0, 2.5, 2.0, 1.0], shape=(5, 7))
example(OWN + "read", path=m.csv_file, target="y", missing="error", key=0, names=("target",))
example(OWN + "from_frame", frame=m.frame, target="y", missing="error")
example(OWN + "scaler", values=m.X, preprocess="standardize", center=True, names=("scale",))
example(OWN + "Scaler.apply", on=m.made(lambda: ln.forecasts.scaler(m.X, "standardize")), values=m.X)
example(OWN + "Scaler.undo", on=m.made(lambda: ln.forecasts.scaler(m.X, "standardize")), values=m.X)
example(OWN + "start", init="pytorch", in_dim=3, out_dim=2, width=5, key=0, scale=1.0, names=("init_scale",))
example(OWN + "stein_stop", problem=m.whitened_data, forecast=m.whitened_forecast, preprocess="whiten")
example(OWN + "data_table", X=ROWS, Y=TARGETS, missing="error")
example(OWN + "Diagnosis.write", on=m.diagnosis, out=m.made(lambda: m.folder() / "page"), slow=True)

instance("lora.Adapter", m.adapter)
instance("lora.Equivalence", m.made(lambda: ln.lora.equivalent(m.fresh_adapter(), alpha=8.0)), received=True)
instance("lora.Finding", m.made(lambda: ln.lora.Finding("rule", "note", "sentence", 1.0, "reference")), received=True)
example(
    "lora.Adapter",
    rank=5,
    alpha=16.0,
    in_dim=3,
    out_dim=2,
    scaling="standard",
    init="default",
    optimizer="sgd",
    learning_rate_a=1e-3,
    learning_rate_b=2e-3,
    weight_decay_a=0.01,
    weight_decay_b=0.02,
    eps_a=1e-8,
    eps_b=1e-8,
    momentum=0.5,
    clip=1.0,
    dora=False,
    weights=m.weights,
)
example("lora.Adapter.with_", on=m.adapter, alpha=8.0)
example("lora.Adapter.mode_rate", on=m.adapter, strength=2.0, left=[1.0, 0.0], right=[1.0, 0.0, 0.0])
example("lora.Adapter.stable_learning_rate", on=m.adapter, curvature=m.COV, gradient=0.5)
example("lora.equivalent", adapter=m.adapter, alpha=8.0, rescale_init=True, names=("init",))
example("lora.equivalent", adapter=m.fresh_adapter, plus_ratio=4.0, scaling="rslora", names=("init",))
instance("lora.Resized", m.made(lambda: ln.lora.resized(m.adapter(), 3)), received=True)
example("lora.matched_alpha", adapter=m.fresh_adapter, rank=16, what="time_per_step")
example("lora.resized", adapter=m.adapter, rank=3, alpha=4.0, key=0)
example(
    "lora.resize_folder",
    source=m.lora_folder,
    rank=3,
    out=m.folder,
    call=lambda out, **named: ln.lora.resize_folder(
        out=m.folder() / uuid4().hex if isinstance(out, (str, Path)) and str(out) else out, **named
    ),  # not into the current folder, where another word would lead
    alpha=4.0,
)
example("lora.lint", adapters=m.adapter, curvature=2.0, gradient=0.5)
example(
    "lora.read",
    source=m.lora_file,
    optimizer="adamw",
    learning_rate=1e-4,
    plus_ratio=4.0,
    weight_decay=0.01,
    momentum=0.0,
    eps=1e-8,
    clip=1.0,
    in_dim=8,
    out_dim=8,
)
example(
    "lora.read",
    source=m.lora_file,
    training={"optim": "sgd", "learning_rate": 0.1, "max_grad_norm": 1.0, "optim_args": "momentum=0.5"},
)

E = "estimators."
instance(
    E + "LinearNetworkRegressor",
    m.made(lambda: ln.estimators.LinearNetworkRegressor(6, steps=5, learning_rate=0.05).fit(ROWS, TARGETS)),
)
instance(E + "LowRankDenoiser", m.made(lambda: ln.estimators.LowRankDenoiser(0.5).fit(m.array(8, 6))))
REGRESSOR = {
    "width": 6,
    "init_scale": 1.0,
    "steps": 5,
    "learning_rate": 0.05,
    "cv": 3,
    "max_steps": 10,
    "random_state": 0,
}


def _fit(X: object, y: object, **settings: object) -> object:
    return ln.estimators.LinearNetworkRegressor(**settings).fit(X, y).predict(ROWS)


for name in ("LinearNetworkRegressor", "LinearNetworkRegressor.fit"):
    example(
        E + name,
        call=_fit,
        X=ROWS,
        y=TARGETS,
        **REGRESSOR,
        slow=True,
        frozen=("X", "y"),
        long=("steps", "max_steps"),
    )
example(
    E + "LinearNetworkRegressor.predict",
    call=lambda X: ln.estimators.LinearNetworkRegressor(6, steps=5, learning_rate=0.05).fit(ROWS, TARGETS).predict(X),
    X=ROWS,
    frozen=("X",),  # scikit-learn's own checks and messages, as its rules want them
    slow=True,
)
example(
    E + "LowRankDenoiser",
    call=lambda X, noise_std: ln.estimators.LowRankDenoiser(noise_std).fit(X).transform(X),
    X=m.array(8, 6),
    noise_std=0.5,
    frozen=("X",),
)
for name in ("fit", "transform"):
    example(
        E + f"LowRankDenoiser.{name}",
        call=lambda X: ln.estimators.LowRankDenoiser(0.5).fit(X).transform(X),
        X=m.array(8, 6),
        frozen=("X",),
    )
