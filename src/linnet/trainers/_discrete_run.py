"""What all discrete trainers share: their arguments, the run that the loop carries out, the error where it diverged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, flag, none_negative, real_array
from linnet.inits.weights import Weights
from linnet.precision import computing, device_name
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction, check_match
from linnet.reductions.trial_descent import StepSizes
from linnet.trainers import _loop as loop
from linnet.trainers._objective import test_losses, training_objective
from linnet.trainers._start import coordinates_of_run, initial_params, pad_width
from linnet.trainers._states import Objective, Params, StepFunction, layer_names_at_depth
from linnet.trainers.schedules import Rate, Rates, rates_of
from linnet.trainers.stability import stable_learning_rate
from linnet.trainers.stopping import Rule, rule_of
from linnet.trajectories.saving import Saving, policy
from linnet.trajectories.status import DivergedError
from linnet.trajectories.trajectory import Trajectory


@dataclass
class DiscreteRun:
    """A run as a user asks for it: the arguments that all discrete trainers take, with the meaning they have there.

    Steps, `throw` and whether problem and weights fit are checked at once, the rates when they are first read, the
    others by `train`.
    """

    problem: Problem
    weights: Weights
    learning_rate: Rate
    steps: int
    save_every: int | Saving
    stop: Rule | float | None
    dtype: DTypeLike | None
    device: str | None
    throw: bool
    layer_rates: ArrayLike | None
    reduce: bool = False
    keep: str = "weights"

    def __post_init__(self) -> None:
        self.steps, self.throw = count("steps", self.steps, least=0, most=2**62), flag("throw", self.throw)
        check_match(self.problem, self.weights, any_depth=True)

    @property
    def batch(self) -> int | None:
        """Return the number of networks that are trained side by side; None for one."""
        return self.weights.batch or self.problem.batch

    @cached_property
    def rates(self) -> Rates:
        """Return the learning rates, checked."""
        return rates_of(self.learning_rate, self.steps, self.batch)

    def train(
        self,
        trainer: str,
        update: StepFunction,
        *,
        title: str,
        objective: Callable[[Problem, Reduction, np.dtype], Objective] = training_objective,
        linear: bool = True,
        start: Callable[[Params], Params] = lambda params: params,
        hyper: Mapping[str, ArrayLike] = MappingProxyType({}),
        step_sizes: Sequence[StepSizes] | None = None,
        attributes: Mapping[str, object] = MappingProxyType({}),
        optimized: bool = False,
    ) -> Trajectory:
        """Train by `update` and return the trajectory; raise where it diverges, if `throw` asks for that.

        - `trainer`, `title`: its name in a dataset; next to a progress bar, and in errors
        - `objective`: function to descend, made from the problem, the unpadded reduction and the number type; by
          default the loss of the problem
        - `linear`: whether the network is: only then the problem's test losses and stable step size are its own
        - `start(params)`: the layers with what the update carries besides them; it sees a batch as a whole, with an
          axis in front (`_states.Params`)
        - `hyper`: numbers by name, besides the learning rates; with a "momentum" the state carries velocities
        - `step_sizes`: step size of each member of a batch, by which a deep network is reduced; None if not known
        - `attributes`: attributes of the dataset, in addition to the attributes of every trainer
        - `optimized`: compile the loop for longer, for runs of many steps
        """
        rates = self.rates
        decays = bool(hyper.get("weight_decay")) or bool(getattr(update, "decays", False))
        numbers = {**rates.hyper(), **self.rates_by_layer(decays=decays), **hyper}
        reduction = coordinates_of_run(
            self.problem,
            self.weights,
            self.reduce,
            step_sizes=step_sizes,
            reads_weights=bool(getattr(update, "reads_weights", False)),
        )
        with computing(self.dtype, self.device) as run_dtype:
            padded = pad_width(reduction) if self.reduce else reduction
            params = initial_params(padded, run_dtype, velocity=bool(hyper.get("momentum")))
            trajectory = loop.run(
                objective(self.problem, reduction, run_dtype),
                test_losses(padded, run_dtype) if linear else None,
                start(params),
                {name: jnp.asarray(value, run_dtype) for name, value in numbers.items()},
                reduction=reduction,
                plan=loop.Plan(update, rule_of(self.stop), self.keep, optimized=optimized),
                steps=self.steps,
                saving=policy(self.save_every),
                title=title,
                attributes={
                    "trainer": trainer,
                    "learning_rate": rates.to_attribute(),
                    "steps": self.steps,
                    **attributes,
                    "dtype": run_dtype.name,
                    "device": device_name(),
                },
            )
        if self.throw and not trajectory.status.ok:
            raise self._divergence_error(trajectory, title, linear)
        return trajectory

    def rates_by_layer(self, *, decays: bool) -> dict[str, float]:
        """Return the rate of each layer in units of the common one, by its name in the loop; refuse what is not one."""
        if self.layer_rates is None:
            return {}
        depth = self.weights.depth
        each = none_negative("layer_rates", real_array("layer_rates", self.layer_rates, ndim=1))
        if each.size != depth:
            raise ValueError(f"`layer_rates` must be one for each of the {depth} layers: got {each.size}.")
        if decays and self.reduce and depth > 2:
            raise ValueError(
                "`layer_rates` and `weight_decay` do not go together in reduced coordinates at depth 3 and "
                "more, because weights that the data never affect would decay at a different rate in each "
                "layer. Use `reduce=False`."
            )
        return {f"rate_{name}": float(rate) for name, rate in zip(layer_names_at_depth(depth), each, strict=True)}

    def _divergence_error(self, trajectory: Trajectory, title: str, linear: bool) -> DivergedError:
        """Return the error that says where the run diverged and what to do about it."""
        reasons = np.atleast_1d(trajectory.status.reason)
        first = int(np.argmax(reasons == "diverged"))
        step = int(np.atleast_1d(trajectory.status.steps)[first])
        rate = float(np.broadcast_to(self.rates.constant, reasons.shape)[first])
        if self.rates.schedule is not None:
            rate *= float(self.rates.schedule[: max(step, 1)].max())
        who = title if reasons.size == 1 else f"{title} of member {first} of the batch"
        if step == 0:
            return DivergedError(f"{who} cannot begin: the loss of the starting `weights` is not finite.")
        try:
            stable = stable_learning_rate(self.problem, self.weights) if linear else None
        except ValueError:  # no number is: the curvature overflows
            return DivergedError(
                f"{who} diverged at step {step}: `weights` or `problem` are too large for any `learning_rate`. "
                "Give them in other units."
            )
        if stable is not None and rate <= stable and trajectory.attributes.get("dtype") == "float32":
            return DivergedError(
                f"{who} overflowed float32 at step {step}, though a `learning_rate` of {rate:g} is stable: numbers "
                "beyond 3e38, or below 1e-38, appear on the way. Use `dtype` float64, or give `problem` in other units."
            )
        advice = "Use a smaller one." if stable is None else f"A step size of {stable:.3g} or less is stable here."
        return DivergedError(f"{who} diverged at step {step} with a `learning_rate` of {rate:g}. {advice}")
