"""`linnet lora`: what an adapter's settings mean, which other settings are the same, and what is worth knowing."""

from __future__ import annotations

import math
from collections.abc import Set
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import linnet
from linnet.cli import failures, terminal

if TYPE_CHECKING:
    from linnet.lora import Adapter

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
        Path | None, typer.Argument(metavar="PATH", help="An adapter_config.json, or the folder of an adapter.")
    ] = None,
    optimizer: Annotated[str | None, typer.Option(help="sgd, adam, adamw or muon.", show_default="adamw")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of A (and of B).", show_default="0.0002")] = None,
    lora_plus_ratio: Annotated[float, typer.Option(help="LoRA+: B's rate over A's.")] = 1.0,
    weight_decay: Annotated[float, typer.Option(help="Weight decay of both.")] = 0.0,
    momentum: Annotated[float, typer.Option(help="SGD's momentum.")] = 0.0,
    max_grad_norm: Annotated[
        float | None, typer.Option(help="Largest global norm of the gradients; 0: not clipped.")
    ] = None,
    training_args: Annotated[
        Path | None, typer.Option(help="JSON of transformers' TrainingArguments, in place of the six options above.")
    ] = None,
    in_dim: Annotated[
        int | None, typer.Option(help="Number of inputs of the frozen matrix; required without weight files.", min=1)
    ] = None,
    out_dim: Annotated[int | None, typer.Option(help="Outputs of the frozen matrix.", min=1)] = None,
    alpha: Annotated[float | None, typer.Option(help="Show what trains identically with this alpha.")] = None,
    rescale_init: Annotated[bool, typer.Option("--rescale-init", help="B(0), if not zero, is scaled along.")] = False,
    before: Annotated[str | None, typer.Option("--from", help="Settings, no file: alpha=64,r=32,lr=1e-5.")] = None,
    after: Annotated[str | None, typer.Option("--to", help="What changes: alpha=32, or r=64.")] = None,
    rank: Annotated[int | None, typer.Option(help="Compress or grow a trained adapter to this rank.", min=1)] = None,
    out: Annotated[Path | None, typer.Option(help="Where the adapter of --rank is written: a new folder.")] = None,
) -> None:
    """Show what an adapter's settings mean, and findings about them."""
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
        _print_equivalent(before, after, optimizer, weight_decay, max_grad_norm)
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
    _print_findings(adapters)


def _print_findings(adapters: dict[str, Adapter]) -> None:
    """Print what is worth knowing about the adapters, and about which of them unless it is about all."""
    terminal.echo("Findings", bold=True)
    for finding in linnet.lora.lint(adapters):
        others, about = len(finding.where) - 1, ""
        if 0 <= others < len(adapters) - 1:
            about = f" ({finding.where[0]}{f' and {others} more' * bool(others)})"
        text = f"{finding.sentence}{about} [{finding.reference}]"
        terminal.echo_row([finding.severity], [7], text, _COLORS[finding.severity])


def _print_equivalent(
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
        f"{changed[key]} times {value / groups['A'][key]:.6g}" for key, value in groups["B"].items() if groups["A"][key]
    ]
    terminal.echo(
        f"alpha {old['alpha']:g} -> {new['alpha']:g} under {name} ({same.label}): B's {', its '.join(parts)}; all of "
        "A's stay."
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
        f"r {plain.rank} -> {rank}: no rates make them train alike, they are different models. At the same rates, from "
        "peft's default start, there stays with"
    )
    by = {what: linnet.lora.matched_alpha(plain, rank, what) for what in ("kernel", "time_per_step", "adam")}
    words = {
        "kernel": "the starting kernel s^2 A^T A, hence SGD's first steps (as rank-stabilized scaling does)",
        "time_per_step": "SGD's clock and threshold, not its first steps: they are {times:.4g} times as large",
        "adam": "the size of Adam's first steps (a constant alpha)",
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
    clip = {None: "clipping not said, so none is assumed", 0.0: "not clipped"}
    parts = [
        f"{adapter.optimizer}, learning rate {adapter.learning_rate_a:g} of A and {adapter.learning_rate_b:g} of B",
        f"weight decay {adapter.weight_decay_a:g}",
        *([f"momentum {adapter.momentum:g}"] if adapter.optimizer == "sgd" else [f"eps {adapter.eps_a:g}"]),
        clip.get(adapter.clip, f"clipped at the global norm {adapter.clip}"),
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
        parts.append(f"imbalance {spread}" + ("" if adapter.weights is not None else " by its law"))
        if adapter.optimizer == "sgd":
            parts.append(f"threshold {adapter.threshold.mean():.4g}")
    except ValueError as reason:
        parts.append(f"imbalance unknown: {reason}")
    if adapter.optimizer == "sgd":
        parts.append(f"time per step {adapter.time_per_step:.4g}")
    return "; ".join(parts)


def _equivalent_lines(adapters: dict[str, Adapter], alpha: float, rescale_init: bool) -> list[str]:
    """Say with which settings of B the adapters train identically at this alpha, once for each kind of adapter.

    A saved adapter is answered as it began, by its initialization; what else a training from its weights needs is said.
    """
    lines_shown: list[str] = []
    for adapter in adapters.values():
        try:
            settings = linnet.lora.equivalent(adapter.with_(weights=None), alpha=alpha, rescale_init=rescale_init)
        except ValueError as reason:
            lines = [f"none: {str(reason).replace('`rescale_init=True`', '`--rescale-init`')}"]
        else:
            options = [f"{key} {value:.6g}" for key, value in settings.groups["B"].items()]
            lines = [f"rank {adapter.rank} ({settings.label}): B with {', '.join(options)}; A as it is"]
            lines += [f"  if {condition}" for condition in settings.conditions]
            if adapter.weights is not None and adapter.weights.second.any():
                lines.append(f"  if B is multiplied by {settings.start_factor:.6g}, should training go on from here")
        lines_shown += [line for line in lines if line not in lines_shown]
    return lines_shown
