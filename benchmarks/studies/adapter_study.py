"""In which regime do adapters train? A small transformer learns the source of Python's standard library, byte by byte;
adapters of several ranks, alphas and starts then learn its documentation, under SGD and AdamW, and are watched.

    python benchmarks/studies/adapter_study.py --out study.json [--workers 8] [--small | --quick]
    python benchmarks/studies/adapter_study.py --draw study.json --picture adapter_study.png

The first takes a few minutes on a GPU (`--small`, on two cores, ten; `--quick`, for a look at it, one on one core) and
asks:

- starts: which share of each update A carries, how far the imbalance moves, which modes of the product are above the
  threshold; SGD's rates are such that `Adapter.mode_rate` is one number for all, so that by the theory's clock all
  these runs learn equally fast.
- ranks: how far the curves of ranks 2 and 32 are from that of rank 8, with the scale s in proportion to r^e: e = 0 is
  alpha in proportion to r, -1/2 rank-stabilized, -1 a constant alpha.
- rates: the largest rate (in powers of two) that still learns, by rank and e.

Needs torch, transformers and peft (where nothing can be installed: `pip install --no-deps --target FOLDER peft`
elsewhere, and FOLDER on PYTHONPATH); the picture needs matplotlib.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import platform
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

STARTS = {"default": True, "gaussian": "gaussian", "pissa": "pissa", "orthogonal": "orthogonal"}
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
REFERENCE_RANK, REFERENCE_SCALE = 8, 2.0
ADAM_RATE = 1e-3
READINGS = 30  # of each run


@dataclass(frozen=True)
class Size:
    """How large the model is, how long it trains and what is tried."""

    hidden: int = 128
    layers: int = 2
    batch: int = 32
    length: int = 128
    pretraining: int = 3000
    steps: int = 600
    rate_steps: int = 80
    held_out: int = 64
    speed: float = 0.015  # Adapter.mode_rate of SGD's runs, averaged over the adapters
    ranks: tuple[int, ...] = (4, 16, 64)
    scales: tuple[float, ...] = (0.25, 2.0)
    starts: tuple[str, ...] = tuple(STARTS)
    exponents: tuple[float, ...] = (-1.0, -0.5, 0.0, 0.5)
    other_ranks: tuple[int, ...] = (2, 32)
    rate_ranks: tuple[int, ...] = (4, 16, 64)
    rate_exponents: tuple[float, ...] = (-1.0, -0.5, 0.0)
    factors: tuple[int, ...] = tuple(range(-3, 8))  # powers of two
    seeds: int = 2


QUICK = Size(
    hidden=32,
    layers=2,
    batch=8,
    length=48,
    pretraining=80,
    steps=24,
    rate_steps=8,
    held_out=16,
    ranks=(4,),
    scales=(2.0,),
    exponents=(-0.5, 0.0),
    other_ranks=(2,),
    rate_ranks=(4,),
    rate_exponents=(0.0,),
    factors=(0, 4, 8),
    seeds=1,
)

SMALL = Size(
    hidden=64,
    batch=16,
    length=64,
    pretraining=500,
    steps=150,
    rate_steps=40,
    held_out=32,
    speed=0.03,
    ranks=(4, 32),
    rate_ranks=(4, 32),
    factors=tuple(range(-1, 5)),
)


@dataclass(frozen=True)
class Run:
    """One fine-tuning. `rate` None: that of SGD at which `Adapter.mode_rate` is `Size.speed`."""

    part: str
    optimizer: str
    start: str
    rank: int
    scale: float
    steps: int
    rate: float | None = None
    exponent: float | None = None
    factor: int = 0
    seed: int = 1


def code() -> bytes:
    """What is learned first: the source of the standard library's top modules."""
    return b"\n".join(path.read_bytes() for path in sorted(Path(argparse.__file__).parent.glob("*.py")))


def prose() -> bytes:
    """What the adapters learn: the documentation that `help()` shows."""
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics)).encode()


def batches(data: bytes, steps: int, size: Size, seed: int, device: str) -> Any:
    """Random pieces of a text: (steps, batch, length + 1), one at a time."""
    import torch

    text = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    chooser = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        starts = torch.randint(len(text) - size.length - 1, (size.batch,), generator=chooser)
        rows = text[starts[:, None] + torch.arange(size.length + 1)]
        yield rows.long().to(device)


def loss_of(model: Any, batch: Any) -> Any:
    from torch import nn

    logits = model(input_ids=batch[:, :-1], use_cache=False).logits
    return nn.functional.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())


