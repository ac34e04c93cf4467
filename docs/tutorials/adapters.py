# %% [markdown]
# # Adapters
#
# A LoRA adapter adds $s\,B A$ to a frozen matrix. A and B are two linear layers, one after the other, whatever network surrounds them, so some questions about them have exact answers. This page needs no PyTorch: it
# reads a configuration, and shows what its settings mean.
#
# ## Reading one
#
# From an `adapter_config.json`, from a folder with weights, or (with PyTorch) from a peft model and its optimizer.

# %%
import json
from pathlib import Path

import numpy as np

import linnet as ln

Path("adapter_config.json").write_text(
    json.dumps(
        {
            "peft_type": "LORA",
            "r": 8,
            "lora_alpha": 16,
            "target_modules": ["q_proj", "v_proj"],
            "init_lora_weights": "gaussian",
            "lora_dropout": 0.05,
        }
    )
)
adapters = ln.lora.read("adapter_config.json", optimizer="adamw", learning_rate=2e-4, in_dim=4096, out_dim=4096)
for name, adapter in adapters.items():
    print(name, "| rank", adapter.rank, "| scale", adapter.scale, "| LoRA+ ratio", adapter.plus_ratio)

# %% [markdown]
# ## What is worth knowing before training
#
# `lint` lists what follows from the settings, each as one sentence with a number. It does not recommend a rank.

# %%
for finding in ln.lora.lint(adapters):
    print(finding, end="\n\n")

# %% [markdown]
# On the command line this is `linnet lora adapter_config.json --optimizer adamw --lr 2e-4`.
#
# ## What alpha does
#
# Put $B' = sB$: then s is gone from the network, and has gone into how B is optimized. So for another alpha there are rates, decays and an epsilon of B with which training is **the same, step by step**. LoRA+ with ratio 16, for example, is plain LoRA with
# alpha times 16:

# %%
adapter = ln.lora.Adapter(
    rank=8, alpha=8, optimizer="adamw", learning_rate_a=5e-4, learning_rate_b=8e-3, weight_decay_a=0.1
)
same = ln.lora.equivalent(adapter, plus_ratio=1.0)
print("alpha", same.adapter.alpha, "|", same.label)
for layer, options in same.groups.items():
    print(layer, options)

# %% [markdown]
# ## Trying it
#
# A claim of that kind is checked in a few lines: a small regression, an adapter of rank 4 under SGD, alpha 4 and alpha 32 with the rates that `equivalent` gives, and with the two rules that one hears.


# %%
def losses(alpha, rate_a, rate_b, steps=300):
    random = np.random.default_rng(1)
    target, A, B = random.normal(size=(12, 20)) / 5, random.normal(size=(4, 20)) / np.sqrt(60), np.zeros((12, 4))
    scale, found = alpha / 4, []
    for _ in range(steps):
        residual = scale * B @ A - target
        found.append(0.5 * np.sum(residual**2))
        A, B = A - rate_a * scale * B.T @ residual, B - rate_b * scale * residual @ A.T
    return np.array(found)


small = ln.lora.Adapter(rank=4, alpha=4, optimizer="sgd", learning_rate_a=0.05)
large = ln.lora.equivalent(small, alpha=32)
rates = large.groups["A"]["lr"], large.groups["B"]["lr"]
runs = {
    "alpha 4": losses(4, 0.05, 0.05),
    "alpha 32, equivalent": losses(32, *rates),
    "alpha 32, same rates": losses(32, 0.05, 0.05),
    "alpha 32, rates divided by 8": losses(32, 0.05 / 8, 0.05 / 8),
}
print("equivalent rates:", rates)
print(f"largest difference of the loss: {np.abs(runs['alpha 4'] - runs['alpha 32, equivalent']).max():.1e}")

# %% Alpha 4 and its equivalent at alpha 32 are one run; the two rules that one hears are others
from linnet import style

with style.applied():
    picture, axis = style.subplots(size=style.column(1.7, ratio=0.48))
    for (name, loss), color, line in zip(
        runs.items(), (style.BLUE, style.BLACK, style.ORANGE, style.GREEN), ("-", "--", "-", "-")
    ):
        axis.plot(
            loss,
            color=color,
            linestyle=line,
            linewidth=2.6 if name == "alpha 4" else 1.4,
            alpha=0.5 if name == "alpha 4" else 1,
            label=name,
        )
    axis.set(xlabel="step", ylabel="loss", yscale="log")
    axis.legend()
picture

# %% [markdown]
# ## Lazy or active?
#
# Under SGD the pair is a two-layer network with a clock and a conserved imbalance, whose half is the threshold: modes of $sBA$ below it are learned lazily, above it actively. peft's initializations
# differ in it by orders of magnitude.

# %%
for init in ("default", "gaussian", "eva", "pissa"):
    adapter = ln.lora.Adapter(
        rank=8, alpha=16, in_dim=4096, out_dim=4096, init=init, optimizer="sgd", learning_rate_a=1e-3
    )
    print(f"{init:10s} threshold {adapter.threshold.max():8.3f}")

# %% [markdown]
# Adam does not conserve the imbalance, so this section does not apply to Adam (an error explains it). Measure instead.
#
# ## With PyTorch
#
# `ln.torch.PairMonitor` watches the pairs of any model while it trains, `ln.torch.forecast` predicts the whole run of a linear model ([guide](../adapters.md)). These pictures were made by
# `examples/equivalent_adapters.py` and `examples/watched_adapter.py` on a small Llama:
#
# ![Two equivalent adapters on a small Llama: their losses lie on each other](../images/equivalent_adapters.png)
#
# ![A watched adapter: fraction of the update, imbalance, singular values and alignment over the steps](../images/watched_adapter.png)
