"""Small models and data for the tests of the PyTorch side."""

import argparse
import copy
import math
from pathlib import Path

import torch
from torch import nn


def text(batch, length, batches, seed=0):
    """Batches of bytes from the standard library's own source: (batches, batch, length)."""
    data = torch.tensor(list(Path(argparse.__file__).read_bytes()))
    chooser = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(data) - length, (batches, batch), generator=chooser)
    return torch.stack([torch.stack([data[s : s + length] for s in row]) for row in starts.tolist()])


def llama(dtype=torch.float64, seed=0):
    """A randomly initialized Llama of two layers on bytes."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
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
    return LlamaForCausalLM(config).to(dtype)


def adapted(base, seed=0, **settings):
    """A copy of `base` with peft's adapters on queries, values and the lower projection."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(seed)
    dtype = next(base.parameters()).dtype
    targets = settings.pop("target_modules", ["q_proj", "v_proj", "down_proj"])
    model = get_peft_model(copy.deepcopy(base), LoraConfig(target_modules=targets, **settings))
    return model.to(dtype)


def loss_of(model, batch):
    """Cross-entropy of the next byte, in the model's own precision (transformers computes its loss in float32)."""
    logits = model(input_ids=batch[:, :-1]).logits
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def losses(model, optimizer, batches, monitor=None):
    """The loss at every step of training on `batches`."""
    found = []
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        if monitor is not None:
            monitor.step()
        found.append(loss.item())
    return found


class Attention(nn.Module):
    """Two heads, written out, with the usual names."""

    def __init__(self, dim=12, heads=2):
        super().__init__()
        self.num_heads, self.head_dim = heads, dim // heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        weights = (q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)).softmax(-1)
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))
