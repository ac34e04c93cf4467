"""Findings about an adapter's settings before it is trained: each one sentence with a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import partly_representable
from linnet.lora.adapter import OPTIMIZERS, Adapter
from linnet.lora.training_arguments import DEFAULT_CLIP

SEVERITIES = ("error", "warning", "note")
_ALGEBRA, _PEFT = "help(linnet.lora.equivalent)", "peft's init_lora_weights"


@dataclass(frozen=True)
class Finding:
    """One finding about an adapter's settings.

    **Attributes:**

    - `rule`: the rule that found it
    - `severity`: `"error"`, `"warning"` or `"note"`
    - `sentence`: text of the finding
    - `number`: measured number on which the finding is based
    - `reference`: source of the derivation
    - `where`: the adapters it is about

    **Example:**

        >>> from linnet.lora import Adapter, lint
        >>> adapter = Adapter(rank=8, alpha=16, optimizer="adamw", learning_rate_a=2e-4)
        >>> all(finding.severity in ("error", "warning", "note") for finding in lint(adapter))
        True
    """

    rule: str
    severity: str
    sentence: str
    number: float
    reference: str = _ALGEBRA
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence} [{self.reference}]"


@partly_representable
def lint(
    adapters: Adapter | Mapping[str, Adapter], *, curvature: ArrayLike | None = None, gradient: float = 0.0
) -> list[Finding]:
    """Check the settings of one adapter, or of all adapters of a model: errors first, then warnings, then notes.

    Run it before training. During training, `ln.torch.PairMonitor` measures what settings cannot determine.

    **Arguments:**

    - `adapters`: one `Adapter`, or all adapters of a model by name, as `lora.read` returns them
    - `curvature`: curvature as in `Adapter.stable_learning_rate`; with it, SGD's rate is compared with the largest
      stable one
    - `gradient`: the norm of the gradient, likewise

    **Returns** a list of `Finding`.

    Findings follow from the settings alone; whether a rank is large enough, or how low the loss will get, does not.

    **Example:**

        >>> from linnet.lora import Adapter, lint
        >>> risky = Adapter(
        ...     rank=8, alpha=16, in_dim=4096, out_dim=4096, init="gaussian", optimizer="adamw", learning_rate_a=2e-4
        ... )
        >>> [(finding.rule, finding.number) for finding in lint(risky) if finding.severity == "warning"]
        [('initialization', 192.0)]
    """
    if not isinstance(adapters, (Adapter, Mapping)):
        raise ValueError(f"`adapters` must be an `Adapter` or a mapping to some: got {type(adapters).__name__}.")
    named = {"": adapters} if isinstance(adapters, Adapter) else dict(adapters)
    merged: dict[tuple[str, str], Finding] = {}
    for name, adapter in named.items():
        if not isinstance(adapter, Adapter):
            raise ValueError(f"`adapters` must be an `Adapter` or a mapping to some: got {type(adapter).__name__}.")
        findings = [finding for rule in LINT_RULES for finding in rule(adapter)]
        if curvature is not None and adapter.optimizer == "sgd":
            findings += _lint_stability(adapter, curvature, gradient)
        for finding in findings:
            key = (finding.rule, finding.sentence)
            where = merged[key].where if key in merged else ()
            merged[key] = replace(finding, where=(*where, name) if name else where)
    return sorted(merged.values(), key=lambda finding: SEVERITIES.index(finding.severity))


def _lint_scale(a: Adapter) -> Iterator[Finding]:
    """Note what alpha does to the learning rate of B."""
    if a.optimizer in OPTIMIZERS:
        factor, words = (a.scale**2, "s²") if a.optimizer == "sgd" else (a.scale, "s")
        rule = "alpha/r" if a.scaling == "standard" else "alpha/sqrt(r)"
        text = (
            f"alpha {a.alpha:g} at rank {a.rank} is s = {rule} = {a.scale:.4g}: under {a.optimizer} it multiplies the "
            f"learning rate of B by {words} = {factor:.4g}, and not the rate of A."
        )
        yield Finding("scale", "note", text, factor)


def _lint_merged(a: Adapter) -> Iterator[Finding]:
    """Warn of an adapter with the settings that peft gave to merged ones."""
    if a.scaling == "rslora" and a.alpha == a.rank and a.rank > 1 and a.weights is not None and not a.second_is_zero:
        text = (
            f"alpha = r = {a.rank} under rsLoRA is s = {a.scale:.4g}. If peft's add_weighted_adapter made this adapter "
            f"before it was fixed, its product is {a.scale:.4g} times too large: set use_rslora to false."
        )
        yield Finding("merged", "warning", text, a.scale, "huggingface/peft#3449")


def _lint_initialization(a: Adapter) -> Iterator[Finding]:
    """Compare the initialization's imbalance with the default's."""
    if a.init == "gaussian" and a.in_dim is not None:
        ratio = 3 * a.in_dim / a.rank**2
        adam = f" (and {np.sqrt(ratio):.4g} times under Adam)" if a.optimizer in ("adam", "adamw") else ""
        text = (
            f"init gaussian at r = {a.rank}, d = {a.in_dim}: {ratio:.4g} times the default's imbalance, so B's first "
            f"steps move the product {ratio:.4g} times as fast under SGD{adam}."
        )
        severity = "warning" if max(ratio, 1 / ratio) > 10 else "note"
        yield Finding("initialization", severity, text, ratio, f"{_PEFT}; {_ALGEBRA}")
    elif a.init == "gaussian":
        text = (
            f"gaussian's imbalance is d/r² = d/{a.rank**2}, not the default's 1/3: give the input dimension to compare."
        )
        yield Finding("initialization", "note", text, a.rank**-2.0, f"{_PEFT}; {_ALGEBRA}")
    if a.init == "orthogonal":
        text = (
            "orthogonal starts A on half of the rank's directions and B on the other half: the product is zero, B is "
            "not, and the imbalance has both signs."
        )
        yield Finding("initialization", "note", text, a.rank / 2, _PEFT)
    if not a.second_is_zero and a.weights is None:
        text = (
            f"{a.init} starts with B(0) not zero: another alpha trains identically only if B(0) is scaled by s/s' as "
            "well."
        )
        yield Finding("start", "note", text, 1.0)


def _lint_plus_ratio(a: Adapter) -> Iterator[Finding]:
    """Note which alpha the LoRA+ ratio amounts to."""
    q = a.plus_ratio
    if a.optimizer in OPTIMIZERS and not np.isclose(q, 1):
        factor = float(q if a.optimizer != "sgd" else np.sqrt(q))
        name = {"sgd": "SGD", "muon": "Muon"}.get(a.optimizer, "Adam")
        text = (
            f"LoRA+ ratio {q:.4g} under {name} is alpha x {factor:.4g}: alpha {a.alpha * factor:.4g} with one rate "
            "trains identically (lora.equivalent has decays and eps)."
        )
        yield Finding("plus_ratio", "note", text, factor, "Hayou et al. 2024, arXiv:2402.12354; " + _ALGEBRA)


def _lint_clipping(a: Adapter) -> Iterator[Finding]:
    """Note what clipping does to an equivalence of alpha and rates."""
    if a.clip is None and a.optimizer in OPTIMIZERS:
        text = (
            "no clipping is assumed, because the settings do not contain it: transformers.Trainer clips them at "
            f"{DEFAULT_CLIP:g} unless `max_grad_norm` is 0."
        )
        yield Finding("clipping", "note", text, DEFAULT_CLIP, "transformers.TrainingArguments")
    elif a.clip:
        text = (
            f"clipping is on (global norm {a.clip:g}): equivalence holds only while no step is clipped, because "
            "the norm contains B's gradient, which alpha rescales."
        )
        yield Finding("clipping", "warning", text, a.clip)


def _lint_decay(a: Adapter) -> Iterator[Finding]:
    """Note what the weight decay of B is on the product."""
    decay = a.weight_decay_b or 0.0
    if decay and a.optimizer in OPTIMIZERS and not np.isclose(a.scale, 1):
        own = decay / (a.scale if a.optimizer in ("adamw", "muon") else a.scale**2)
        text = f"a weight decay of {decay:.4g} on B is {own:.4g} on sB: raising alpha at the same decay weakens it."
        yield Finding("weight_decay", "note", text, own)


def _lint_adam(a: Adapter) -> Iterator[Finding]:
    """Note that Adam and Muon do not conserve the imbalance; warn of an unknown optimizer."""
    if a.optimizer in ("adam", "adamw", "muon"):
        name = "Muon" if a.optimizer == "muon" else "Adam"
        text = (
            f"{name} does not conserve the imbalance, so the initialization does not determine whether this adapter "
            "learns lazily or actively: measure it during the run with ln.torch.PairMonitor."
        )
        try:
            imbalance = float(a.imbalance.mean())
        except ValueError:  # it is not known
            imbalance = float("nan")
        yield Finding(name.lower(), "note", text, imbalance)
    elif a.optimizer is not None and a.optimizer not in OPTIMIZERS:
        known = ", ".join(OPTIMIZERS)
        text = f"no exact result is known for the optimizer {a.optimizer!r}: equivalences hold for {known}."
        yield Finding("optimizer", "warning", text, float("nan"))


def _lint_rank(a: Adapter) -> Iterator[Finding]:
    """Warn of a rank above the matrix's smaller side; refuse an odd one where the initialization needs an even one."""
    least = min((dim for dim in (a.in_dim, a.out_dim) if dim is not None), default=None)
    if least is not None and a.rank > least:
        text = f"rank {a.rank} exceeds the matrix's smaller side, {least}: the product has at most rank {least}."
        yield Finding("rank", "warning", text, a.rank / least, "Hu et al. 2021, arXiv:2106.09685")
    if a.init == "orthogonal" and a.rank % 2:
        yield Finding("rank", "error", f"orthogonal needs an even rank: got {a.rank}.", a.rank, _PEFT)


def _lint_frozen(a: Adapter) -> Iterator[Finding]:
    """Note which factor does not learn."""
    if a.frozen:
        other = "B" if a.frozen == "a" else "A"
        text = f"{a.frozen.upper()} is frozen: only {other} learns, in {a.rank} fixed directions."
        yield Finding("frozen", "note", text, a.rank)


def _lint_stability(a: Adapter, curvature: ArrayLike, gradient: float) -> Iterator[Finding]:
    """Report a learning rate near or above the largest stable one."""
    if a.learning_rate_a is None:
        return
    limit = a.stable_learning_rate(curvature, gradient=gradient)
    share = a.learning_rate_a / limit
    if share > 0.5:
        where = "above" if share > 1 else "within a factor of two of"
        text = f"the learning rate {a.learning_rate_a:.4g} is {where} the largest stable rate at first, {limit:.4g}."
        yield Finding("stability", "error" if share > 1 else "warning", text, share)


LINT_RULES: tuple[Callable[[Adapter], Iterator[Finding]], ...] = (
    _lint_scale,
    _lint_merged,
    _lint_initialization,
    _lint_plus_ratio,
    _lint_clipping,
    _lint_decay,
    _lint_adam,
    _lint_rank,
    _lint_frozen,
)
