"""`linnet lora`: a check of an adapter's settings, and the settings that train identically."""

from __future__ import annotations

import math
from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import linnet
from linnet.cli import failures, terminal

if TYPE_CHECKING:
    from linnet.lora import Adapter, Finding

_COLORS = {"error": terminal.BAD, "warning": "yellow", "note": terminal.SOFT}
OPTIMIZERS = {
    "sgd": "SGD",
    "adam": "Adam",
    "adamw": "AdamW",
    "muon": "Muon",
}  # as --optimizer and as `torch.optim` name them
_EPS = {"muon": 1e-7}  # PyTorch's defaults, where they are not 1e-8
_MAX_SHOWN = 8  # adapters, one by one; the others are counted


def lora(
    source: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="File adapter_config.json, or the folder of an adapter.")
    ] = None,
    optimizer: Annotated[
        str | None, typer.Option(help="Optimizer: sgd, adam, adamw or muon.", show_default="adamw")
    ] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of A (and of B).", show_default="0.0002")] = None,
    lora_plus_ratio: Annotated[
        float, typer.Option(help="LoRA+ ratio: learning rate of B divided by the rate of A.")
    ] = 1.0,
    weight_decay: Annotated[float, typer.Option(help="Weight decay of A and B.")] = 0.0,
    momentum: Annotated[float, typer.Option(help="Momentum of SGD.")] = 0.0,
    max_grad_norm: Annotated[
        float | None, typer.Option(help="Global norm at which gradients are clipped; 0 for no clipping.")
    ] = None,
    training_args: Annotated[
        Path | None, typer.Option(help="JSON file of transformers' TrainingArguments; replaces the six options above.")
    ] = None,
    in_dim: Annotated[
        int | None, typer.Option(help="Number of inputs of the frozen matrix; required without weight files.", min=1)
    ] = None,
    out_dim: Annotated[int | None, typer.Option(help="Number of outputs of the frozen matrix.", min=1)] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Another alpha: show the settings with which it trains identically.")
    ] = None,
    rescale_init: Annotated[
        bool, typer.Option("--rescale-init", help="B(0) is not zero, and you will rescale it too.")
    ] = False,
    before: Annotated[
        str | None, typer.Option("--from", help="Settings without a file: alpha=64,r=32,lr=1e-5.")
    ] = None,
    after: Annotated[str | None, typer.Option("--to", help="Changed settings: alpha=32, or r=64.")] = None,
    rank: Annotated[int | None, typer.Option(help="New rank of a trained adapter, smaller or larger.", min=1)] = None,
    out: Annotated[Path | None, typer.Option(help="New folder for the adapter of --rank.")] = None,
) -> None:
    """Check the settings of a LoRA adapter, and show the settings that train identically."""
    from linnet.lora.training_arguments import PICKLE_NAME

    if training_args is not None and (
        optimizer or lr or weight_decay or momentum or max_grad_norm is not None or before or after
    ):
        raise failures.WrongCallError(
            "--training-args has optimizer, rate, decay, momentum and clipping: leave those out."
        )
    optimizer = "adamw" if optimizer is None else optimizer
    if optimizer not in OPTIMIZERS:
        raise failures.WrongCallError(f"--optimizer takes {', '.join(OPTIMIZERS)}: got {optimizer!r}.")
    if not 0 <= momentum < 1:
        raise failures.WrongCallError(f"--momentum takes a number from 0 to below 1: got {momentum}.")
    if alpha is not None and not (0 < alpha < math.inf):
        raise failures.WrongCallError(f"--alpha takes a positive number: got {alpha}.")
    if before is not None or after is not None:
        _print_equivalent_rates(before, after, optimizer, weight_decay, max_grad_norm)
        return
    if source is None:
        raise failures.WrongCallError("lora takes the path of an adapter, or --from and --to.")
    if rank is not None:
        _resize(source, rank, out, alpha)
        return
    options = {"optimizer": optimizer, "learning_rate": 2e-4 if lr is None else lr, "weight_decay": weight_decay}
    options |= {"momentum": momentum, "clip": max_grad_norm, "eps": _EPS.get(optimizer, 1e-8)}
    given = {"training": training_args} if training_args is not None else options
    adapters = linnet.lora.read(source, plus_ratio=lora_plus_ratio, in_dim=in_dim, out_dim=out_dim, **given)
    findings = linnet.lora.lint(adapters)
    terminal.echo(_verdict(adapters, findings), bold=True)
    _print_findings(adapters, findings)
    terminal.echo(f"Adapters ({len(adapters)})", bold=True)
    for name, adapter in list(adapters.items())[:_MAX_SHOWN]:
        terminal.echo_row([name], [terminal.NAME_WIDTH], _adapter_line(adapter))
    if len(adapters) > _MAX_SHOWN:
        terminal.echo(f"  and {len(adapters) - _MAX_SHOWN} more")
    terminal.echo("Training", bold=True)
    terminal.echo("  " + _training_line(next(iter(adapters.values()))))
    if training_args is None and (source / PICKLE_NAME).is_file():
        terminal.echo(
            f"  {PICKLE_NAME} was not read: a pickle can run any program. Its JSON can be given with --training-args."
        )
    if alpha is not None:
        terminal.echo(f"The same training with alpha {alpha:g}", bold=True)
        for text in _equivalent_lines(adapters, alpha, rescale_init):
            terminal.echo("  " + text)


