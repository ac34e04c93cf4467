"""Watching pairs of linear layers while a model trains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from linnet._arguments import count, flag
from linnet.torch._readings import Reading, readings
from linnet.torch._stacks import Stack, stacks_of
from linnet.torch.pairs import Pair, find_pairs, fitting_layers

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class PairMonitor:
    """Reads every pair of linear layers of a model while it trains, from r x r Gram matrices only.

    **Arguments:**

    - `model`: module to watch.
    - `pairs`, `heads`, `max_width`: choice of the pairs, as in `find_pairs`.
    - `every`: steps between readings; the first step is always read.
    - `optimizer`: optimizer, whose rates enter the imbalance and the alignment; without it both factors count as
      trained at one rate. It must hold a parameter of every pair.
    - `alignment`: whether to keep the initialization and the first gradient of every pair (two copies of their
      parameters).

    Each reading holds, per pair, what `linnet.torch._readings.Reading` says. Works under any optimizer, with autocast,
    gradient scaling and accumulation, with frozen and tied parameters, and on a GPU, where a reading waits for the
    device once. Parameters that it cannot read (sharded or packed, or pairs wider than `max_width`) are named in
    `unseen`. Hooks are on the parameters only until the first gradient is there, and never after the context.

    **Example:**

        >>> from linnet.torch import PairMonitor
        >>> import torch
        >>> _ = torch.manual_seed(0)
        >>> model = torch.nn.Sequential(torch.nn.Linear(4, 6, bias=False), torch.nn.Linear(6, 2, bias=False))
        >>> X, optimizer = torch.randn(10, 4), torch.optim.SGD(model.parameters(), lr=0.1)
        >>> with PairMonitor(model, optimizer=optimizer, every=1) as monitor:
        ...     for _ in range(3):
        ...         optimizer.zero_grad()
        ...         (model(X) - X[:, :2]).pow(2).mean().backward()
        ...         optimizer.step()
        ...         _ = monitor.step()
        >>> monitor.to_dataset().sizes["step"]
        3
    """

    def __init__(
        self,
        model: nn.Module,
        pairs: str | Iterable[tuple[str, str]] = "auto",
        every: int = 10,
        *,
        optimizer: object = None,
        heads: Mapping[str, Sequence[tuple[str, str]]] | None = None,
        max_width: int = 512,
        alignment: bool = True,
    ) -> None:
        self.every = count("every", every)
        self.pairs, self.unseen = find_pairs(model, pairs, heads=heads, max_width=max_width)
        if not self.pairs:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self.unseen.items())
            raise ValueError(
                f"`model` must hold a pair of linear layers that is trained: found none. {reasons}"
                f"{_how_to_name_pairs(model)}"
            )
        self._optimizer: Any = None
        self.optimizer = optimizer
        self.steps = 0
        self.readings: dict[int, list[Reading]] = {}
        self._alignment = flag("alignment", alignment)
        self._parameters = {id(p): p for pair in self.pairs for p in (pair.first, pair.second)}
        self._stacks: list[Stack] = []
        self._by_width: dict[int, np.ndarray] = {}  # numbers of the pairs of each width, in order
        self._gradients: dict[int, torch.Tensor] = {}
        self._handles: list[Any] = []
        self._open = False

    def __enter__(self) -> PairMonitor:
        if self._open:
            raise RuntimeError("this monitor is already watching: one context at a time.")
        self._open = True
        self._stacks = stacks_of(self.pairs)
        widths = np.array([pair.width for pair in self.pairs])
        self._by_width = {int(width): np.flatnonzero(widths == width) for width in np.unique(widths)}
        if self._alignment:
            for stack in self._stacks:
                stack.start = stack.now()
            self._listen_to_gradients()
        self._keep_before()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_listening()
        self._stacks = []
        self._open = False

    def step(self) -> bool:
        """To be called after each `optimizer.step()`: reads if it is time, and says whether it did."""
        if not self._open:
            raise RuntimeError("the monitor is not watching: call `step` inside `with PairMonitor(...) as monitor:`.")
        self.steps += 1
        if self._handles and self._gradients:
            for stack in self._stacks:
                stack.keep_gradient(self._gradients)
            self._stop_listening()
        due = self._is_due(self.steps)
        if due:
            self.readings[self.steps] = self._read_pairs()
        for stack in self._stacks:
            stack.before = None
        if self._is_due(self.steps + 1):
            self._keep_before()
        return due

    @property
    def optimizer(self) -> Any:
        """Whose rates enter the imbalance and the alignment; it must hold a parameter of every pair."""
        return self._optimizer

    @optimizer.setter
    def optimizer(self, optimizer: object) -> None:
        if optimizer is not None:
            if not hasattr(optimizer, "param_groups"):
                raise ValueError(f"`optimizer` must be a PyTorch optimizer: got {type(optimizer).__name__}.")
            held = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
            lacking = [pair.name for pair in self.pairs if not {id(pair.first), id(pair.second)} & held]
            if lacking:
                raise ValueError(
                    f"`optimizer` must train the pairs: it holds no parameter of {len(lacking)} of {len(self.pairs)}, "
                    f"such as {lacking[0]!r}. Make it from this model's parameters, after adapters are added, or name "
                    "with `pairs` what it trains."
                )
        self._optimizer = optimizer

    @property
    def summary(self) -> dict[str, float]:
        """The latest reading in six numbers over all pairs: medians of shares, effective ranks and alignments, and the
        extremes of the rest, as `pairs/<what>`; NaN where no pair has one."""
        if not self.readings:
            return {}
        reads = [read.scalars for read in self.readings[max(self.readings)]]
        measures = {"max": np.max, "min": np.min}
        return {
            f"pairs/{name}": _nan_safe(measures.get(name[-3:], np.median), [read[name] for read in reads])
            for name in reads[0]
        }

    @property
    def scalars(self) -> dict[str, float]:
        """The latest reading as flat names and numbers, for any logger: `summary`, and `pairs/<name>/<what>`."""
        if not self.readings:
            return {}
        summary = self.summary
        for pair, read in zip(self.pairs, self.readings[max(self.readings)], strict=True):
            summary |= {f"pairs/{pair.name}/{name}": value for name, value in read.scalars.items()}
        return summary

    def to_dataset(self) -> xr.Dataset:
        """Everything read, with dimensions `step`, `pair` and `mode` (NaN where a pair has fewer modes)."""
        from linnet.torch._watched import dataset

        return dataset(self.pairs, self.readings, self.unseen)

    def plot(self, pairs: Iterable[str] | None = None) -> Figure:
        """A picture of the readings: singular values, imbalance, shares, effective rank and alignment by step."""
        from linnet.torch._watched import picture

        return picture(self.to_dataset(), pairs)

    def for_transformers(self) -> Any:
        """A callback for `transformers.Trainer(callbacks=[...])`: watches training and adds the scalars to its logs."""
        from linnet.torch._callbacks import transformers_callback

        return transformers_callback(self)

    def for_lightning(self) -> Any:
        """A callback for `lightning.Trainer(callbacks=[...])`: watches the training and logs the scalars."""
        from linnet.torch._callbacks import lightning_callback

        return lightning_callback(self)

    def __repr__(self) -> str:
        kinds = Counter(pair.kind for pair in self.pairs)
        parts = [", ".join(f"{count} {kind}" for kind, count in kinds.items()), f"every={self.every}"]
        if self.readings:
            now = self.summary
            parts.append(f"read {len(self.readings)} times until step {max(self.readings)}")
            parts.append(f"share_first {now['pairs/share_first']:.2g}")
        else:
            parts.append("not read yet")
        parts += ["without an optimizer's rates"] * (self.optimizer is None) + [f"{len(self.unseen)} unseen"]
        return f"PairMonitor({'; '.join(parts)})"

    def _is_due(self, step: int) -> bool:
        """Return whether this step is read."""
        return step == 1 or step % self.every == 0

    def _keep_before(self) -> None:
        """Keep the weights as they are before the next step."""
        for stack in self._stacks:
            stack.before = stack.now()

    def _listen_to_gradients(self) -> None:
        """Keeps each parameter's gradient as it accumulates: the last before the first step is the first gradient."""

        def hook(parameter: torch.Tensor) -> None:
            if parameter.grad is not None:
                self._gradients[id(parameter)] = parameter.grad.detach().clone()

        for parameter in self._parameters.values():
            if parameter.requires_grad:
                self._handles.append(parameter.register_post_accumulate_grad_hook(hook))

    def _stop_listening(self) -> None:
        """Remove the hooks on gradients."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._gradients = [], {}

    @torch.no_grad()
    def _read_pairs(self) -> list[Reading]:
        """All pairs: products where the weights are, one transfer for each device, the rest in NumPy by width."""
        products = self._products()
        if not all(np.isfinite(side["gg"]).all() for sides in products.values() for side in sides if "gg" in side):
            self._start_again()
        rates, result = self._current_rates(), dict[int, Reading]()
        for width, (first, second) in products.items():
            members = self._by_width[width]
            scales = np.array([self.pairs[number].scale for number in members])
            ratios = np.array([self._rate_ratio(self.pairs[number], rates) for number in members])
            result |= dict(zip(members.tolist(), readings(first, second, scales, ratios), strict=True))
        return [result[number] for number in range(len(self.pairs))]

    def _products(self) -> dict[int, tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
        """Products (pair, hidden, hidden) of first and of second factors, by width, pairs in order."""
        made: dict[torch.device, list[tuple[Stack, str, torch.Tensor]]] = {}
        for stack in self._stacks:
            with torch.autocast(stack.device.type, enabled=False):
                made.setdefault(stack.device, []).extend((stack, *product) for product in stack.products().items())
        products: dict[int, tuple[dict[str, np.ndarray], dict[str, np.ndarray]]] = {
            width: ({}, {}) for width in self._by_width
        }
        for parts in made.values():
            flat, at = torch.cat([product.reshape(-1) for _, _, product in parts]).cpu().numpy(), 0
            for stack, name, product in parts:
                block, width = flat[at : at + product.numel()].reshape(product.shape), product.shape[-1]
                at += product.numel()
                for side, into in enumerate(products[width]):
                    ours = stack.sides == side
                    shape = (self._by_width[width].size, width, width)
                    place = np.searchsorted(self._by_width[width], stack.numbers[ours])
                    into.setdefault(name, np.empty(shape))[place] = block[ours]
        return products

    def _start_again(self) -> None:
        """The first gradient was not finite (a gradient scaler skips such a step): wait for the next one."""
        for stack in self._stacks:
            stack.gradient = None
        self._stop_listening()
        self._listen_to_gradients()

    def _current_rates(self) -> dict[int, float]:
        """The learning rate of each parameter now."""
        groups = [] if self.optimizer is None else self.optimizer.param_groups
        return {id(parameter): float(group["lr"]) for group in groups for parameter in group["params"]}

    def _rate_ratio(self, pair: Pair, rates: Mapping[int, float]) -> float:
        """The second factor's learning rate over the first's; 1 where one of them has none."""
        first, second = rates.get(id(pair.first), 0.0), rates.get(id(pair.second), 0.0)
        return second / first if first > 0 and second > 0 else 1.0


def _how_to_name_pairs(model: nn.Module) -> str:
    """How to name pairs that were not found by themselves; empty where there can be none."""
    near = fitting_layers(model)[:4]
    if not near:
        return ""
    return f"If a layer takes only the output of the one before it, name them: pairs={near}."


def _nan_safe(measure: Callable[[np.ndarray], Any], values: Iterable[float]) -> float:
    """A measure of the numbers among the values; NaN if there are none."""
    numbers = np.array([value for value in values if np.isfinite(value)])
    return float(measure(numbers)) if numbers.size else float("nan")
