"""Random pairs of adapter settings that `lora.equivalent` declares the same, trained on a small random Llama: how far
are the loss curves apart, and how far apart are they by the folk rules?

The model is in float64, but transformers computes norms and softmax in float32, and training amplifies what is rounded
there: the last lines show by how much, with one and the same settings. The rates drawn are such that it is little.

    python benchmarks/equivalent_adapters.py [--pairs 20] [--steps 150]
"""

import argparse
import copy
import math
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

import linnet as ln

OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def text(steps, batch=4, length=33, seed=0):
    """Batches of bytes from the standard library's own source."""
    data = torch.tensor(list(Path(argparse.__file__).read_bytes()))
    starts = torch.randint(len(data) - length, (steps, batch), generator=torch.Generator().manual_seed(seed))
    return torch.stack([torch.stack([data[s : s + length] for s in row]) for row in starts.tolist()])


def llama():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        attn_implementation="eager",
        initializer_range=0.1,
    )
    return LlamaForCausalLM(config).double()


def train(base, adapter, batches, dora=False, nudge=0.0):
    """The loss at every step with these settings."""
    torch.manual_seed(1)
    settings = LoraConfig(
        r=adapter.rank,
        lora_alpha=adapter.alpha,
        use_rslora=adapter.scaling == "rslora",
        use_dora=dora,
        target_modules=["q_proj", "v_proj", "down_proj"],
    )
    model = get_peft_model(copy.deepcopy(base), settings).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_A" in name:
                parameter.mul_(1 + nudge)
    optimizer = OPTIMIZERS[adapter.optimizer](ln.torch.parameter_groups(model, adapter))
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        logits = model(input_ids=batch[:, :-1]).logits
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def drawn(rng, optimizer, eps):
    """An adapter and what is asked of its equivalent: another alpha, another scaling, or another ratio of the rates."""
    rank = int(rng.choice([2, 4, 8]))
    rate = 0.05 if optimizer == "sgd" else 2e-3
    adapter = ln.lora.Adapter(
        rank=rank,
        alpha=float(rank * 2 ** rng.uniform(-1, 0.5)),
        scaling="standard",
        optimizer=optimizer,
        eps_a=eps,
        learning_rate_a=rate,
        learning_rate_b=rate * 2 ** rng.uniform(-1, 1),
        momentum=0.9 if optimizer == "sgd" else 0.0,
        weight_decay_a=float(rng.choice([0.0, 1e-3])),
    )
    factor = float(2 ** rng.uniform(2, 3.5)) ** rng.choice([-1, 1])
    kind = rng.choice(["alpha", "alpha", "plus_ratio"])
    if kind == "alpha":
        return adapter, {"alpha": adapter.alpha * factor, "scaling": str(rng.choice(["standard", "rslora"]))}
    return adapter, {"plus_ratio": adapter.plus_ratio * factor ** (2 if optimizer == "sgd" else 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--dora", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    base, batches = llama(), text(asked.steps)
    for optimizer, eps, scaled in (("sgd", 1e-8, True), ("adam", 1e-16, False), ("adamw", 1e-8, True)):
        rng = np.random.default_rng(0)
        exact, folk_same, folk_scaled, fall = [], [], [], []
        for _ in range(asked.pairs):
            adapter, change = drawn(rng, optimizer, eps)
            other = ln.lora.equivalent(adapter, **change).adapter
            if not scaled:
                other = other.with_(eps_b=eps)
            wanted = train(base, adapter, batches, asked.dora)
            exact.append(np.abs(train(base, other, batches, asked.dora) - wanted).max())
            rates = adapter.learning_rate_a, adapter.learning_rate_b
            same = other.with_(
                learning_rate_a=rates[0], learning_rate_b=rates[1], weight_decay_b=adapter.weight_decay_b
            )
            c = adapter.scale / other.scale
            both = same.with_(learning_rate_a=rates[0] * c, learning_rate_b=rates[1] * c)
            for found, settings in ((folk_same, same), (folk_scaled, both)):
                gap = np.abs(train(base, settings, batches, asked.dora) - wanted).max()
                found.append(gap if math.isfinite(gap) else math.inf)
            fall.append(wanted[:10].mean() - wanted[-10:].mean())
        note = " scaled for B" if scaled and optimizer != "sgd" else ""
        print(
            f"{optimizer:6s} eps {eps:g}{note}, {asked.pairs} pairs, {asked.steps} steps: "
            f"equivalent within {max(exact):.1e} (median {np.median(exact):.1e}); same rates off by "
            f"{min(folk_same):.2g} to {max(folk_same):.2g}; rates times s/s' off by {min(folk_scaled):.2g} to "
            f"{max(folk_scaled):.2g}; the loss falls by {np.median(fall):.2f} (median)",
            flush=True,
        )
    for name, rates in (("such rates", (0.05, 0.05)), ("larger rates", (0.15, 0.5))):
        settings = ln.lora.Adapter(
            rank=4, alpha=7, optimizer="sgd", learning_rate_a=rates[0], learning_rate_b=rates[1], momentum=0.9
        )
        moved = train(base, settings, batches, nudge=1e-12) - train(base, settings, batches)
        print(f"one setting at {name}, A(0) moved by 1e-12 of itself: off by {np.abs(moved).max():.1e}")


if __name__ == "__main__":
    main()