def _verdict(adapters: dict[str, Adapter], findings: list[Finding]) -> str:
    """Say how many errors and warnings there are, and what to do about the first of them."""
    counts = {kind: sum(one.severity == kind for one in findings) for kind in ("error", "warning")}
    first = next(iter(adapters.values()))
    what = f"{len(adapters)} {'adapters' if len(adapters) > 1 else 'adapter'} under {first.optimizer}"
    if not any(counts.values()):
        return f"No errors and no warnings for {what}. The notes explain what the settings do."
    found = " and ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
    advice = "Correct the settings before you train." if counts["error"] else "Read the warnings before you train."
    return f"{found[0].upper()}{found[1:]} for {what}. {advice}"


def _print_findings(adapters: dict[str, Adapter], findings: list[Finding]) -> None:
    """Print the findings about the adapters, and about which of them unless a finding is about all."""
    terminal.echo("Findings", bold=True)
    for finding in findings:
        others, about = len(finding.where) - 1, ""
        if 0 <= others < len(adapters) - 1:
            about = f" ({finding.where[0]}{f' and {others} more' * bool(others)})"
        text = f"{finding.sentence}{about} [{finding.reference}]"
        terminal.echo_row([finding.severity], [7], text, _COLORS[finding.severity])


def _print_equivalent_rates(
    before: str | None, after: str | None, optimizer: str, weight_decay: float, clip: float | None
) -> None:
    """Print what a change of alpha or r (--from, --to) does to the rates; of alpha, the optimizer's groups as code."""
    old = _parse_settings("--from", before, {"alpha", "r", "lr"})
    new = _parse_settings("--to", after, set(), optional={"alpha", "r"})
    if not float(old["r"]).is_integer() or not float(new.get("r", 1)).is_integer():
        raise failures.WrongCallError("r takes a whole number.")
    plain = linnet.lora.Adapter(
        rank=int(old["r"]),
        alpha=old["alpha"],
        optimizer=optimizer,
        learning_rate_a=old["lr"],
        weight_decay_a=weight_decay,
        eps_a=_EPS.get(optimizer, 1e-8),
        clip=clip,
    )
    if new.get("r", old["r"]) != old["r"]:
        _print_matched_alphas(plain, int(new["r"]), new.get("alpha"))
        return
    if "alpha" not in new:
        raise failures.WrongCallError(f"--to takes alpha=... or r=..., another than in --from: got {after!r}.")
    same = linnet.lora.equivalent(plain, alpha=new["alpha"])
    groups = same.groups
    name = OPTIMIZERS[optimizer]
    changed = {"lr": "rate", "weight_decay": "weight decay", "eps": "eps"}
    parts = [
        f"{changed[key]} by {value / groups['A'][key]:.6g}" for key, value in groups["B"].items() if groups["A"][key]
    ]
    terminal.echo(
        f"alpha {old['alpha']:g} -> {new['alpha']:g} under {name} ({same.label}): multiply B's {', its '.join(parts)}. "
        "Keep all settings of A."
    )
    for letter in "AB":
        options = ", ".join(f'"{key}": {value:.6g}' for key, value in groups[letter].items())
        opening = f"torch.optim.{name}([" if letter == "A" else " " * len(f"torch.optim.{name}([")
        terminal.echo(f'  {opening}{{"params": {letter.lower()}, {options}}}' + (", " if letter == "A" else "])"))
    for condition in same.conditions:
        terminal.echo(f"  if {condition}")


def _print_matched_alphas(plain: Adapter, rank: int, alpha: float | None) -> None:
    """Print what an adapter of another rank can share with this one, and with which alpha."""
    terminal.echo(
        f"r {plain.rank} -> {rank}: no learning rates make the two train identically, because they are different "
        "models. At the same rates and peft's default initialization, these values of alpha keep one quantity the same:"
    )
    by = {what: linnet.lora.matched_alpha(plain, rank, what) for what in ("kernel", "time_per_step", "adam")}
    words = {
        "kernel": "the initial kernel s^2 A^T A, and so the first steps of SGD (like rank-stabilized scaling)",
        "time_per_step": "the time per step and the threshold of SGD; its first steps are {times:.4g} times as large",
        "adam": "the size of the first steps of Adam (a constant alpha)",
    }
    fits = {"sgd": "kernel", "muon": ""}.get(plain.optimizer or "", "adam")
    for what, text in words.items():
        note = f"  <- for {plain.optimizer}" if what == fits else ""
        terminal.echo(f"  alpha {by[what]:<8.6g} {text.format(times=rank / plain.rank)}{note}")
    if alpha is not None and fits:
        times = (alpha / by[fits]) ** (2 if fits == "kernel" else 1)
        terminal.echo(
            f"  alpha {alpha:<8.6g} makes the first steps {times:.4g} times as large under {plain.optimizer}."
        )


