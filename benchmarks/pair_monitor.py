"""What watching costs: a step of a model of 100 million parameters with adapters, with and without a monitor that
reads every 10 steps; and, since it has many more pairs, the same for all attention heads of the model trained in full.

    python benchmarks/pair_monitor.py [--batch 4] [--length 256] [--readings 3]
"""

import argparse
import time

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

import linnet as ln


def llama(device):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=16_000,
        hidden_size=768,
        intermediate_size=2048,
        num_hidden_layers=12,
        num_attention_heads=12,
        num_key_value_heads=12,
        max_position_embeddings=1024,
    )
    return LlamaForCausalLM(config).to(device)


def seconds(work, device):
    begun = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begun


def ten_steps(monitor):
    """What watching adds to ten steps: one copy of the factors, one reading, and its numbers for a logger."""
    for _ in range(10):
        monitor.step()
    return monitor.scalars


def measure(name, model, device, asked, **options):
    """Steps without and with readings, in the same run; the monitor's own share of ten steps is printed."""
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    ids = torch.randint(16_000, (asked.batch, asked.length), device=device)

    def step():
        optimizer.zero_grad()
        logits = model(input_ids=ids[:, :-1]).logits
        nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten()).backward()
        optimizer.step()

    with ln.torch.PairMonitor(model, every=10, optimizer=optimizer, **options) as monitor:
        step()
        monitor.step()
        steps = [seconds(step, device) for _ in range(asked.readings)]
        watched = []
        for _ in range(asked.readings):
            watched.append(seconds(lambda: ten_steps(monitor), device))
    share = np.median(watched) / (10 * np.median(steps))
    count = sum(p.numel() for p in model.parameters()) / 1e6
    print(
        f"{name}: {count:.0f} million parameters, {len(monitor.pairs)} pairs, {asked.batch} x {asked.length} tokens on "
        f"{device}: a step takes {np.median(steps):.3f} s, watching ten steps {np.median(watched):.4f} s: "
        f"{100 * share:.2f}% of the time",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--readings", type=int, default=3)
    asked = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    adapted = get_peft_model(llama(device), LoraConfig(r=8, lora_alpha=16, target_modules=targets))
    measure("adapters of rank 8", adapted, device, asked)
    measure("all heads", llama(device), device, asked, alignment=False)


if __name__ == "__main__":
    main()