def transformer(size: Size, device: str) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=size.hidden,
        intermediate_size=2 * size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=2 * size.length,
    )
    return LlamaForCausalLM(config).to(device)


def pretrained(size: Size, device: str) -> tuple[Any, dict[str, float]]:
    """The transformer after its first text, and the loss it has on both."""
    import torch

    model = transformer(size, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, size.pretraining, eta_min=1e-4)
    for batch in batches(code(), size.pretraining, size, seed=0, device=device):
        optimizer.zero_grad()
        loss_of(model, batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    losses = {"code": held_out_loss(model, code(), size, device), "prose": held_out_loss(model, prose(), size, device)}
    return model, losses


def held_out_loss(model: Any, data: bytes, size: Size, device: str) -> float:
    """The loss on pieces drawn once, by a seed that no training uses."""
    import torch

    with torch.no_grad():
        pieces = batches(data, max(1, size.held_out // size.batch), size, seed=10_000, device=device)
        return float(np.mean([loss_of(model, batch).item() for batch in pieces]))


def adapted(base: Any, run: Run) -> Any:
    """The transformer with peft's adapters on all its matrices."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(run.seed)
    settings = LoraConfig(
        r=run.rank, lora_alpha=run.scale * run.rank, target_modules=TARGETS, init_lora_weights=STARTS[run.start]
    )
    return get_peft_model(copy.deepcopy(base), settings)


def checkpoints(steps: int) -> list[int]:
    """Where the held-out loss is taken: four times in each doubling of the steps, and at the end."""
    found = {round(2 ** (k / 4)) for k in range(4 * 20)} | {steps}
    return sorted(step for step in found if step <= steps)


def tune(base: Any, size: Size, run: Run, device: str) -> dict[str, Any]:
    """Trains one set of adapters, watches them, and tells what was seen and what the theory says."""
    import torch

    import linnet as ln

    model = adapted(base, run)
    trained = [p for p in model.parameters() if p.requires_grad]
    unit = ln.lora.read(model, torch.optim.SGD(trained, lr=1.0))
    speed = float(np.mean([adapter.mode_rate() for adapter in unit.values()]))  # of SGD, for a rate of 1
    rate = size.speed / speed if run.rate is None else run.rate
    optimizer = (torch.optim.SGD if run.optimizer == "sgd" else torch.optim.AdamW)(trained, lr=rate)
    starts = list(unit.values())  # one rate for A and B: the imbalance does not depend on it
    marks, text = checkpoints(run.steps), prose()
    told: dict[str, Any] = {"run": asdict(run) | {"rate": rate}, "mode_rate": speed * rate, "steps": [0]}
    told |= {"held_out": [held_out_loss(model, text, size, device)], "diverged": False}
    told |= {name: [] for name in ("watched", "share", "predicted_share", "moved", "active", "effective_rank")}
    every = max(1, run.steps // READINGS)
    with ln.torch.PairMonitor(model, every=every, optimizer=optimizer, heads={}, alignment=False) as monitor:
        for step, batch in enumerate(batches(text, run.steps, size, seed=1, device=device), start=1):
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
            if monitor.step():
                for name, value in (seen(monitor.readings[step], starts) | {"watched": step}).items():
                    told[name].append(value)
            if step in marks:
                told["steps"].append(step)
                told["held_out"].append(held_out_loss(model, text, size, device))
                if not math.isfinite(told["held_out"][-1]) or told["held_out"][-1] > 2 * told["held_out"][0]:
                    told["diverged"] = True
                    break
    return told


def seen(readings: Any, starts: Any) -> dict[str, float]:
    """Medians over the adapters of what was read, and of the share that the initialization's imbalance predicts."""
    rows = []
    for read, start in zip(readings, starts, strict=True):
        values, imbalance = read.singular_values, start.imbalance
        # A A^T and B^T B of a mode are root + and - half of the imbalance, if that is kept; the gradient is taken to
        # have the modes of what it has made so far, in the same proportions (where the product started at zero, by B).
        root = np.hypot(imbalance / 2, values)
        by_first, by_second = (np.linalg.norm(values * (root + sign * imbalance / 2)) for sign in (-1, 1))
        size = np.abs(imbalance).mean() + np.linalg.svd(start.canonical_weights.product, compute_uv=False)[0]
        rows.append(
            {
                "share": read.share_first,
                "predicted_share": by_first / (by_first + by_second) if start.second_is_zero else math.nan,
                "moved": np.abs(read.imbalance - imbalance).mean() / size,
                "active": float((values > start.threshold).mean()),
                "effective_rank": read.effective_rank,
            }
        )
    return {name: float(np.median([row[name] for row in rows])) for name in rows[0]}


def planned(size: Size) -> list[Run]:
    """All runs; SGD's of the parts on ranks have the rate of the reference, which `rate` None gives at rank 8."""
    runs = []
    for start in size.starts:
        for rank in size.ranks:
            for scale in size.scales:
                for optimizer, rate in (("sgd", None), ("adamw", ADAM_RATE)):
                    runs.append(Run("starts", optimizer, start, rank, scale, size.steps, rate))
    for start in ("default", "gaussian"):
        for optimizer, rate in (("sgd", None), ("adamw", ADAM_RATE)):
            for seed in range(1, size.seeds + 1):  # the second says how far apart two draws of A are
                runs.append(
                    Run("reference", optimizer, start, REFERENCE_RANK, REFERENCE_SCALE, size.steps, rate, seed=seed)
                )
    return runs


def planned_ranks(size: Size, rates: dict[tuple[str, str], float]) -> list[Run]:
    """Runs at the rates of the reference of the same optimizer and start."""
    runs = []
    for (optimizer, start), rate in rates.items():
        for exponent in size.exponents:
            for rank in size.other_ranks:
                scale = scaled(rank, exponent)
                runs.append(Run("ranks", optimizer, start, rank, scale, size.steps, rate, exponent))
        if start == "default":
            for exponent in size.rate_exponents:
                for rank in size.rate_ranks:
                    for factor in size.factors:
                        scale, hot = scaled(rank, exponent), rate * 2.0**factor
                        runs.append(Run("rates", optimizer, start, rank, scale, size.rate_steps, hot, exponent, factor))
    return runs


def scaled(rank: int, exponent: float) -> float:
    return REFERENCE_SCALE * (rank / REFERENCE_RANK) ** exponent


def work(task: tuple[list[Run], Size, str, str]) -> list[dict[str, Any]]:
    """The runs of one worker, from the transformer that was saved."""
    import torch

    runs, size, file, device = task
    torch.set_num_threads(1)
    base = transformer(size, device)
    base.load_state_dict(torch.load(file, weights_only=True, map_location=device))
    return [tune(base, size, run, device) for run in runs]


def done(runs: list[Run], size: Size, file: str, device: str, workers: int) -> list[dict[str, Any]]:
    """All runs, dealt out to the workers: the slow and the quick ones alike."""
    hands = [runs[number::workers] for number in range(workers)]
    tasks = [(hand, size, file, device) for hand in hands if hand]
    if workers == 1:
        return work(tasks[0])
    import torch.multiprocessing as multiprocessing

    with multiprocessing.get_context("spawn").Pool(len(tasks)) as pool:
        return [told for part in pool.map(work, tasks) for told in part]


def fall(told: dict[str, Any]) -> float:
    return told["held_out"][0] - told["held_out"][-1]


def steps_to(told: dict[str, Any], loss: float) -> float:
    """Steps until the held-out loss is this low, interpolated; infinite if it never is."""
    losses, steps = np.array(told["held_out"]), np.array(told["steps"], float)
    below = np.flatnonzero(losses <= loss)
    if not below.size:
        return math.inf
    after = int(below[0])
    if after == 0:
        return 0.0
    part = (losses[after - 1] - loss) / (losses[after - 1] - losses[after])
    return float(steps[after - 1] + part * (steps[after] - steps[after - 1]))


def distance(told: dict[str, Any], reference: dict[str, Any]) -> float:
    """The mean size of the difference of two loss curves over the checkpoints, over the reference's fall."""
    if told["diverged"] or reference["diverged"]:
        return math.inf
    return float(np.mean(np.abs(np.subtract(told["held_out"], reference["held_out"]))) / fall(reference))


def of(results: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [told for told in results if all(told["run"][name] == value for name, value in wanted.items())]


def concluded(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The tables of the page, from the runs."""
    references = {
        (r["run"]["optimizer"], r["run"]["start"], r["run"]["seed"]): r for r in of(results, part="reference")
    }
    level = references["sgd", "default", 1]
    half = level["held_out"][0] - fall(level) / 2
    starts = []
    for told in of(results, part="starts"):
        run = told["run"]
        row = {name: run[name] for name in ("optimizer", "start", "rank", "scale", "rate")}
        row |= {"final": told["held_out"][-1], "diverged": told["diverged"], "half_step": steps_to(told, half)}
        for name in ("share", "predicted_share", "moved", "active", "effective_rank"):
            row[name] = told[name][-1]
        miss = np.abs(np.subtract(told["share"], told["predicted_share"]))[1:]  # at the first step both are zero
        known = miss[np.isfinite(miss)]
        starts.append(row | {"share_error": float(known.mean()) if known.size else math.nan})
    ranks = []
    for told in of(results, part="ranks"):
        run = told["run"]
        reference = references[run["optimizer"], run["start"], 1]
        row = {name: run[name] for name in ("optimizer", "start", "rank", "exponent")}
        ranks.append(row | {"distance": distance(told, reference), "final": told["held_out"][-1]})
    draws = {
        f"{optimizer} {start}": distance(references[optimizer, start, 2], references[optimizer, start, 1])
        for optimizer, start, seed in references
        if seed == 2
    }
    rates = []
    for optimizer in ("sgd", "adamw"):
        tried = of(results, part="rates", optimizer=optimizer)
        for rank, exponent in sorted({(t["run"]["rank"], t["run"]["exponent"]) for t in tried}):
            learned = [
                t["run"]["factor"]
                for t in of(tried, rank=rank, exponent=exponent)
                if not t["diverged"] and t["held_out"][-1] < t["held_out"][0]
            ]
            largest = max(learned, default=None)
            edge = largest is None or largest == max(t["run"]["factor"] for t in tried)
            rates.append(
                {"optimizer": optimizer, "rank": rank, "exponent": exponent, "largest": largest, "beyond": edge}
            )
    reference = {
        f"{optimizer} {start}": {
            "half_step": steps_to(told, half),
            "final": told["held_out"][-1],
            "rate": told["run"]["rate"],
        }
        for (optimizer, start, seed), told in references.items()
        if seed == 1
    }
    return {"half": half, "reference": reference, "draws": draws, "starts": starts, "ranks": ranks, "rates": rates}


def study(size: Size, device: str, workers: int) -> dict[str, Any]:
    """Everything: the runs, the tables and where they were made."""
    import torch
    import transformers

    begun = time.perf_counter()
    base, losses = pretrained(size, device)
    print(f"pre-trained in {time.perf_counter() - begun:.0f} s: held-out {losses}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "base.pt")
        torch.save(base.state_dict(), file)
        results = done(planned(size), size, file, device, workers)
        print(f"starts and references after {time.perf_counter() - begun:.0f} s", flush=True)
        rates = {
            (r["run"]["optimizer"], r["run"]["start"]): r["run"]["rate"] for r in of(results, part="reference", seed=1)
        }
        results += done(planned_ranks(size, rates), size, file, device, workers)
    seconds = time.perf_counter() - begun
    name = torch.cuda.get_device_name() if device == "cuda" else platform.machine()
    made = {"device": name, "seconds": seconds, "python": platform.python_version(), "torch": torch.__version__}
    made |= {"transformers": transformers.__version__, "workers": workers}
    count = sum(p.numel() for p in base.parameters())
    return {
        "made": made,
        "size": asdict(size),
        "parameters": count,
        "pretrained": losses,
        "concluded": concluded(results),
        "runs": results,
    }


def draw(told: dict[str, Any], picture: Path) -> None:
    """Four panels: the clock, the share of A, the imbalance, and ranks."""
    from linnet import style

    runs, tables = told["runs"], told["concluded"]
    colors = dict(zip(STARTS, ("#4c6ef5", "#e8590c", "#2b8a3e", "#9c36b5"), strict=True))
    with style.applied():
        figure, axes = style.subplots(2, 2, size=style.column(2, ratio=0.75))
        clock, share, moved, ranks = axes.flat
        labeled: set[str] = set()
        for run in of(runs, part="starts", optimizer="sgd"):
            start = run["run"]["start"]
            clock.plot(
                run["steps"],
                run["held_out"],
                color=colors[start],
                lw=0.9,
                label=None if start in labeled else start,
            )
            labeled.add(start)
            if start in ("default", "gaussian"):
                share.plot(run["predicted_share"][1:], run["share"][1:], ".", ms=3, color=colors[start])
        clock.set(title="SGD at one mode rate", xlabel="step", ylabel="held-out loss", xscale="symlog")
        clock.set_ylim(top=1.05 * clock.lines[0].get_ydata()[0])  # runs that diverge leave the picture
        clock.legend(loc="best")
        share.plot([0, 0.5], [0, 0.5], color=style.GUIDE, lw=0.8)
        share.set(title="share of A, SGD", xlabel="predicted from the initialization's imbalance", ylabel="measured")
        for run in of(runs, part="starts"):
            line = "-" if run["run"]["optimizer"] == "sgd" else "--"
            values = np.maximum(run["moved"], 1e-8)
            moved.plot(run["watched"], values, line, color=colors[run["run"]["start"]], lw=0.8)
        moved.set(title="imbalance: change (dashed: AdamW)", xlabel="step", xscale="log", yscale="log")
        for optimizer, mark in (("sgd", "o-"), ("adamw", "s--")):
            for start in ("default", "gaussian"):
                rows = [row for row in tables["ranks"] if (row["optimizer"], row["start"]) == (optimizer, start)]
                exponents = sorted({row["exponent"] for row in rows})
                worst = [max(row["distance"] for row in rows if row["exponent"] == e) for e in exponents]
                ranks.plot(
                    exponents,
                    np.minimum(worst, 3),
                    mark,
                    color=colors[start],
                    ms=4,
                    lw=1,
                    label=f"{optimizer}, {start}",
                )
        ranks.set(
            title="another rank, s in proportion to r^e", xlabel="e", ylabel="distance of curves / fall", yscale="log"
        )
        ranks.legend(loc="best")
        figure.savefig(picture, dpi=150)


def printed(tables: dict[str, Any]) -> None:
    """The tables of the page, in Markdown."""
    reference = tables["reference"]["sgd default"]
    print(f"The reference, SGD at rank {REFERENCE_RANK}, has half of its fall at step {reference['half_step']:.0f}.\n")
    print("| | start | r | s | loss at the end | half at step | share of A | predicted | imbalance moved | active |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in tables["starts"]:
        predicted = "" if math.isnan(row["predicted_share"]) else f"{row['predicted_share']:.3f}"
        end = "diverged" if row["diverged"] else f"{row['final']:.3f}"
        half = f"{row['half_step']:.0f}" if math.isfinite(row["half_step"]) else "not reached"
        print(
            f"| {row['optimizer']} | {row['start']} | {row['rank']} | {row['scale']:g} | {end} | {half} | "
            f"{row['share']:.3f} | {predicted} | {row['moved']:.1%} | {row['active']:.0%} |"
        )
    exponents = sorted({row["exponent"] for row in tables["ranks"]})
    print("\n| | start | r | " + " | ".join(f"e = {e:g}" for e in exponents) + " | two draws of A |")
    print("|---|---|---|" + "---|" * (len(exponents) + 1))
    for optimizer, start, rank in sorted({(r["optimizer"], r["start"], r["rank"]) for r in tables["ranks"]}):
        rows = [r for r in tables["ranks"] if (r["optimizer"], r["start"], r["rank"]) == (optimizer, start, rank)]
        cells = " | ".join(f"{row['distance']:.2f}" for row in sorted(rows, key=lambda row: row["exponent"]))
        draws = tables["draws"].get(f"{optimizer} {start}", math.nan)
        print(f"| {optimizer} | {start} | {rank} | {cells} | {draws:.2f} |")
    exponents = sorted({row["exponent"] for row in tables["rates"]})
    print("\n| largest rate that learns | r | " + " | ".join(f"e = {e:g}" for e in exponents) + " |")
    print("|---|---|" + "---|" * len(exponents))
    for optimizer, rank in sorted({(r["optimizer"], r["rank"]) for r in tables["rates"]}):
        rows = [r for r in tables["rates"] if (r["optimizer"], r["rank"]) == (optimizer, rank)]
        cells = " | ".join(_power(row) for row in sorted(rows, key=lambda row: row["exponent"]))
        print(f"| {optimizer} | {rank} | {cells} |")


def _power(row: dict[str, Any]) -> str:
    """A rate over the reference's; with a sign where it is an end of what was tried."""
    if row["largest"] is None:
        return "none"
    return f"{'>= ' if row['beyond'] else ''}{2.0 ** row['largest']:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("adapter_study.json"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--steps", type=int, help="steps of each run")
    parser.add_argument("--speed", type=float, help="the mode rate of SGD's runs")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="draw a finished study")
    parser.add_argument("--picture", type=Path, default=Path("adapter_study.png"))
    asked = parser.parse_args()
    if asked.draw is not None:
        told = json.loads(asked.draw.read_text())
        printed(told["concluded"])
        draw(told, asked.picture)
        return
    import torch

    size = QUICK if asked.quick else SMALL if asked.small else Size()
    changes = {"steps": asked.steps, "speed": asked.speed}
    size = replace(size, **{name: value for name, value in changes.items() if value is not None})
    told = study(size, "cuda" if torch.cuda.is_available() else "cpu", asked.workers)
    asked.out.write_text(json.dumps(told))
    printed(told["concluded"])
    print(f"{len(told['runs'])} runs in {told['made']['seconds']:.0f} s on {told['made']['device']}", file=sys.stderr)


if __name__ == "__main__":
    main()
