"""An early-stopped two-layer linear network as a regressor of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from linnet._arguments import count, no_mask, positive
from linnet._randomness import words
from linnet.forecasts.folds import CAREFUL, RATE_STEPS, all_folds, cross_validate, target_scaler
from linnet.forecasts.rates import largest_stable_rate
from linnet.forecasts.scaling import scaler
from linnet.forecasts.starts import start
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.trainers.descent import gradient_descent
from linnet.trajectories.saving import log_spaced

STATES = 100  # of the path that is kept


class LinearNetworkRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Linear regression by gradient descent on both layers of $W_2 W_1 x$, stopped early.

    An early-stopped network with its whole path for free, at any width; not a way to beat ridge regression: it is
    regularised by when it stops and by how it starts, and where that resembles the data it does as well.
    `linnet.diagnose` says which.

    **Arguments:**

    - `width`: hidden units; they cost nothing;
    - `init`: "pytorch", "gaussian", or a pair of standard deviations;
    - `init_scale`: multiplies both layers;
    - `steps`: "cv" chooses the number by cross-validation over `cv` folds, or a number;
    - `learning_rate`: "stable" is a quarter of the largest at which training does not diverge, or a number;
    - `scale`: "std", "none" or "whiten", done to the columns before training and undone in `coef_`;
    - `fit_intercept`: whether there is an intercept;
    - `cv`: the number of folds;
    - `max_steps`: at most, where `steps` is "cv";
    - `random_state`: the seed of the start and of the folds; None draws one.

    **After `fit`:** `coef_` (output, input) or (input,) and `intercept_` in the units of the data; `n_iter_` steps
    taken; `learning_rate_`; `path_`, a dictionary of `steps` (time,), `coef` (time, output, input) in the units of the
    data and `loss` (time,); `rank_`, the number of singular values of the learned map that exceed a hundredth of the
    largest; `cv_curves_` with "cv".

    **Example:**

        >>> import numpy as np
        >>> from linnet.estimators import LinearNetworkRegressor
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> model = LinearNetworkRegressor(steps=200).fit(X, X @ [1.0, 2.0, 3.0])
        >>> bool(model.score(X, X @ [1.0, 2.0, 3.0]) > 0.99)
        True
    """

    def __init__(
        self,
        width: int = 512,
        *,
        init: Any = "pytorch",
        init_scale: float = 1.0,
        steps: Any = "cv",
        learning_rate: Any = "stable",
        scale: str = "std",
        fit_intercept: bool = True,
        cv: int = 5,
        max_steps: int = 4000,
        random_state: Any = 0,
    ) -> None:
        self.width = width
        self.init = init
        self.init_scale = init_scale
        self.steps = steps
        self.learning_rate = learning_rate
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.max_steps = max_steps
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> LinearNetworkRegressor:
        """Trains on `X` (sample, input) and `y` (sample,) or (sample, output)."""
        no_mask("X", X)
        no_mask("y", y)
        count("cv", self.cv, least=2)
        count("max_steps", self.max_steps)
        key = _key(self.random_state)
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64, ensure_min_samples=2)
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        inputs = scaler(X, self.scale, centre=self.fit_intercept)
        outputs = target_scaler(Y, self.scale, centre=self.fit_intercept)
        problem = Problem.from_data(inputs.apply(X), outputs.apply(Y))
        weights = start(
            self.init,
            in_dim=problem.in_dim,
            out_dim=problem.out_dim,
            width=self.width,
            key=key,
            scale=self.init_scale,
        )
        rate, steps = self._rate_and_steps(problem, X, Y, weights, key)
        run = gradient_descent(
            problem, weights, learning_rate=rate, steps=steps, keep="products", save_every=log_spaced(STATES)
        )
        forth = np.diag(1 / inputs.scale) if inputs.matrix is None else inputs.matrix
        coefficients = outputs.scale[:, None] * (run.products @ forth.T)
        final = coefficients[-1]
        single = np.ndim(y) == 1
        self.path_ = {"steps": run.steps, "coef": coefficients, "loss": run.loss}
        level = outputs.mean - final @ inputs.mean
        self.coef_ = final[0] if single else final
        self.intercept_ = float(level[0]) if single else level
        self.n_iter_, self.learning_rate_ = int(steps), float(rate)
        values = np.linalg.svd(final, compute_uv=False)
        self.rank_ = int((values > 0.01 * values[0]).sum()) if values[0] > 0 else 0
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The network's outputs, (sample,) or (sample, output)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ np.transpose(self.coef_) + self.intercept_)

    def _rate_and_steps(
        self, problem: Problem, X: np.ndarray, Y: np.ndarray, weights: Weights, key: list[int]
    ) -> tuple[float, int]:
        stable = isinstance(self.learning_rate, str)
        if stable and self.learning_rate != "stable":
            raise ValueError(f"`learning_rate` must be 'stable' or a number: got {self.learning_rate!r}.")
        rate = None if stable else positive("learning_rate", self.learning_rate)
        if not isinstance(self.steps, str):
            steps = count("steps", self.steps)
            return rate or CAREFUL * largest_stable_rate(problem, weights, steps=RATE_STEPS).rate, steps
        if self.steps != "cv":
            raise ValueError(f"`steps` must be 'cv' or a number: got {self.steps!r}.")
        folds = min(count("cv", self.cv, least=2), len(X) // 2)
        if folds < 2:
            raise ValueError(
                f"`steps` must be a number for so few rows: cross-validation needs 4 of them, got {len(X)}."
            )
        parts = all_folds(X, Y, folds=folds, scale=self.scale, centre=self.fit_intercept, key=key)
        self.cv_curves_ = cross_validate(parts, [weights], learning_rate=rate, longest=self.max_steps)
        return self.cv_curves_.learning_rate, max(1, self.cv_curves_.step)


def _key(random_state: Any) -> list[int]:
    """The seed; as everywhere in scikit-learn, None or a `RandomState` draws one."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        random_state = int(check_random_state(random_state).randint(2**31))
    return words(random_state, "random_state")
