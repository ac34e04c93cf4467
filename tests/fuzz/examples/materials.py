"""Small problems, weights and runs that the examples share."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import linnet as ln
from fuzz.examples import Made


def made(make: Any) -> Made:
    """Makes the object on first use."""
    return Made(make)


def array(*shape: int, seed: int = 0) -> np.ndarray:
    """Random numbers that float16 can hold, so that they are the same in every precision."""
    return np.round(4 * np.random.default_rng([seed, *shape]).standard_normal(shape)) / 4


X, Y = array(6, 3), array(6, 2, seed=1)
LABELS = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 0.5])
TARGET, TRUTH, START = array(2, 3, seed=2), array(2, 3, seed=3), array(2, 3, seed=4) / 4
COV = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 0.5]])
FIRST, SECOND = array(5, 3, seed=5) / 4, array(2, 5, seed=6) / 4
VALUES = np.array([2.0, 1.0, 0.5])
TIMES = np.array([0.0, 0.5, 2.0])


@made
def target_problem() -> Any:
    return ln.Problem.from_target(TARGET, truth=TRUTH)


@made
def data_problem() -> Any:
    return ln.Problem.from_data(X, Y, truth=TRUTH).with_validation(X[:2], Y[:2])


@made
def scalar_problem() -> Any:
    return ln.Problem.from_data(X, LABELS)


@made
def spiked_problem() -> Any:
    return ln.problems.spiked_covariance(4, spike=3.0, alignment=0.5)


@made
def cost_problem() -> Any:
    return ln.problems.matrix_completion(TARGET, np.ones((2, 3)), truth=TRUTH)


@made
def weights() -> Any:
    return ln.Weights(FIRST, SECOND)


@made
def layers() -> Any:
    return ln.Weights(FIRST, array(4, FIRST.shape[0]), array(2, 4))


@made
def deep_reduction() -> Any:
    start = ln.inits.orthogonal_layers(in_dim=3, out_dim=2, width=9, depth=3, scales=0.5, key=0)
    return ln.reduce(ln.Problem.from_data(X, Y, truth=TRUTH), start)


@made
def scalar_weights() -> Any:
    return ln.Weights(FIRST, SECOND[:1])


@made
def batch_weights() -> Any:
    return ln.Weights(np.stack([FIRST, 2 * FIRST]), np.stack([SECOND, SECOND]))


@made
def wide_weights() -> Any:
    return ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=9, stds=0.25)


@made
def run() -> Any:
    return ln.gradient_descent(data_problem(), weights(), learning_rate=0.05, steps=4)


@made
def reduction() -> Any:
    return ln.reduce(ln.Problem.from_data(X[:2], Y[:2], truth=TRUTH), wide_weights())


@made
def stages() -> Any:
    return ln.theories.feature_learning.Stages(X, LABELS, width=8, learning_rate=0.05, first_std=0.25, magnitude=0.5)


@made
def two_phase() -> Any:
    return ln.theories.spiked.TwoPhase(spike=3.0, alignment=0.5)


@made
def regression() -> Any:
    return ln.problems.gaussian_teacher(key=0, samples=5, dim=40)


@made
def denoised() -> Any:
    return ln.denoise(array(8, 6), noise_std=0.5)


@made
def forecast() -> Any:
    return ln.forecast(data_problem(), weights(), learning_rate=0.05, steps=20)


@made
def whitened_forecast() -> Any:
    problem = whitened_data()
    return ln.forecast(problem, weights(), learning_rate=0.05, steps=20)


@made
def whitened_data() -> Any:
    many = array(12, 3, seed=8)
    inputs = ln.forecasts.scaler(many, "whiten").apply(many)
    return ln.Problem.from_data(inputs, array(12, 2, seed=9))


@made
def folds() -> Any:
    return ln.forecasts.all_folds(array(12, 3), array(12, 2, seed=1), folds=3)


@made
def starts() -> Any:
    return [weights()]


@made
def curves() -> Any:
    return ln.forecasts.cross_validate(folds(), starts(), learning_rate=0.05, steps=10)


@made
def table() -> Any:
    return ln.forecasts.data_table(array(24, 3), array(24, 2, seed=1))


@made
def diagnosis() -> Any:
    return ln.forecasts.diagnose_table(table(), settings())


@made
def settings() -> Any:
    return ln.forecasts.Settings(width=6, folds=3, seeds=1, steps=20, learning_rate=0.05)


@made
def one_target_folds() -> Any:
    return ln.forecasts.all_folds(array(12, 3), array(12, 1, seed=1), folds=3)


@made
def threshold_curve() -> Any:
    return ln.forecasts.threshold_curve(one_target_folds())


@made
def adapter() -> Any:
    return ln.lora.Adapter(
        rank=5,
        alpha=16.0,
        in_dim=3,
        out_dim=2,
        optimizer="sgd",
        learning_rate_a=1e-3,
        learning_rate_b=2e-3,
        weights=weights(),
    )


@made
def fresh_adapter() -> Any:
    return ln.lora.Adapter(rank=8, alpha=16.0, in_dim=3, out_dim=2, optimizer="sgd", learning_rate_a=1e-3)


@made
def spectrum() -> Any:
    return ln.theories.lazy_active.task_spectrum(target_problem())


@made
def folder() -> Any:
    """A folder for files, removed when the process ends."""
    import atexit
    import shutil

    path = Path(mkdtemp(prefix="linnet-fuzz-"))
    atexit.register(functools.partial(shutil.rmtree, path, ignore_errors=True))
    return path


@made
def csv_file() -> Any:
    path = folder() / "table.csv"
    rows = np.concatenate([array(12, 3), array(12, 1, seed=1)], axis=1)
    path.write_text("a,b,c,y\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return str(path)


@made
def lora_file() -> Any:
    import json

    path = folder() / "adapter_config.json"
    fields = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q"], "init_lora_weights": True}
    path.write_text(json.dumps(fields))
    return str(path)


@made
def lora_folder() -> Any:
    import json

    from linnet.lora._safetensors import write_tensors

    path = folder()
    fields = {"peft_type": "LORA", "r": 5, "lora_alpha": 10, "target_modules": ["q"], "init_lora_weights": True}
    (path / "adapter_config.json").write_text(json.dumps(fields))
    write_tensors(path / "adapter_model.safetensors", {"q.lora_A.weight": FIRST, "q.lora_B.weight": SECOND})
    return str(path)


@made
def frame() -> Any:
    import pandas as pd

    return pd.DataFrame(array(12, 4), columns=["a", "b", "c", "y"])
