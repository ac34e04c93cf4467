"""How the layers move for given gradients: Muon, spectral and normalized descent, and updates of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from linnet._arguments import count, flag, non_negative, positive, shown
from linnet.trainers._polar_factors import near_cutoff, newton_schulz, polar_factor
from linnet.trainers._states import Array, Remembered

ByLayer = Mapping[str, Array]  # layers, gradients or rates, by the names of the layers
SCALINGS = ("original", "match_rms_adamw", None)
NEVER = -1  # in place of the step at which a singular value came near the cutoff


@runtime_checkable
class Update(Protocol):
    """Interface of an update for `gradient_descent(update=...)`: a frozen dataclass, written with jax.numpy.

    It is compiled into the training loop and applied to each network of a batch separately. `equivariant` is true if
    the update commutes with rotations of inputs, outputs and hidden units. Descent with momentum does, Adam does not,
    and only runs of equivariant updates can be reduced. The layers have names: `"first"` (hidden, input), `"second"`
    (output, hidden), and `"inner_2"` and so on between them. Layers of a reduced run are smaller than those of the
    network, with the same singular values.

    Three more attributes are optional:

    - `reads_weights`: whether a step depends on the weights and not only on gradients and memory, True by default. If
      so, a run of two layers keeps the complete first layer, and a deeper network is not reduced.
    - `with_shapes(shapes)`: method that returns the update for a network whose layers have these shapes, by name, for
      steps that depend on the shape. Fields that it adds must not be compared (`field(compare=False)`), and only `init`
      may read them.
    - `remaining(rate)`: method that returns the factor by which one step shrinks weights whose gradient is zero, for
      decoupled weight decay with `reads_weights = False`.

    **Example:**

        >>> from dataclasses import dataclass
        >>> import jax.numpy as jnp
        >>> import linnet as ln
        >>> from linnet.trainers.updates import Update
        >>> @dataclass(frozen=True)
        ... class SignDescent:
        ...     equivariant: bool = False
        ...     def init(self, layers):
        ...         return ()
        ...     def step(self, layers, gradients, memory, rates, index):
        ...         return {name: layers[name] - rates[name] * jnp.sign(gradients[name]) for name in layers}, memory
        >>> isinstance(SignDescent(), Update)
        True
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
        >>> run = ln.gradient_descent(problem, start, learning_rate=0.1, steps=2, update=SignDescent(), reduce=False)
        >>> run.products[-1].round(12).tolist()
        [[0.49]]
    """

    @property
    def equivariant(self) -> bool:
        """Return whether the update commutes with rotations of inputs, outputs and hidden units, so that runs can be
        reduced."""

    def init(self, layers: ByLayer) -> Remembered:
        """Return the memory of the update at initialization, such as a momentum: any tree of arrays."""

    def step(
        self, layers: ByLayer, gradients: ByLayer, memory: Remembered, rates: ByLayer, index: Array
    ) -> tuple[ByLayer, Remembered]:
        """Return the layers and the memory of the update after step `index`."""
        ...


@dataclass(frozen=True)
class _ByLayer:
    """What the updates below share: each layer steps along a function of its own gradient, with decoupled decay."""

    equivariant: ClassVar[bool] = True
    reads_weights: ClassVar[bool] = False  # but for decay, which `remaining` describes
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight_decay", non_negative("weight_decay", self.weight_decay))

    def remaining(self, rate: Array) -> Array:
        """Return the factor by which decay shrinks all weights in one step."""
        return 1 - rate * self.weight_decay

    def init(self, layers: ByLayer) -> Remembered:
        """Return nothing: there is no momentum."""
        return {}

    def step(
        self, layers: ByLayer, gradients: ByLayer, memory: Remembered, rates: ByLayer, index: Array
    ) -> tuple[ByLayer, Remembered]:
        """Return the layers after one step."""
        directions, memory = self._directions(gradients, memory, index)
        return {
            name: layer * self.remaining(rates[name]) - rates[name] * directions[name] for name, layer in layers.items()
        }, memory

    def _directions(self, gradients: ByLayer, memory: Remembered, index: Array) -> tuple[ByLayer, Remembered]:
        """Return minus the step of each layer at a rate of 1, without decay."""
        raise NotImplementedError


@dataclass(frozen=True)
class NormalizedDescent(_ByLayer):
    r"""Gradient descent with steps of constant length: $W_l \leftarrow (1 - \eta\lambda) W_l - \eta\, G_l/|G_l|_F$.

    The gradient $G_l$ of each layer is divided by its Frobenius norm. Pass it as `update` of `gradient_descent`. To
    normalize singular values separately, use `SpectralDescent`.

    **Arguments:**

    - `weight_decay`: coefficient $\lambda$ of decoupled weight decay

    **Example:**

        >>> import linnet as ln
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
        >>> update = ln.trainers.updates.NormalizedDescent()
        >>> run = ln.gradient_descent(problem, start, learning_rate=0.1, steps=2, update=update)
        >>> run.products[-1].round(12).tolist()
        [[0.49]]
    """

    def _directions(self, gradients: ByLayer, memory: Remembered, index: Array) -> tuple[ByLayer, Remembered]:
        return {name: _over_length(gradient) for name, gradient in gradients.items()}, memory


@dataclass(frozen=True)
class SpectralDescent(_ByLayer):
    r"""Steepest descent in the operator norm, which is Muon without momentum.

    Each step replaces all singular values of the gradient $G_l = U_l S_l V_l^T$ by 1:

    $$ W_l \leftarrow (1 - \eta\lambda) W_l - \eta\, U_l V_l^T $$

    Use it to compare with `theories.spectral_descent`, which predicts it without training. For the optimizer as in
    practice, use `Muon`. Singular values below `sqrt(eps)` of the largest, 1.5e-8 in float64, count as zero. If a
    singular value comes within a factor of 100 of that cutoff, `run.status.uncertain_from` holds the step, because
    rounding errors may affect the run from there on.

    **Arguments:**

    - `weight_decay`: coefficient $\lambda$ of decoupled weight decay

    **Example:**

        >>> import linnet as ln
        >>> problem = ln.Problem.from_target([[3.0, 0.0], [0.0, 0.5]])
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=1000, stds=0.01)
        >>> update = ln.trainers.updates.SpectralDescent()
        >>> run = ln.gradient_descent(problem, start, learning_rate=0.01, steps=100, update=update)
        >>> run.singular_values[-1].round(1).tolist()
        [1.4, 0.5]
    """

    def init(self, layers: ByLayer) -> Remembered:
        """Return the step at which a singular value first came near the cutoff: none yet."""
        return {"uncertain_from": jnp.asarray(NEVER)}

    def _directions(self, gradients: ByLayer, memory: Remembered, index: Array) -> tuple[ByLayer, Remembered]:
        return _polar_factors(gradients, memory, index)


@dataclass(frozen=True)
class Muon(_ByLayer):
    r"""Muon: momentum, then the polar factor of each layer's update by Newton-Schulz iterations.

    $$ B_l \leftarrow \mu B_l + (1 - \mu) G_l, \qquad
       W_l \leftarrow (1 - \eta\lambda) W_l - \eta\, c_l\, \mathrm{NS}(\mu B_l + (1 - \mu) G_l) $$

    as in `torch.optim.Muon`, in the precision of the run and not in bfloat16. It applies to all layers, also to those
    for which practitioners use AdamW. Runs are reduced at any width; $c_l$ depends on the shapes of the full network.

    **Arguments:**

    - `momentum`: momentum $\mu$
    - `nesterov`: whether to use Nesterov's momentum as in the formula; if False the step is NS($B_l$)
    - `newton_schulz_steps`: number of iterations, whose results have singular values between about 0.7 and 1.2;
      None for the exact polar factor, with the cutoff of `SpectralDescent`
    - `weight_decay`: coefficient $\lambda$ of decoupled weight decay (PyTorch's default is 0.1)
    - `scaling`: factor $c_l$ of a layer with r rows and c columns: `"original"` for $\sqrt{\max(1, r/c)}$,
      `"match_rms_adamw"` for $0.2\sqrt{\max(r, c)}$, None for 1
    - `eps`: smallest norm by which a gradient is divided before the iterations

    **Reference:** Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks".

    **Example:**

        >>> import linnet as ln
        >>> problem = ln.Problem.from_target([[3.0, 0.0], [0.0, 0.5]])
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=1000, stds=0.01)
        >>> update = ln.trainers.updates.Muon(scaling=None)
        >>> run = ln.gradient_descent(problem, start, learning_rate=0.01, steps=300, update=update)
        >>> run.singular_values[-1].round(1).tolist()
        [3.0, 0.5]
    """

    momentum: float = 0.95
    nesterov: bool = True
    newton_schulz_steps: int | None = 5
    weight_decay: float = 0.0
    scaling: str | None = "original"
    eps: float = 1e-7
    _shape_factors: Mapping[str, float] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if non_negative("momentum", self.momentum) >= 1:
            raise ValueError(f"`momentum` must be below 1: got {self.momentum}.")
        flag("nesterov", self.nesterov)
        if self.newton_schulz_steps is not None:
            count("newton_schulz_steps", self.newton_schulz_steps)
        if self.scaling not in SCALINGS:
            raise ValueError(f"`scaling` must be one of {', '.join(map(repr, SCALINGS))}: got {shown(self.scaling)}.")
        positive("eps", self.eps)

    def with_shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> Muon:
        """Return the update with the factors of a network whose layers have these shapes."""
        muon = replace(self)
        object.__setattr__(
            muon, "_shape_factors", {name: _shape_factor(self.scaling, *shapes[name]) for name in shapes}
        )
        return muon

    def init(self, layers: ByLayer) -> Remembered:
        """Return the momentum of each layer, zero, and its factor."""
        factors = self._shape_factors or self.with_shapes({name: layers[name].shape for name in layers})._shape_factors
        assert factors is not None
        memory = {
            "momentum": {name: jnp.zeros_like(layer) for name, layer in layers.items()},
            "factor": {name: jnp.asarray(factors[name], layer.dtype) for name, layer in layers.items()},
        }
        return memory if self.newton_schulz_steps else {**memory, "uncertain_from": jnp.asarray(NEVER)}

    def _directions(self, gradients: ByLayer, memory: Remembered, index: Array) -> tuple[ByLayer, Remembered]:
        mu, held = self.momentum, {}
        for name, gradient in gradients.items():
            held[name] = mu * memory["momentum"][name] + (1 - mu) * gradient
        ahead = {name: mu * held[name] + (1 - mu) * gradients[name] if self.nesterov else held[name] for name in held}
        memory = {**memory, "momentum": held}
        if self.newton_schulz_steps is None:
            polar, memory = _polar_factors(ahead, memory, index)
        else:
            polar = {name: newton_schulz(one, self.newton_schulz_steps, self.eps) for name, one in ahead.items()}
        return {name: memory["factor"][name] * polar[name] for name in polar}, memory


def _shape_factor(scaling: str | None, rows: int, columns: int) -> float:
    """Return the factor of a layer's step, computed from the shape of the full layer."""
    if scaling is None:
        return 1.0
    return float(np.sqrt(max(1.0, rows / columns)) if scaling == "original" else 0.2 * np.sqrt(max(rows, columns)))


def _over_length(gradient: Array) -> Array:
    """Return a gradient over its Frobenius norm; zero stays zero."""
    length = jnp.linalg.norm(gradient)
    return gradient / jnp.where(length > 0, length, 1.0)


def _polar_factors(gradients: ByLayer, memory: Remembered, index: Array) -> tuple[ByLayer, Remembered]:
    """Return the polar factor of each, and the memory, which notes when a singular value comes near the cutoff."""
    pairs = {name: polar_factor(gradient) for name, gradient in gradients.items()}
    near = jnp.any(jnp.stack([near_cutoff(values) for _, values in pairs.values()]))
    first = jnp.where(near & (memory["uncertain_from"] == NEVER), index, memory["uncertain_from"])
    return {name: polar for name, (polar, _) in pairs.items()}, {**memory, "uncertain_from": first}
