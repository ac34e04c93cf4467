"""An early-stopped two-layer linear network as a regressor of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from linnet._arguments import count, no_mask, positive, shown
from linnet._randomness import words
from linnet.forecasts.cross_validation import FIRST_RATE_SHARE, RATE_STEPS, cross_validate
from linnet.forecasts.folds import Fold, make_fold, root_weights, split_rows
from linnet.forecasts.rates import largest_stable_rate, rate_or_none
from linnet.forecasts.scaling import scaler, target_scaler
from linnet.forecasts.starts import start
from linnet.forecasts.threshold_curves import start_threshold, threshold_curve
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.trainers.descent import gradient_descent
from linnet.trajectories.saving import log_spaced

MAX_STATES = 100  # of the path that is kept


class LinearNetworkRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """scikit-learn estimator for linear regression by gradient descent on both layers of $W_2 W_1 x$, stopped early.

    Do not expect to beat ridge regression. Choose it if you study early stopping, or need the whole path at no extra
    cost.

    An early-stopped network with its whole path for free, at any width; not a way to beat ridge regression: it is
    regularized by when it stops and by how it starts, and where that resembles the data it does as well.
    `linnet.diagnose` says which.

    **Arguments:**

    - `width`: hidden units; they cost nothing;
    - `init`: "pytorch", "gaussian", or a pair of standard deviations;
    - `init_scale`: multiplies both layers; "cv" chooses it, with one target, by the exact flow in the same folds
      (`forecasts.threshold_curve`), and the steps by descent from there;
    - `steps`: "cv" chooses the number by cross-validation over `cv` folds, or a number;
    - `learning_rate`: "stable" is a quarter of the largest at which training does not diverge, or a number;
    - `preprocess`: "standardize", "center" or "whiten", done to the columns before training and undone in `coef_`;
    - `fit_intercept`: whether there is an intercept;
    - `cv`: number of folds, or a splitter of scikit-learn, or pairs of training and held-out rows;
    - `max_steps`: maximum number of steps if `steps` is "cv"; a warning is issued if the error still falls there;
    - `random_state`: seed of the initialization and of the folds; None draws one.

    **After `fit`:**

    - `coef_`, `intercept_`: coefficients, (output, input) or (input,), and intercept, in the units of the data
    - `n_iter_`: number of steps
    - `learning_rate_`, `init_scale_`: learning rate and scale of the initialization that were used
    - `path_`: dictionary of `steps` (time,), `coef` (time, output, input) in the units of the data, and `loss` (time,)
    - `rank_`: number of singular values of the learned map that exceed a hundredth of the largest
    - `cv_curves_`: errors of the cross-validation, if `steps` is "cv"

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
        init: object = "pytorch",
        init_scale: object = 1.0,
        steps: object = "cv",
        learning_rate: object = "stable",
        preprocess: str = "standardize",
        fit_intercept: bool = True,
        cv: object = 5,
        max_steps: int = 4000,
        random_state: object = 0,
    ) -> None:
        self.width = width
        self.init = init
        self.init_scale = init_scale
        self.steps = steps
        self.learning_rate = learning_rate
        self.preprocess = preprocess
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.max_steps = max_steps
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearNetworkRegressor:
        """Trains on `X` (sample, input) and `y` (sample,) or (sample, output); `sample_weight` (sample,) weighs "
        "rows."""
        no_mask("X", X)
        no_mask("y", y)
        folds = _check_cv(self.cv)
        count("max_steps", self.max_steps)
        key = _resolve_seed(self.random_state)
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64, ensure_min_samples=2)
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            used = weights > 0
            if not isinstance(folds, int):
                folds = _pairs_among(used, list(check_cv(folds).split(X, Y)))
            X, Y, weights = X[used], Y[used], weights[used]
            if len(X) < 2:
                raise ValueError(f"`sample_weight` must leave at least 2 rows: {len(X)} have a weight above zero.")
        inputs = scaler(X, self.preprocess, center=self.fit_intercept, weights=weights)
        outputs = target_scaler(Y, self.preprocess, center=self.fit_intercept, weights=weights)
        rows = np.ones(len(X)) if weights is None else root_weights(weights)
        problem = Problem.from_data(rows[:, None] * inputs.apply(X), rows[:, None] * outputs.apply(Y))
        still = np.ptp(Y, axis=0) == 0 if self.fit_intercept else np.zeros(Y.shape[1], dtype=bool)
        if still.all():  # the intercept alone predicts them
            products, losses = np.zeros((1, Y.shape[1], problem.in_dim)), np.zeros(1)
            taken = np.zeros(1, dtype=np.int64)
            self.learning_rate_, self.n_iter_, self.init_scale_ = 0.0, 1, 1.0
        else:
            products, losses, taken = self._train(problem, X, Y, weights, key, folds)
            products[:, still] = 0.0
        forth = np.diag(1 / inputs.scale) if inputs.matrix is None else inputs.matrix
        coefficients = outputs.scale[:, None] * (products @ forth.T)
        final = coefficients[-1]
        single = np.ndim(y) == 1
        self.path_ = {"steps": taken, "coef": coefficients, "loss": losses}
        level = outputs.mean - final @ inputs.mean
        self.coef_ = final[0] if single else final
        self.intercept_ = float(level[0]) if single else level
        values = np.linalg.svd(final, compute_uv=False)
        self.rank_ = int((values > 0.01 * values[0]).sum()) if values[0] > 0 else 0
        return self

    def _train(
        self, problem: Problem, X: np.ndarray, Y: np.ndarray, rows: np.ndarray | None, key: list[int], cv: object
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Products, losses and steps of the run, after the choices that folds make."""
        parts = self._resolve_folds(X, Y, rows, key, cv) if "cv" in (str(self.steps), str(self.init_scale)) else []
        shape = {"in_dim": problem.in_dim, "out_dim": problem.out_dim, "width": self.width}
        if isinstance(self.init_scale, str):
            self.init_scale_ = self._cross_validated_scale(parts, start(self.init, **shape, key=key))
        else:
            self.init_scale_ = positive("init_scale", self.init_scale)
        weights = start(self.init, **shape, key=key, scale=self.init_scale_)
        rate, steps = self._rate_and_steps(problem, parts, weights)
        run = gradient_descent(
            problem,
            weights,
            learning_rate=rate,
            steps=steps,
            keep="products",
            save_every=log_spaced(MAX_STATES),
            throw=False,
        )
        if not run.status.ok:
            stable = largest_stable_rate(problem, weights, steps=RATE_STEPS).rate
            raise ValueError(
                f"`learning_rate` must be one at which training does not diverge: {rate:.3g} is too large; the largest "
                f"stable one is about {stable:.3g}."
            )
        self.n_iter_, self.learning_rate_ = int(steps), float(rate)
        return np.array(run.products), run.loss, run.steps  # type: ignore[return-value]

    def _resolve_folds(
        self, X: np.ndarray, Y: np.ndarray, rows: np.ndarray | None, key: list[int], cv: object
    ) -> list[Fold]:
        """The folds of `cv`: a number of them, a splitter, or pairs of rows."""
        if isinstance(cv, int):
            folds = min(cv, len(X) // 2)
            if folds < 2:
                raise ValueError(
                    f"`steps` must be a number for fewer than 4 rows: cross-validation needs 4, got {len(X)}."
                )
            pairs = [(None, held) for held in split_rows(len(X), folds, key)]
        else:
            pairs = list(check_cv(cv).split(X, Y))
        if len(pairs) < 2:
            raise ValueError(f"`cv` must give at least 2 folds: got {len(pairs)}.")
        options: dict[str, Any] = {"center": self.fit_intercept, "weights": rows}
        return [make_fold(X, Y, held, self.preprocess, training=training, **options) for training, held in pairs]

    def _cross_validated_scale(self, parts: list[Fold], weights: Weights) -> float:
        """Return the initialization factor with the smallest held-out error of the exact flow, for one target."""
        if self.init_scale != "cv":
            raise ValueError(f"`init_scale` must be 'cv' or a number: got {self.init_scale!r}.")
        if weights.out_dim != 1:
            raise ValueError(
                f"`init_scale` must be a number for several targets: 'cv' is for one, got {weights.out_dim}."
            )
        return float(np.sqrt(threshold_curve(parts).best / start_threshold(weights)))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The network's outputs, (sample,) or (sample, output)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ np.transpose(self.coef_) + self.intercept_)

    def _rate_and_steps(self, problem: Problem, parts: list[Fold], weights: Weights) -> tuple[float, int]:
        """Return the learning rate and the steps, found by cross-validation where they are not given."""
        rate = rate_or_none(self.learning_rate)
        if not isinstance(self.steps, str):
            steps = count("steps", self.steps)
            return rate or FIRST_RATE_SHARE * largest_stable_rate(problem, weights, steps=RATE_STEPS).rate, steps
        if self.steps != "cv":
            raise ValueError(f"`steps` must be 'cv' or a number: got {self.steps!r}.")
        curves = self.cv_curves_ = cross_validate(parts, [weights], learning_rate=rate, max_steps=self.max_steps)
        if curves.still_falling and curves.steps[-1] >= self.max_steps:
            warnings.warn(
                f"the held-out error still falls at `max_steps` = {self.max_steps}: increase it, or the scale of the "
                "start.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return curves.learning_rate, max(1, curves.step)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The settings that differ from the defaults and, after `fit`, the results."""
        settings = str(super().__repr__(N_CHAR_MAX))
        if not hasattr(self, "coef_"):
            return settings
        return f"{settings}  # {self.n_iter_} steps at rate {self.learning_rate_:.3g}, rank {self.rank_}"


def _check_cv(cv: object) -> object:
    """The number of folds, or what scikit-learn splits by: a splitter, pairs of rows, None for its default."""
    if cv is None or (hasattr(cv, "split") and not isinstance(cv, (str, bytes))):
        return cv
    if isinstance(cv, Iterable) and not isinstance(cv, (str, bytes, Mapping)) and getattr(cv, "ndim", 1) > 0:
        pairs = list(cv)
        if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"`cv` must be a list of pairs (rows to train on, rows held out): got {shown(cv)}.")
        return pairs
    return count("cv", cv, least=2)


def _pairs_among(used: np.ndarray, pairs: list[tuple[Any, Any]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pairs of rows as numbers among the rows that are `used`, without the others."""
    numbers = np.cumsum(used) - 1
    among = []
    for fold, pair in enumerate(pairs):
        rows = [np.arange(used.size)[np.asarray(part)] for part in pair]  # numbers or a mask
        training, held = (numbers[part[used[part]]] for part in rows)
        if not len(held) or len(training) < 2:
            raise ValueError(
                f"`cv` must leave rows of positive `sample_weight` in every fold: fold {fold} has {len(training)} to "
                f"train on and {len(held)} held out."
            )
        among.append((training, held))
    return among


def _resolve_seed(random_state: object) -> list[int]:
    """The seed; as everywhere in scikit-learn, None or a `RandomState` draws one."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        random_state = int(check_random_state(random_state).randint(2**31))
    return words(random_state, "random_state")
