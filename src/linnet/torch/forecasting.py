"""The whole training of a model that is two linear layers, before it is trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import nn

from linnet._arguments import count, partly_representable, refuse_infinite
from linnet._memory import check_fits
from linnet._progress import bar
from linnet.forecasts.rates import RateSearch
from linnet.torch._affine_descent import Data, products
from linnet.torch._linear_models import LinearModel, linear_model
from linnet.torch._own_gradient import check_gradient
from linnet.torch._settings import OptimizerSettings, loss_factor, settings_of
from linnet.trajectories.status import DivergedError

if TYPE_CHECKING:
    import xarray as xr

DIVERGENCE_FACTOR = 1e8  # a loss this many times the first one, or that of no output at all, counts as divergence
TRIED = 8  # powers of two that are tried together, for a rate that diverges


@dataclass(frozen=True, eq=False)
class ModelForecast:
    """Result of `forecast`: the run that PyTorch would make, in the units of its loss.

    If the model has a bias, a constant input of ones counts as the last one.

    **Attributes:**

    - `run`: the run in linnet's coordinates
    - `loss`: training loss at every step from 0 on, (step,)
    - `validation_loss`: loss on held-out samples, (step,); None without held-out samples
    - `strengths`: singular values of the cross-covariance of targets and inputs, (mode,)
    - `shares`: fraction of each mode that is learned, from 0 at initialization to 1, (step, mode)

    Computed on demand:

    - `steps`: numbers of the steps, (step,)
    - `best_step`: step with the smallest held-out loss
    - `half_steps`: step at which each mode is half learned, (mode,); NaN if this run does not get there
    - `largest_stable_rate`: largest learning rate of the first layer that does not diverge, with the other rates in
      proportion

    **Example:**

        >>> from linnet.torch import forecast
        >>> import torch
        >>> _ = torch.manual_seed(0)
        >>> model = torch.nn.Sequential(torch.nn.Linear(3, 8, bias=False), torch.nn.Linear(8, 1, bias=False))
        >>> X = torch.randn(20, 3)
        >>> prediction = forecast(model, X, X[:, :1], torch.optim.SGD(model.parameters(), lr=0.1), steps=100)
        >>> prediction.loss.shape, bool(prediction.loss[-1] < prediction.loss[0])
        ((101,), True)
    """

    run: ModelRun = field(repr=False)
    loss: Float[np.ndarray, " step"] = field(repr=False)
    validation_loss: Float[np.ndarray, " step"] | None = field(repr=False)
    strengths: Float[np.ndarray, " mode"] = field(repr=False)
    shares: Float[np.ndarray, "step mode"] = field(repr=False)

    @property
    def steps(self) -> np.ndarray:
        """The steps 0, 1, ... of the forecast, (step,)."""
        return np.arange(len(self.loss))

    @property
    def best_step(self) -> int | None:
        """The step with the smallest held-out loss."""
        return None if self.validation_loss is None else int(np.argmin(self.validation_loss))

    @cached_property
    def half_steps(self) -> Float[np.ndarray, " mode"]:
        """The step at which half of each mode is learned, interpolated linearly between steps; NaN where it is not."""
        steps = np.full(self.shares.shape[1], np.nan)
        for mode, share in enumerate(self.shares.T):
            above = np.flatnonzero(share >= 0.5)
            if above.size:
                i = int(above[0])
                steps[mode] = i if i == 0 else i - 1 + (0.5 - share[i - 1]) / (share[i] - share[i - 1])
        return steps

    @cached_property
    def largest_stable_rate(self) -> float:
        """The largest rate of the first layer that does not diverge, other rates in proportion: found by running."""
        return self.run.settings.rates["first"] * largest_factor(self.run, len(self.loss) - 1)

    def to_dataset(self) -> xr.Dataset:
        """The forecast as a dataset along `step` and `mode`."""
        import xarray as xr

        variables: dict[str, Any] = {
            "loss": ("step", self.loss),
            "shares": (("step", "mode"), self.shares),
            "strengths": ("mode", self.strengths),
            "half_steps": ("mode", self.half_steps),
        }
        if self.validation_loss is not None:
            variables["validation_loss"] = ("step", self.validation_loss)
        return xr.Dataset(variables, {"step": self.steps, "mode": np.arange(1, len(self.strengths) + 1)})

    def __repr__(self) -> str:
        best = "" if self.best_step is None else f", best_step={self.best_step}"
        return f"ModelForecast(steps={len(self.loss) - 1}, loss={self.loss[0]:.4g} -> {self.loss[-1]:.4g}{best})"


@dataclass(frozen=True, eq=False)
class ModelRun:
    """A linear model, how it is trained, and on what: `inputs` (sample, input), with ones last where there is a bias,
    `targets` (sample, output) less what the frozen part explains, with a loss of `factor` times the sum of squares."""

    model: LinearModel
    settings: OptimizerSettings
    inputs: np.ndarray
    targets: np.ndarray
    factor: float

    @cached_property
    def data(self) -> Data:
        """The loss on the samples of this run."""
        return Data.of(self.inputs, self.targets, self.factor)

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """The parameters, the scale of an adapter in its second layer."""
        arrays = {name: p.detach().double().cpu().numpy() for name, p in self.model.parameters.items()}
        return arrays | {"second": self.model.scale * arrays["second"]}

    @property
    def rates(self) -> dict[str, float]:
        """The learning rate of each parameter; the scale in the second layer multiplies its rate by its square."""
        return self.settings.rates | {"second": self.model.scale**2 * self.settings.rates["second"]}

    @property
    def decays(self) -> dict[str, float]:
        """The weight decay of each parameter; the scale in the second layer divides its decay by its square."""
        return self.settings.decays | {"second": self.settings.decays["second"] / self.model.scale**2}


@partly_representable
def forecast(
    model: nn.Module,
    X: torch.Tensor,
    Y: torch.Tensor,
    optimizer: torch.optim.Optimizer,
    steps: int,
    *,
    loss: object = None,
    validation: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> ModelForecast:
    """Compute the run of full-batch SGD for a model that is two linear layers, without training it.

    For a table without a PyTorch model use `ln.diagnose`, and for a problem with weights `ln.forecast`.

    **Arguments:**

    - `model`: two linear layers, with or without biases, alone or after frozen features; or one LoRA adapter at the
      end of frozen features. It is run on `X` and differentiated once to see that this is so, and not changed.
    - `X`, `Y`: training data: inputs as the model takes them, and targets of the shape of its outputs.
    - `optimizer`: `torch.optim.SGD` before its first step, with any rates, decays and momentum, also by groups.
    - `steps`: number of steps.
    - `loss`: `nn.MSELoss()` by default, or with reduction="sum". `validation`: held-out (X, Y).

    **Returns** a `ModelForecast`. It equals PyTorch's own run in float64 to rounding, at any width: the hidden layer
    is first reduced to inputs + outputs. Where the run diverges it raises `DivergedError` and says which rate does
    not.

    **Refused**, with what is not linear about it: Adam and other optimizers, other losses, dropout, nonlinearities,
    other trained parameters, and gradients that hooks or `detach` change.

    **Example:**

        >>> from linnet.torch import forecast
        >>> import torch
        >>> _ = torch.manual_seed(0)
        >>> model = torch.nn.Sequential(torch.nn.Linear(3, 8, bias=False), torch.nn.Linear(8, 1, bias=False)).double()
        >>> X = torch.randn(20, 3, dtype=torch.float64)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> prediction = forecast(model, X, X[:, :1], optimizer, steps=10)
        >>> for _ in range(10):
        ...     optimizer.zero_grad()
        ...     loss = torch.nn.functional.mse_loss(model(X), X[:, :1])
        ...     loss.backward()
        ...     optimizer.step()
        >>> bool(abs(prediction.loss[9] / loss.item() - 1) < 1e-10)  # what PyTorch then does
        True
    """
    total = count("steps", steps)
    inputs = _check_tensor("X", X)
    with torch.random.fork_rng(devices=[inputs.device] if inputs.is_cuda else []):
        linear = linear_model(model, inputs)
        settings = settings_of(optimizer, linear.parameters)
        run = _model_run(linear, settings, Y, "Y", loss)
        check_gradient(model, linear, inputs, _check_tensor("Y", Y), nn.MSELoss() if loss is None else loss)
        held = None
        if validation is not None:
            if not isinstance(validation, (tuple, list)) or len(validation) != 2:
                raise ValueError("`validation` must be a pair of held-out inputs and targets, (X, Y).")
            other = linear_model(model, _check_tensor("validation", validation[0]))
            held = _model_run(other, settings, validation[1], "validation", loss)
    prediction = _train(run, held, total)
    refuse_infinite(prediction.loss, prediction.shares)
    return prediction


def _check_tensor(name: str, value: object) -> torch.Tensor:
    """Return a dense tensor of finite real numbers; refuse any other."""
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"`{name}` must be a tensor as the model takes it: got {type(value).__name__}.")
    if value.is_meta or value.layout != torch.strided or value.is_complex():
        kind = "without values (the meta device)" if value.is_meta else f"of {value.layout} and {value.dtype}"
        raise ValueError(f"`{name}` must be a dense tensor of real numbers: got one {kind}.")
    if value.numel() == 0 or value.ndim == 0:
        raise ValueError(f"`{name}` must have at least one sample and one column: got shape {tuple(value.shape)}.")
    if not torch.isfinite(value).all():
        raise ValueError(f"`{name}` must be finite: it holds NaN or infinities.")
    return value


def _model_run(model: LinearModel, settings: OptimizerSettings, Y: ArrayLike, name: str, loss: object) -> ModelRun:
    """Put a model, how it is trained and its samples together, checked."""
    y = _check_tensor(name, Y)
    if y.dtype == torch.bool:
        raise ValueError(f"`{name}` must be numbers: got truth values. Take `.double()` of them.")
    targets = y.reshape(-1, y.shape[-1]).detach().double().cpu().numpy()
    if targets.shape != model.fixed.shape:
        raise ValueError(
            f"`{name}` must have targets of the shape of the outputs, {model.fixed.shape}: got {tuple(y.shape)}."
        )
    inputs = model.features
    if model.first_bias is not None or model.second_bias is not None:
        inputs = np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1)
    return ModelRun(model, settings, inputs, targets - model.fixed, loss_factor(loss, targets.shape))


def _train(run: ModelRun, held: ModelRun | None, steps: int) -> ModelForecast:
    """Follow the run step by step in reduced coordinates."""
    data = run.data
    check_fits(
        8 * steps * (2 + min(data.targets.shape[1], data.inputs.shape[1])),
        f"what {steps:.3g} steps of a forecast tell",
        "Take fewer `steps`.",
    )
    left, strengths, right = np.linalg.svd(data.targets.T @ data.inputs, full_matrices=False)
    modes = int((strengths > 1e-12 * max(strengths[0], np.finfo(float).tiny)).sum())
    losses, held_losses, residuals = [], [], []
    path = products(run.weights, data, run.rates, run.decays, momentum=run.settings.momentum, steps=steps)
    with bar("forecast", steps) as advance:
        for product in path:
            losses.append(float(data.loss(product)))
            if not losses[-1] <= _ceiling(run, losses[0]):
                raise _divergence_error(run, steps)
            if held is not None:
                held_losses.append(float(held.data.loss(product)))
            residuals.append(((left.T @ data.gradient(product)) * right).sum(axis=1)[:modes])
            advance(1)
    along = np.array(residuals)
    shares = 1 - along / np.where(along[0] == 0, 1.0, along[0])
    held_loss = None if held is None else np.array(held_losses)
    return ModelForecast(run, np.array(losses), held_loss, strengths[:modes] / len(run.targets), shares)


def _ceiling(run: ModelRun, first: float) -> float:
    """Return the loss beyond which a run counts as diverged."""
    return DIVERGENCE_FACTOR * max(first, run.factor * float((run.targets**2).sum()))


def _divergence_error(run: ModelRun, steps: int) -> DivergedError:
    """Return the error of a run that diverges, with the largest rate that does not."""
    rate = run.settings.rates["first"]
    stable = rate * largest_factor(run, steps)
    return DivergedError(
        f"this training diverges within {steps} steps at a learning rate of {rate:g}: the largest that does not "
        f"is {stable:.4g}."
    )


def largest_factor(run: ModelRun, steps: int) -> float:
    """By how much all learning rates can be multiplied before the run diverges, to 0.4%, by trying.

    The boundary may have islands on both sides (`forecasts.StableRate`). Infinity where nothing diverges.
    """
    for start in range(-40, 40, TRIED):
        tried = 2.0 ** np.arange(start, start + TRIED)
        if (wrong := _diverges(run, tried, steps)).any():
            top = float(tried[np.argmax(wrong)])  # the first power of two that diverges, from below
            search = RateSearch(lambda factors: _diverges(run, factors, steps), steps)
            return search.largest_stable(top / 2, top).rate
    return float("inf")


def _diverges(run: ModelRun, factors: np.ndarray, steps: int) -> np.ndarray:
    """Return whether the run diverges with all rates times each of the factors, trained together."""
    wrong = np.zeros(len(factors), dtype=bool)
    highest = None
    with np.errstate(over="ignore", invalid="ignore"):
        for product in products(
            run.weights, run.data, run.rates, run.decays, momentum=run.settings.momentum, steps=steps, factors=factors
        ):
            losses = run.data.loss(product)
            highest = _ceiling(run, float(losses[0])) if highest is None else highest
            wrong |= ~(losses <= highest)
            if wrong.all():
                break
    return wrong
