"""Other settings with which an adapter trains identically."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linnet._arguments import flag, of_kind, positive, refuse_infinite, representable
from linnet.lora.adapter import OPTIMIZERS, SCALINGS, Adapter
from linnet.lora.training_arguments import DEFAULT_CLIP

IDENTITY = "identity"
RULE = "scaling rule, not identity"


@dataclass(frozen=True, eq=False)
class Equivalence:
    """Settings that train exactly as a given adapter does, and the conditions for that.

    **Attributes:**

    - `adapter`: the new settings, rates, decays and Adam's epsilon of A and of B included.
    - `label`: "identity" where training is the same step by step in exact arithmetic; "scaling rule, not identity"
      otherwise.
    - `start_factor`: B(0) of the new run is this times B(0) of the old one (matters only where B(0) is not zero).
    - `conditions`: sentences that must hold.

    **Example:**

        >>> from linnet.lora import Adapter, equivalent
        >>> plain = Adapter(rank=8, alpha=16, optimizer="adamw", learning_rate_a=1e-4)
        >>> settings = equivalent(plain, alpha=32)
        >>> settings.label, settings.adapter.learning_rate_b
        ('identity', 5e-05)
    """

    adapter: Adapter
    label: str
    start_factor: float
    conditions: tuple[str, ...]

    @property
    def groups(self) -> dict[str, dict[str, float]]:
        """Options of the optimizer's parameter groups of A and of B, in PyTorch's names."""
        a = self.adapter
        groups: dict[str, dict[str, float]] = {}
        for name, rate, decay, eps in (
            ("A", a.learning_rate_a, a.weight_decay_a, a.eps_a),
            ("B", a.learning_rate_b, a.weight_decay_b, a.eps_b),
        ):
            assert rate is not None and decay is not None and eps is not None  # set by `equivalent`
            groups[name] = {"lr": rate, "weight_decay": decay} | ({} if a.optimizer == "sgd" else {"eps": eps})
        return groups


@representable
def equivalent(
    adapter: Adapter,
    *,
    alpha: float | None = None,
    scaling: str | None = None,
    plus_ratio: float | None = None,
    rank: int | None = None,
    rescale_init: bool = False,
) -> Equivalence:
    r"""Return the learning rates and decays with which another alpha, scaling or LoRA+ ratio trains identically.

    There is no equivalent for another rank; `matched_alpha` then keeps one quantity the same.

    With $B' = sB$ the pair $(A, B')$ is a network without a scale, and s acts only on how B is optimized. For the
    change $s \to s'$, $c = s/s'$:

    | optimizer | $\eta_B$ | weight decay of B | $\epsilon$ of B | $B(0)$ |
    |---|---|---|---|---|
    | SGD, any momentum | $c^2 \eta_B$ | $\lambda/c^2$ | | $c B(0)$ |
    | Adam (decay in the gradient) | $c\,\eta_B$ | $\lambda/c^2$ | $\epsilon/c$ | $c B(0)$ |
    | AdamW, Muon | $c\,\eta_B$ | $\lambda/c$ | $\epsilon/c$ | $c B(0)$ |

    A's settings stay. This holds in any network, for any loss, with dropout and any schedule that multiplies both
    rates.

    **Arguments:**

    - `adapter`: an `Adapter` with its optimizer and rates
    - `alpha`: wanted, to which rates are found
    - `scaling`: wanted, `"standard"` or `"rslora"`, to which rates are found
    - `plus_ratio`: the ratio $\eta_B/\eta_A$ wanted, to which an alpha is found (with `scaling`, under that rule)
    - `rank`: another rank, which raises `ValueError`: it has no equivalent
    - `rescale_init`: promise that B(0), if it is not zero, is scaled too

    **Returns** an `Equivalence`.

    **Not supported**, because there is no equivalent: another `rank`, an initialization with B(0) not zero that is not
    scaled too, and optimizers other than SGD, Adam, AdamW and Muon. With clipping by the global norm the result is
    labeled a scaling rule; if the adapter does not know whether gradients are clipped (`clip` None), "not clipped" is
    one of the conditions. DoRA is no exception: its norms see only $sBA$, and its magnitudes keep their own rate.

    **Reference:** own result, derived on the page on adapters of the documentation. LoRA+ with ratio q under Adam is
    plain LoRA with alpha times q (Hayou et al. 2024 present it as a separate method).

    **Example:**

        >>> from linnet.lora import Adapter, equivalent
        >>> plain = Adapter(rank=8, alpha=16, optimizer="adam", learning_rate_a=1e-4, learning_rate_b=16e-4)
        >>> equivalent(plain, plus_ratio=1.0).adapter.alpha
        256.0
    """
    of_kind("adapter", adapter, Adapter, "`lora.Adapter(...)` or `lora.read`")
    _refuse_inequivalent(adapter, rank, flag("rescale_init", rescale_init))
    if (alpha is None and scaling is None and plus_ratio is None) or (alpha is not None and plus_ratio is not None):
        raise ValueError(
            "`alpha`, `scaling` or `plus_ratio` says what is wanted: give alpha, or scaling, or a ratio (with scaling, "
            "but not with alpha, which already fixes the rates)."
        )
    rule = adapter.scaling if scaling is None else scaling
    if rule not in SCALINGS:
        raise ValueError(f"`scaling` must be one of {SCALINGS}: got {scaling!r}.")
    power = 2 if adapter.optimizer == "sgd" else 1
    if plus_ratio is not None:
        c = (positive("plus_ratio", plus_ratio) / adapter.plus_ratio) ** (1 / power)
        divisor = adapter.rank if rule == "standard" else float(np.sqrt(adapter.rank))
        new = adapter.with_(alpha=adapter.scale / c * divisor, scaling=rule)
    else:
        new = adapter.with_(alpha=adapter.alpha if alpha is None else positive("alpha", alpha), scaling=rule)
        c = adapter.scale / new.scale
    rate, decay, eps = adapter.learning_rate_b, adapter.weight_decay_b, adapter.eps_b
    assert (
        rate is not None and decay is not None and eps is not None
    )  # checked by `_refuse_inequivalent`; set by Adapter
    changes: dict[str, Any] = {
        "learning_rate_b": rate * c**power,
        "weight_decay_b": decay / (c if adapter.optimizer in ("adamw", "muon") else c**2),
    }
    if adapter.optimizer != "sgd":
        changes["eps_b"] = eps / c
    refuse_infinite(*changes.values(), 0.0 if changes["learning_rate_b"] > 0 else np.inf)
    if adapter.weights is not None:
        changes["weights"] = type(adapter.weights)(adapter.weights.first, c * adapter.weights.second)
    return Equivalence(new.with_(**changes), RULE if adapter.clip else IDENTITY, c, _conditions(adapter, c))


def _refuse_inequivalent(adapter: Adapter, rank: int | None, rescale_init: bool) -> None:
    """Refuse what no rates make equivalent."""
    if rank is not None:
        raise ValueError(
            f"`rank` cannot be changed: an adapter of rank {rank} is another model than one of rank {adapter.rank}, "
            "and no rates make them train alike. `lora.matched_alpha` says what can be matched, `lora.resized` "
            "changes a trained one."
        )
    if adapter.optimizer not in OPTIMIZERS:
        raise ValueError(
            f"`optimizer` must be one of {OPTIMIZERS} for an exact equivalence: got {adapter.optimizer!r}."
        )
    if adapter.learning_rate_a is None:
        raise ValueError("`learning_rate_a` is needed for an equivalence: give it with the adapter.")
    if not adapter.second_is_zero and not rescale_init:
        what = (
            f"`init` {adapter.init!r} starts with B(0)"
            if adapter.weights is None
            else "`weights` begin with a B that is"
        )
        raise ValueError(
            f"{what} not zero: the equivalence holds only if B(0) is multiplied by "
            "s/s', which no library does by itself. Do so, and say it with `rescale_init=True`."
        )


def _conditions(adapter: Adapter, c: float) -> tuple[str, ...]:
    """List what must hold besides for the trainings to be equal."""
    conditions = ["A starts from the same numbers (the same seed), and data and dropout masks come in the same order"]
    conditions.append("a schedule multiplies the rates of A and of B by the same factor")
    if adapter.optimizer != "sgd" and adapter.eps_b is not None:
        conditions.append(
            f"the group of B has eps {adapter.eps_b / c:.3g}; with one eps for all, it holds to first order in "
            "eps over the size of the gradients"
        )
    if adapter.weight_decay_b:
        conditions.append("the weight decay of B is set in its parameter group")
    if not adapter.second_is_zero:
        conditions.append(f"B(0) is multiplied by {c:.6g}, and the frozen matrix is the same")
    if adapter.dora:
        conditions.append("DoRA's magnitudes keep their rate and decay")
    if adapter.clip:
        conditions.append(
            f"no step is clipped: the global norm that is cut at {adapter.clip:g} contains B's gradient, which "
            "changes by 1/c"
        )
    elif adapter.clip is None:
        conditions.append(
            "gradients are not clipped, which the settings do not contain: transformers.Trainer clips them at "
            f"{DEFAULT_CLIP:g} unless `max_grad_norm` is 0"
        )
    if np.log2(c) != np.round(np.log2(c)):
        conditions.append("rounding differs (it would not if s/s' were a power of two)")
    return tuple(conditions)