def _resize(source: Path, rank: int, out: Path | None, alpha: float | None) -> None:
    """Compress or grow a trained adapter into a new folder, and print what is kept of it."""
    if out is None:
        raise failures.WrongCallError("--rank takes --out, a folder for the adapter of the new rank.")
    made = linnet.lora.resize_folder(source, rank, out, alpha=alpha)
    terminal.echo(f"Adapters of rank {rank} ({len(made)}), written to {out}", bold=True)
    for name, resized in list(made.items())[:_MAX_SHOWN]:
        terminal.echo_row(
            [name],
            [terminal.NAME_WIDTH],
            f"keeps {resized.kept:.4%} of s B A, loses {resized.error:.3g} (Frobenius norm)",
        )
    if len(made) > _MAX_SHOWN:
        least = min(one.kept for one in made.values())
        terminal.echo(f"  and {len(made) - _MAX_SHOWN} more; at worst {least:.4%} kept")
    for condition in next(iter(made.values())).conditions:
        terminal.echo(f"  {condition}")


def _parse_settings(
    option: str, text: str | None, needed: set[str], optional: Set[str] = frozenset()
) -> dict[str, float]:
    """Parse settings written as name=number, with commas; refuse unknown and missing names."""
    try:
        given = {name.strip(): float(value) for name, value in (part.split("=") for part in (text or "").split(","))}
    except ValueError:
        given = {}
    if not needed <= set(given) <= needed | optional or any(not 0 < value < math.inf for value in given.values()):
        example = ",".join(f"{name}=..." for name in sorted(needed or optional))
        raise failures.WrongCallError(f"{option} takes {example} with positive numbers: got {text!r}.")
    return given


def _training_line(adapter: Adapter) -> str:
    """Say which optimizer, rates and clipping are taken to train the adapters."""
    clip = {None: "clipping unknown, so none is assumed", 0.0: "gradients not clipped"}
    parts = [
        f"{adapter.optimizer}, learning rate {adapter.learning_rate_a:g} of A and {adapter.learning_rate_b:g} of B",
        f"weight decay {adapter.weight_decay_a:g}",
        *([f"momentum {adapter.momentum:g}"] if adapter.optimizer == "sgd" else [f"eps {adapter.eps_a:g}"]),
        clip.get(adapter.clip, f"gradients clipped at the global norm {adapter.clip}"),
    ]
    return ", ".join(parts)


def _adapter_line(adapter: Adapter) -> str:
    """Say what one adapter is: its size, rank and scale, and where they are known imbalance, threshold and time per
    step."""
    size = "" if adapter.in_dim is None else f"{adapter.in_dim} -> {adapter.out_dim or '?'}, "
    parts = [f"{size}rank {adapter.rank}, s = {adapter.scale:.4g}, {adapter.init}"]
    try:
        values = adapter.imbalance
        spread = (
            f"{values.mean():.4g}"
            if values.max() - values.min() < 1e-9
            else f"{values.min():.4g} .. {values.max():.4g}"
        )
        parts.append(f"imbalance {spread}" + ("" if adapter.weights is not None else " (expected)"))
        if adapter.optimizer == "sgd":
            parts.append(f"threshold {adapter.threshold.mean():.4g}")
    except ValueError as reason:
        parts.append(f"imbalance unknown: {reason}")
    if adapter.optimizer == "sgd":
        parts.append(f"time per step {adapter.time_per_step:.4g}")
    return "; ".join(parts)


def _equivalent_lines(adapters: dict[str, Adapter], alpha: float, rescale_init: bool) -> list[str]:
    """Return the settings of B with which the adapters train identically at this alpha, once for each kind of adapter.

    The answer for a saved adapter is about its initialization; a condition names what continuing from it needs.
    """
    lines_shown: list[str] = []
    for adapter in adapters.values():
        try:
            settings = linnet.lora.equivalent(adapter.with_(weights=None), alpha=alpha, rescale_init=rescale_init)
        except ValueError as reason:
            lines = [f"none: {str(reason).replace('`rescale_init=True`', '`--rescale-init`')}"]
        else:
            options = [f"{key} {value:.6g}" for key, value in settings.groups["B"].items()]
            lines = [f"rank {adapter.rank} ({settings.label}): B with {', '.join(options)}; A unchanged"]
            lines += [f"  if {condition}" for condition in settings.conditions]
            if adapter.weights is not None and adapter.weights.second.any():
                lines.append(
                    f"  if B is multiplied by {settings.start_factor:.6g}, to continue training from these weights"
                )
        lines_shown += [line for line in lines if line not in lines_shown]
    return lines_shown
