"""An adapter as two linear layers, A then B, next to a frozen matrix, and what its settings mean for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, positive, real_array, representable, symmetric
from linnet.inits.weights import Weights
from linnet.lora import _initializations as initializations

SCALINGS = ("standard", "rslora")
OPTIMIZERS = ("sgd", "adam", "adamw", "muon")


@dataclass(frozen=True, eq=False)
class Adapter:
    r"""A LoRA adapter $W_0 + s B A$: `first` A (rank, input), `second` B (output, rank), and how the two are trained.

    $$ s = \alpha / r \quad\text{(scaling="standard")}, \qquad s = \alpha / \sqrt r \quad\text{(scaling="rslora")} $$

    **Arguments:**

    - `scaling`: "standard" or "rslora".
    - `rank`, `alpha`: r and $\alpha$; `in_dim`, `out_dim`: the size of the frozen matrix, where it is known.
    - `init`: a name of peft's `init_lora_weights`; "default" is its `True`, "random" its `False`.
    - `optimizer`: "sgd", "adam", "adamw" or "muon"; any other name is kept, and no equivalence is claimed for it.
    - `learning_rate_a`, `learning_rate_b`: $\eta_A$ and $\eta_B$; B has A's by default (LoRA+ sets their ratio).
    - `weight_decay_a`, `weight_decay_b`, `eps_a`, `eps_b`: the same for the decays and for the $\epsilon$ of Adam or
      Muon (whose default is 1e-7 in PyTorch).
    - `momentum`: SGD's. `clip`: the largest gradient norm over all parameters; 0 if gradients are not clipped, None
      if that is not known. `dora`: with magnitudes.
    - `frozen`: factors that are not trained, among "a" and "b". `weights`: current matrices A and B.

    **Reference:** Hu et al. 2021 (LoRA); Kalajdzievski 2023 (rsLoRA); Hayou et al. 2024 (LoRA+). The algebra is
    derived on the page on adapters of the documentation.

    **Example:**

        >>> from linnet.lora import Adapter
        >>> adapter = Adapter(rank=8, alpha=16, in_dim=4096, out_dim=4096, optimizer="sgd", learning_rate_a=1e-3)
        >>> adapter.scale, adapter.time_per_step
        (2.0, 0.002)
        >>> adapter.threshold.round(4)[:2]
        array([0.3333, 0.3333])
    """

    rank: int
    alpha: float
    in_dim: int | None = None
    out_dim: int | None = None
    scaling: str = "standard"
    init: str = "default"
    optimizer: str | None = None
    learning_rate_a: float | None = None
    learning_rate_b: float | None = None
    weight_decay_a: float = 0.0
    weight_decay_b: float | None = None
    eps_a: float = 1e-8
    eps_b: float | None = None
    momentum: float = 0.0
    clip: float | None = None
    dora: bool = False
    frozen: str = ""
    weights: Weights | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("rank", count("rank", self.rank))
        put("alpha", positive("alpha", self.alpha))
        for name in ("in_dim", "out_dim"):
            if getattr(self, name) is not None:
                put(name, count(name, getattr(self, name)))
        if self.scaling not in SCALINGS:
            raise ValueError(f"`scaling` must be one of {SCALINGS}: got {self.scaling!r}.")
        put("init", initializations.initialization_name(self.init))
        for name, check in (("learning_rate", positive), ("weight_decay", non_negative), ("eps", non_negative)):
            a, b = getattr(self, f"{name}_a"), getattr(self, f"{name}_b")
            put(f"{name}_a", None if a is None else check(f"{name}_a", a))
            put(f"{name}_b", getattr(self, f"{name}_a") if b is None else check(f"{name}_b", b))
        put("momentum", non_negative("momentum", self.momentum))
        if self.clip is not None:
            put("clip", non_negative("clip", self.clip))
        if self.frozen not in ("", "a", "b"):
            raise ValueError(f"`frozen` must be 'a', 'b' or '' for neither: got {self.frozen!r}.")
        if self.optimizer is not None:
            put("optimizer", str(self.optimizer).lower())
        if self.weights is not None:
            self._check_weights(self.weights)

    def _check_weights(self, weights: Weights) -> None:
        """Refuse weights that are not of this rank, and take their dimensions."""
        if not isinstance(weights, Weights):
            raise ValueError(f"`weights` must be `Weights(A, B)`: got {type(weights).__name__}.")
        if weights.depth != 2 or weights.first.ndim != 2 or weights.width != self.rank:
            raise ValueError(f"`weights` must be one pair of rank {self.rank}: got {weights!r}.")
        if not (np.isfinite(weights.first).all() and np.isfinite(weights.second).all()):
            raise ValueError("`weights` must be finite: these have NaN or infinities, as of a run that diverged.")
        for name, size in (("in_dim", weights.in_dim), ("out_dim", weights.out_dim)):
            if getattr(self, name) not in (None, size):
                raise ValueError(f"`{name}` must be that of `weights`, {size}: got {getattr(self, name)}.")
            object.__setattr__(self, name, size)

    def with_(self, **changes: Any) -> Adapter:
        """The same adapter with other settings."""
        return replace(self, **changes)

    @property
    def scale(self) -> float:
        r"""$s$, the factor in front of $BA$."""
        return self.alpha / (self.rank if self.scaling == "standard" else np.sqrt(self.rank))

    @property
    def plus_ratio(self) -> float:
        r"""$\eta_B / \eta_A$, the ratio that LoRA+ sets; 1 where no rate is known."""
        if self.learning_rate_a is None or self.learning_rate_b is None:
            return 1.0
        return self.learning_rate_b / self.learning_rate_a

    @property
    def second_is_zero(self) -> bool:
        """Whether B is zero: now where the weights are known, otherwise at initialization."""
        if self.weights is not None:
            return not self.weights.second.any()
        return initializations.second_is_zero(self.init)

    @property
    def time_per_step(self) -> float:
        r"""Canonical time of one step of SGD: $s \sqrt{\eta_A \eta_B}$, divided by $1 - \mu$ with momentum $\mu$."""
        self._only_sgd("time_per_step")
        if self.learning_rate_a is None or self.learning_rate_b is None:
            raise ValueError("`learning_rate_a` is needed for `time_per_step`: give it with the adapter.")
        return float(self.scale * np.sqrt(self.learning_rate_a * self.learning_rate_b) / (1 - self.momentum))

    @property
    def canonical_weights(self) -> Weights:
        r"""The pair as an ordinary two-layer network of product $sBA$ whose layers share the rate `time_per_step`:

        $$ W_1 = \sqrt{s}\,(\eta_B/\eta_A)^{1/4} A, \qquad W_2 = \sqrt{s}\,(\eta_A/\eta_B)^{1/4} B. $$
        """
        if self.weights is None:
            raise ValueError("`weights` are needed: read the adapter from a model, or from a folder with its weights.")
        a, b = np.sqrt(self.scale) * self.plus_ratio**0.25, np.sqrt(self.scale) * self.plus_ratio**-0.25
        return Weights(a * self.weights.first, b * self.weights.second)

    @property
    def imbalance(self) -> Float[np.ndarray, " mode"]:
        r"""Eigenvalues, largest first, of the matrix that the gradient flow of the pair conserves,

        $$ s\sqrt{\eta_B/\eta_A}\,A A^T - s\sqrt{\eta_A/\eta_B}\,B^T B, $$

        from the weights where they are known, otherwise from the distribution of the initialization (its mean: single
        draws scatter around it by about $2\sqrt{r/d}$ of the value). SGD with small steps keeps it; Adam does not.
        """
        up, down = self.scale * np.sqrt(self.plus_ratio), self.scale / np.sqrt(self.plus_ratio)
        if self.weights is not None:
            return np.linalg.eigvalsh(self.canonical_weights.imbalance)[::-1]
        if initializations.is_balanced(self.init) and self.plus_ratio == 1:
            return np.zeros(self.rank)
        first, second = initializations.grams(self.init, self.rank, self.in_dim, self.out_dim)
        return np.sort(up * first - down * second)[::-1]

    @property
    def threshold(self) -> Float[np.ndarray, " mode"]:
        r"""Half of the imbalance's size: modes of $sBA$ below it move lazily, above it actively. Under SGD only."""
        self._only_sgd("threshold")
        return np.abs(self.imbalance) / 2

    @representable
    def mode_rate(
        self, strength: float = 1.0, *, left: ArrayLike | None = None, right: ArrayLike | None = None
    ) -> float:
        r"""Growth rate, per step of SGD from this state, of the adapter along a mode $\sigma\, u v^T$ of the negative
        gradient:

        $$ \Delta(u^T s B A v) = \sigma s^2 (\eta_B |A v|^2 + \eta_A |B^T u|^2). $$

        **Arguments:** `strength` $\sigma$; `left` u (output,) and `right` v (input,), unit vectors; without them, or
        without weights, the mean over directions. **Valid** to first order in the rates, before momentum builds up.
        """
        self._only_sgd("mode_rate")
        if self.learning_rate_a is None or self.learning_rate_b is None:
            raise ValueError("`learning_rate_a` is needed for a rate: give it with the adapter.")
        reach_a, reach_b = self._squared_reach("right", right), self._squared_reach("left", left)
        speed = self.learning_rate_b * reach_a + self.learning_rate_a * reach_b
        return float(positive("strength", strength) * self.scale**2 * speed)

    def _squared_reach(self, name: str, direction: object) -> float:
        """|A v|^2 for the right vector, |B^T u|^2 for the left one."""
        side = "in_dim" if name == "right" else "out_dim"
        if direction is not None and self.weights is not None:
            vector = real_array(name, direction, ndim=1)
            layer = self.weights.first if name == "right" else self.weights.second.T
            if vector.shape != (layer.shape[1],):
                raise ValueError(f"`{name}` must have {layer.shape[1]} entries: got {vector.shape[0]}.")
            if not vector.any():
                raise ValueError(f"`{name}` must be a direction: all its entries are zero.")
            vector = vector / np.abs(vector).max()  # a direction, whatever its length
            return float(((layer @ (vector / np.linalg.norm(vector))) ** 2).sum())
        total = float(self._gram_eigenvalues()[0 if name == "right" else 1].sum())
        if total == 0:
            return 0.0
        dim = getattr(self, side)
        if dim is None:
            raise ValueError(f"`{side}` is needed for the mean over directions: give it with the adapter.")
        return total / dim

    def _gram_eigenvalues(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of A A^T and of B^T B."""
        if self.weights is not None:
            first, second = self.weights.first, self.weights.second
            return np.linalg.eigvalsh(first @ first.T), np.linalg.eigvalsh(second.T @ second)
        return initializations.grams(self.init, self.rank, self.in_dim, self.out_dim)

    @representable
    def stable_learning_rate(self, curvature: ArrayLike = 1.0, *, gradient: float = 0.0) -> float:
        r"""The largest stable $\eta_A$ of SGD at this state, at this ratio of the rates: $2(1 + \mu)/\kappa$, where

        $$ \kappa = \lambda_{max}\begin{pmatrix} H_A & |G| + c \\ |G| + c & H_B \end{pmatrix} $$

        in the coordinates of `canonical_weights`, and $H_A = \lambda |W_2|^2$, $H_B = \lambda |W_1|^2$, $c = \lambda
        |W_1| |W_2|$.

        **Arguments**

        - `curvature` $\lambda$: the largest curvature of the loss in the adapted matrix. For mean squared error this
          is the largest eigenvalue of the layer's input covariance; given that covariance (input, input) instead,
          $\lambda|W_1|^2$ is replaced by the exact $\lambda_{max}(W_1 \Sigma W_1^T)$, or its mean by the law.
        - `gradient`: the largest singular value of the loss's gradient in the adapted matrix, which adds to the
          curvature.

        **Valid** for SGD, at initialization; a bound from below where directions are not aligned (exact at B = 0 with
        `gradient` 0 and a covariance). Training may well move to sharper places later.
        """
        self._only_sgd("stable_learning_rate")
        ratio, s = self.plus_ratio, self.scale
        first, second = self._gram_eigenvalues()
        slope = non_negative("gradient", gradient)
        given = real_array("curvature", curvature, ndim=(0, 2))
        if given.ndim == 0:
            top = positive("curvature", given)
            reach = top * float(first.max())
        else:
            top, reach = self._curvature_eigenvalues(given, first)
        h_a, h_b = s / np.sqrt(ratio) * top * float(second.max()), s * np.sqrt(ratio) * reach
        off = slope + np.sqrt(h_a * h_b)
        kappa = (h_a + h_b) / 2 + np.hypot((h_a - h_b) / 2, off)
        if kappa == 0:
            raise ValueError("`curvature` sees neither A nor B: both are zero here, and every rate is stable.")
        # The rate in canonical time is s sqrt(eta_A eta_B) = s sqrt(ratio) eta_A.
        return float(2 * (1 + self.momentum) / (kappa * s * np.sqrt(ratio)))

    def _curvature_eigenvalues(self, cov: np.ndarray, first: np.ndarray) -> tuple[float, float]:
        """The largest eigenvalues of the covariance and of A Sigma A^T."""
        if cov.shape[0] != cov.shape[1] or (self.in_dim is not None and cov.shape[0] != self.in_dim):
            raise ValueError(f"`curvature` must be a number or ({self.in_dim}, {self.in_dim}): got {cov.shape}.")
        cov = symmetric("curvature", cov)
        spectrum = np.linalg.eigvalsh(cov)
        if spectrum[0] < -1e-10 * np.abs(spectrum).max():
            raise ValueError(f"`curvature` must be a covariance: its minimum eigenvalue is {spectrum[0]:.3g}.")
        top = float(spectrum[-1])
        if self.weights is not None:
            return top, float(np.linalg.eigvalsh(self.weights.first @ cov @ self.weights.first.T)[-1])
        return top, float(first.max() * np.trace(cov) / cov.shape[0])

    def _only_sgd(self, what: str) -> None:
        """Refuse a question that has an answer under SGD alone."""
        if self.optimizer not in (None, "sgd"):
            raise ValueError(
                f"`{what}` has a meaning only under SGD: the optimizer here is {self.optimizer!r}, which does not "
                "follow the "
                "gradient flow and does not conserve the imbalance. Measure along the run with `ln.torch.PairMonitor`."
            )

    def __repr__(self) -> str:
        sizes = f", in_dim={self.in_dim}, out_dim={self.out_dim}" if self.in_dim or self.out_dim else ""
        rates = "" if self.learning_rate_a is None else f", rates=({self.learning_rate_a:g}, {self.learning_rate_b:g})"
        return (
            f"Adapter(rank={self.rank}, alpha={self.alpha:g}, scale={self.scale:g}{sizes}, init={self.init!r}, "
            f"optimizer={self.optimizer!r}{rates}{', weights' if self.weights is not None else ''})"
        )
