"""Assumption 4.1 of the feature-learning paper with both sides of each condition evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from linnet import _arguments as arguments
from linnet.problems.subgaussian import Regression


@dataclass(frozen=True)
class Condition:
    """One condition of an `Assumption`: an inequality with the values of both sides.

    It holds if `left <= right`, or if `left >= right` when `relation` is `">="`.

    **Attributes:**

    - `number`: number in the paper, such as `"(2)"`
    - `text`: the inequality in words
    - `left`: left side of the condition
    - `relation`: `"<="` or `">="`
    - `right`: right side of the condition

    **Example:**

        >>> from linnet.theories.feature_learning import Condition
        >>> Condition("(2)", "the initialization is small", 1e-6, "<=", 1e-3).holds
        True
    """

    number: str
    text: str
    left: float
    relation: str
    right: float

    @property
    def holds(self) -> bool:
        """Whether the inequality is met."""
        return self.left <= self.right if self.relation == "<=" else self.left >= self.right

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return f"({self.number}) {self.text}: {self.left:.4g} {self.relation} {self.right:.4g}  {verdict}"


@dataclass(frozen=True)
class Assumption:
    """Result of `assumption`: all conditions in order, of which printing shows one per line.

    **Attributes:**

    - `conditions`: the `Condition`s, as numbered in the paper

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.feature_learning import admissible, assumption
        >>> data = ln.problems.gaussian_teacher(key=0, samples=5, dim=2000, signal=1.0)
        >>> scales = admissible(data, width=50, epsilon=0.01)
        >>> assumed = assumption(data, width=50, epsilon=0.01, **scales)
        >>> len(assumed.conditions), assumed.holds == (not assumed.broken)
        (9, True)
    """

    conditions: tuple[Condition, ...]

    @property
    def holds(self) -> bool:
        """Whether all conditions are met."""
        return all(condition.holds for condition in self.conditions)

    @property
    def broken(self) -> tuple[str, ...]:
        """The numbers of the conditions that fail."""
        return tuple(condition.number for condition in self.conditions if not condition.holds)

    def __str__(self) -> str:
        return "\n".join(str(condition) for condition in self.conditions)


CONSTANTS = dict.fromkeys(("width", "first", "magnitude", "step", "trace", "power", "dominance", "feature"), 1.0)


@arguments.representable
def assumption(
    data: Regression,
    *,
    width: int,
    learning_rate: float,
    first_std: float,
    magnitude: float,
    epsilon: float,
    constants: Mapping[str, float] | None = None,
) -> Assumption:
    r"""Check whether data and initialization satisfy Assumption 4.1 of Huang et al.

    The result holds both sides of each condition, so you see how far a condition is from failing. To find scales that
    satisfy the conditions, use `admissible`.

    **Arguments:**

    - `data`: a `problems.Regression`
    - `width`: width $m$
    - `learning_rate`: learning rate of linnet, $\eta/m$ in the paper's symbols
    - `first_std`: standard deviation $\sigma_0$ of the first layer
    - `magnitude`: scale $v_0$ of the second layer
    - `epsilon`: loss to be reached
    - `constants`: values of the paper's unnamed constants, each 1 by default: "width" of (1), "first" $C_1$ of (2),
      "magnitude" $C_2$ of (3), "step" of (4), "trace" and "power" of the two parts of (6), "dominance" of (7),
      "feature" of (8)

    **Returns** an `Assumption`, with `.conditions`, `.holds` and `.broken`.

    **Departs from the print:** (4) has $\sqrt n\,m$ in place of $\sqrt{nm}$, and (6) has $|\bar\beta|/\sqrt\epsilon$ in
    place of $\sqrt\epsilon|\bar\beta|$. Two conditions are new. Without (7), $v_0 \ge C\sigma_0\sqrt{\log m}$, the
    neurons differ and do not keep the signs of $v_r(0)$. Without (8), $v_0^2 \le
    C|\bar\beta|\sqrt{n/\mathrm{tr}\,\Sigma}$, training is lazy (`lazy_feature_ratio`); its right side is the square of
    the final magnitude.

    **Reference:** Huang et al. 2025, Assumption 4.1.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.feature_learning import assumption
        >>> data = ln.problems.gaussian_teacher(key=0, samples=5, dim=2000, signal=1.0)
        >>> large = assumption(data, width=50, learning_rate=0.1, first_std=1.0, magnitude=1.0, epsilon=0.01)
        >>> large.holds  # the initialization is far too large
        False
    """
    _check_regression(data)
    if not isinstance(constants or {}, Mapping):
        raise ValueError(f"`constants` must be numbers by name: got {type(constants).__name__}.")
    unknown = {str(name) for name in constants or {}} - set(CONSTANTS)
    if unknown:
        raise ValueError(f"`constants` must be among {', '.join(CONSTANTS)}: got {', '.join(sorted(unknown))}.")
    c = {**CONSTANTS, **{name: arguments.positive("constants", value) for name, value in (constants or {}).items()}}
    m, eps = float(arguments.count("width", width)), arguments.positive("epsilon", epsilon)
    sigma, v0 = arguments.non_negative("first_std", first_std), arguments.non_negative("magnitude", magnitude)
    eta = arguments.positive("learning_rate", learning_rate) * m
    n, d, beta, trace = data.samples, data.in_dim, data.signal, data.trace
    power = n * beta**2 * trace
    spread = n * data.operator_norm + np.sqrt(n) * data.frobenius_norm  # sigma_x = 1
    factor = max(c["trace"], beta / np.sqrt(eps))
    small = min(c["first"] / np.sqrt(d * power), np.sqrt(eps) / power**0.25)
    largest = np.sqrt(n) * m / (np.sqrt(trace) * beta)
    dominant = c["dominance"] * sigma * np.sqrt(np.log(m))
    conditions = [
        Condition("1", "width m against log(2n)", m, ">=", c["width"] * np.log(2 * n)),
        Condition("2", "first-layer scale sigma_0", sigma, "<=", small),
        Condition("3", "second-layer scale v_0", v0, "<=", c["magnitude"] / np.sqrt(power)),
        Condition("4", "learning rate eta", eta, "<=", c["step"] * largest),
        Condition("5", "noise variance against 8 n |beta|^2", data.noise_variance, "<=", 8 * n * beta**2),
        Condition("6a", "tr(Sigma) against n |Sigma| + sqrt(n) |Sigma|_F", trace, ">=", factor * spread),
        Condition("6b", "tr(Sigma) |beta|^2", trace * beta**2, ">=", c["power"]),
        Condition("7", "v_0 against sigma_0 sqrt(log m)", v0, ">=", dominant),
        Condition("8", "v_0^2 against its end, |beta| sqrt(n/tr)", v0**2, "<=", c["feature"] * _end_square(data)),
    ]
    return Assumption(tuple(conditions))


@arguments.representable
def admissible(data: Regression, *, width: int, epsilon: float, margin: float = 10.0) -> dict[str, float]:
    """Return scales of the initialization and a learning rate that satisfy Assumption 4.1 of Huang et al.

    They satisfy the conditions as printed and as corrected in `assumption`. Conditions (5) and (6) concern the data
    alone: check them with `assumption`, and also any scales that you already have.

    **Arguments:**

    - `data`: a `problems.Regression`
    - `width`: width $m$
    - `epsilon`: loss to be reached
    - `margin`: factor by which each condition is satisfied more than required

    **Returns** a dictionary of `first_std`, `magnitude` and `learning_rate`, the arguments of `assumption` and
    `inits.signed`.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.feature_learning import admissible
        >>> data = ln.problems.gaussian_teacher(key=0, samples=5, dim=2000, signal=1.0)
        >>> scales = admissible(data, width=50, epsilon=0.01)
        >>> sorted(scales), bool(scales["magnitude"] > scales["first_std"])
        (['first_std', 'learning_rate', 'magnitude'], True)
    """
    _check_regression(data)
    margin = arguments.positive("margin", margin)
    m, eps = float(arguments.count("width", width, least=2)), arguments.positive("epsilon", epsilon)
    power = data.samples * data.signal**2 * data.trace
    magnitude = min(1 / np.sqrt(power), np.sqrt(_end_square(data))) / margin
    first = min(1 / np.sqrt(data.in_dim * power), np.sqrt(eps) / power**0.25, magnitude / np.sqrt(np.log(m))) / margin
    step = np.sqrt(data.samples * m / data.trace) / data.signal / m
    return {"first_std": first, "magnitude": magnitude, "learning_rate": step / margin}


def _end_square(data: Regression) -> float:
    """The square of the magnitude at the end of training, sqrt(gamma)/tr with gamma = n tr |beta|^2."""
    return float(data.signal * np.sqrt(data.samples / data.trace))


def _check_regression(data: Regression) -> Regression:
    """The data, refused where they are not a `Regression`: a `Problem` does not know its teacher and noise."""
    return arguments.of_kind("data", data, Regression, "`problems.gaussian_teacher` or `subgaussian_regression`")
