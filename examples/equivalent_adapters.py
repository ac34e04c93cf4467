"""Two adapters with other alpha, learning rates and decays that train identically, and two that people think do.

LoRA+ with ratio 16 is plain LoRA with alpha times 16 under Adam. Needs linear-networks[lora,figures].
"""

import argparse
import copy
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

import linnet as ln


def train(base, adapter, batches):
    """The loss at every step of a copy of `base` with this adapter."""
    torch.manual_seed(1)  # the same A(0) for all
    settings = LoraConfig(r=adapter.rank, lora_alpha=adapter.alpha, target_modules=["q_proj", "v_proj", "down_proj"])
    model = get_peft_model(copy.deepcopy(base), settings)
    optimizer = torch.optim.AdamW(ln.torch.parameter_groups(model, adapter))
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        logits = model(input_ids=batch[:, :-1]).logits
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def main(steps=150, picture="equivalent_adapters.png"):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        initializer_range=0.1,
    )
    base = LlamaForCausalLM(config)
    data = torch.tensor(list(Path(argparse.__file__).read_bytes()))
    starts = torch.randint(len(data) - 33, (steps, 8), generator=torch.Generator().manual_seed(0))
    batches = [torch.stack([data[s : s + 33] for s in row]) for row in starts.tolist()]

    plus = ln.lora.Adapter(
        rank=8, alpha=8, optimizer="adamw", learning_rate_a=5e-4, learning_rate_b=8e-3, weight_decay_a=0.1
    )
    found = ln.lora.equivalent(plus, plus_ratio=1.0)
    print(f"alpha {plus.alpha:g} with LoRA+ ratio {plus.plus_ratio:g} is alpha {found.adapter.alpha:g} with")
    print(found.groups)
    for condition in found.conditions:
        print(f"  if {condition}")
    plain = plus.with_(learning_rate_b=5e-4)
    curves = {
        f"alpha 8, LoRA+ ratio {plus.plus_ratio:g}": train(base, plus, batches),
        f"alpha {found.adapter.alpha:g}, one rate: equivalent": train(base, found.adapter, batches),
        "alpha 8, one rate": train(base, plain, batches),
        "alpha 8, one rate, 16 times as large": train(
            base, plain.with_(learning_rate_a=8e-3, learning_rate_b=8e-3), batches
        ),
    }
    wanted = curves[f"alpha 8, LoRA+ ratio {plus.plus_ratio:g}"]
    for name, curve in curves.items():
        print(f"{name}: differs by at most {np.abs(curve - wanted).max():.1e}")

    with ln.style.applied():
        figure, axes = ln.style.subplots(1, 2, size=ln.style.column(2, ratio=0.42))
        looks = (ln.style.TRAINING, ln.style.THEORY, ln.style.ALONE, ln.style.ALONE)
        colors = (ln.style.BLUE, ln.style.BLACK, ln.style.ORANGE, ln.style.GREEN)
        for (name, curve), look, color in zip(curves.items(), looks, colors, strict=True):
            smooth = np.convolve(curve, np.ones(5) / 5, mode="valid")
            axes[0].plot(smooth, color=color, label=name, **look)
            axes[1].semilogy(np.maximum(np.abs(curve - wanted), 1e-9), color=color, **look)
        axes[0].set(xlabel="step", ylabel="loss (mean of 5 steps)")
        axes[1].set(xlabel="step", ylabel="distance from the first", ylim=(3e-10, 3))
        axes[1].text(steps / 2, 2e-9, "zero (drawn at $10^{-9}$)", ha="center", va="bottom", fontsize=7)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        figure.savefig(picture, dpi=150)
    return curves


if __name__ == "__main__":
    main()
