"""An adapter fine-tuned on a small transformer that this example pre-trains itself, and watched while it learns.

The transformer learns bytes of Python's own `argparse`; the adapter then learns `tarfile`. Needs
linear-networks[lora,figures].
"""

import argparse
import tarfile
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

import linnet as ln


def batches(module, steps, seed, batch=16, length=65):
    """Random pieces of a module's source, as bytes."""
    data = torch.tensor(list(Path(module.__file__).read_bytes()))
    starts = torch.randint(len(data) - length, (steps, batch), generator=torch.Generator().manual_seed(seed))
    for row in starts:
        yield torch.stack([data[start : start + length] for start in row.tolist()])


def loss_of(model, batch):
    logits = model(input_ids=batch[:, :-1]).logits
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def main(pretraining=400, steps=300, picture="watched_adapter.png"):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=128,
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for batch in batches(argparse, pretraining, seed=0):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
    print(f"pre-trained: {loss.item():.2f} nats a byte on argparse")

    model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj", "down_proj"]))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-3, weight_decay=0.0)
    for finding in ln.lora.lint(ln.lora.read(model, optimizer)):
        print(finding)
    losses = []
    with ln.torch.PairMonitor(model, every=10, optimizer=optimizer) as monitor:
        for batch in batches(tarfile, steps, seed=1):
            optimizer.zero_grad()
            loss = loss_of(model, batch)
            loss.backward()
            optimizer.step()
            monitor.step()
            losses.append(loss.item())
    tail = max(len(losses) // 10, 1)
    print(f"fine-tuned: {sum(losses[:tail]) / tail:.2f} -> {sum(losses[-tail:]) / tail:.2f} nats a byte on tarfile")
    data = monitor.to_dataset()
    first, last = data.isel(step=0), data.isel(step=-1)
    shares = [float(reading.share_first.mean()) for reading in (first, last)]
    print(f"share of the update that A carries: {shares[0]:.2f} -> {shares[1]:.2f}")
    print(f"effective rank of the adapters: {float(last.effective_rank.mean()):.1f} of 8")
    monitor.plot().savefig(picture, dpi=150)
    return monitor


if __name__ == "__main__":
    main()
