"""Another rank: what can be matched before training, and trained adapters compressed or grown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linnet._arguments import count, of_kind, path_of, positive, representable, shown
from linnet._files import whole_folder, write_whole
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.inits.weights import Weights
from linnet.lora import _initializations as initializations
from linnet.lora._safetensors import read_tensors, write_tensors
from linnet.lora.adapter import Adapter
from linnet.lora.reading import CONFIG, TENSORS, configuration, read

# What stays when the rank changes, as powers of s, r and of the eigenvalue g of A A^T at initialization: s^a r^b g^c.
MATCHES = {
    "kernel": (2.0, 1.0, 1.0),
    "time_per_step": (1.0, 0.0, 0.0),
    "threshold": (1.0, 0.0, 1.0),
    "adam": (1.0, 1.0, 0.5),
}
LARGEST_WEIGHT = float(np.finfo(np.float32).max)  # in which adapters are saved
STATE_IS_LOST = "the optimizer starts anew: what it remembers (momentum, Adam's moments) belongs to the old factors"


@representable
def matched_alpha(adapter: Adapter, rank: int, what: str = "kernel") -> float:
    r"""Return the alpha for another rank that leaves one quantity of the adapter unchanged, such as its first steps.

    Adapters of different rank are different models, so nothing makes them equal. We recommend `"adam"` under Adam and
    `"kernel"` under SGD.

    With $g$ the eigenvalue of $AA^T$ at initialization (1/3 by default, $d/r^2$ for "gaussian") these stay the same:

    | `what` | | by default, alpha in proportion to |
    |---|---|---|
    | "kernel" | $s^2 r g$: the mean of $s^2 A^T A$, hence SGD's first steps | $\sqrt r$ (as rsLoRA) |
    | "time_per_step" | $s$: the canonical time of one step | $r$ ("alpha = 2r") |
    | "threshold" | $s g$: the modes that SGD learns lazily | $r$ |
    | "adam" | $s r \sqrt g$: the product after Adam's first step, $\pm\eta$ in each entry of B | 1 (constant) |

    **Arguments:**

    - `adapter`: adapter whose rank, alpha, scaling and init are used; B must start at zero
    - `rank`: the other rank
    - `what`: "kernel", "time_per_step", "threshold" or "adam"

    **Returns** alpha, under the adapter's own `scaling`. Whole runs still differ:
    `benchmarks/studies/adapter_study.py` measures by how much.

    **Example:**

        >>> from linnet.lora import Adapter, matched_alpha
        >>> adapter = Adapter(rank=16, alpha=32)
        >>> [matched_alpha(adapter, 256, what) for what in ("kernel", "time_per_step", "adam")]
        [128.0, 512.0, 32.0]
    """
    of_kind("adapter", adapter, Adapter, "`lora.Adapter(...)` or `lora.read`")
    rank = count("rank", rank)
    if not isinstance(what, str) or what not in MATCHES:
        raise ValueError(f"`what` must be one of {tuple(MATCHES)}: got {shown(what)}.")
    if not initializations.second_is_zero(adapter.init):
        raise ValueError(f"`adapter` must start with B at zero, by a law that is known: its init is {adapter.init!r}.")
    ratio = rank / adapter.rank
    g = ratio**-2.0 if adapter.init == "gaussian" else 1.0
    a, b, c = MATCHES[what]
    scale = adapter.scale * (ratio**b * g**c) ** (-1 / a)
    return float(scale * (rank if adapter.scaling == "standard" else np.sqrt(rank)))


@dataclass(frozen=True, eq=False)
class Resized:
    """A trained adapter at another rank.

    **Attributes:**

    - `adapter`: the new one, with its weights: balanced, $A A^T = B^T B$, but for directions that were added
    - `error`: Frobenius norm of the lost part of $sBA$; zero if the rank grows
    - `kept`: fraction of the squared norm that is kept
    - `conditions`: conditions to know before training continues

    **Example:**

        >>> import numpy as np
        >>> from linnet import Weights
        >>> from linnet.lora import Adapter, resized
        >>> pair = Weights(np.diag([2.0, 1.0]), np.diag([2.0, 1.0]))
        >>> small = resized(Adapter(rank=2, alpha=2, weights=pair), 1)
        >>> round(small.error, 6), round(small.kept, 4)
        (1.0, 0.9412)
    """

    adapter: Adapter
    error: float
    kept: float
    conditions: tuple[str, ...]


@representable
def resized(adapter: Adapter, rank: int, *, alpha: float | None = None, key: Key = 0) -> Resized:
    r"""Compress or grow a trained adapter to another rank: the nearest product of that rank, in balanced factors.

    To resize a saved adapter, `resize_folder` reads and writes the files.

    $$ sBA = U S V^T, \qquad A' = (S/s')^{1/2} V^T, \quad B' = U (S/s')^{1/2}, $$

    cut to the largest `rank` modes. Where the new rank exceeds the product's, rows of $A'$ are drawn as peft's default
    draws them and columns of $B'$ are zero: the product stays, and the new directions can learn (with both zero they
    never would).

    **Arguments:**

    - `adapter`: adapter with its weights
    - `rank`: the new one
    - `alpha`: the new one; without it, that which keeps s
    - `key`: a seed or a JAX key for rows that are added

    **Returns** a `Resized`.

    **Valid** for any adapter without DoRA, whose magnitudes would need the frozen matrix. By Eckart and Young no
    adapter of this rank is nearer in $sBA$; whether the loss minds is for the data to say.

    **Example:**

        >>> import numpy as np
        >>> from linnet import Weights
        >>> from linnet.lora import Adapter, resized
        >>> adapter = Adapter(rank=1, alpha=1, weights=Weights(np.ones((1, 3)), np.ones((2, 1))))
        >>> grown = resized(adapter, 2).adapter
        >>> bool(np.allclose(grown.scale * grown.weights.product, adapter.weights.product))
        True
    """
    of_kind("adapter", adapter, Adapter, "`lora.read`")
    rank = count("rank", rank)
    if adapter.weights is None:
        raise ValueError("`adapter` must have its weights: read it from a model, or from a folder with its weights.")
    if adapter.dora:
        raise ValueError("`adapter` must be without DoRA: its magnitudes depend on the frozen matrix too.")
    divisor = rank if adapter.scaling == "standard" else float(np.sqrt(rank))
    new_alpha = adapter.scale * divisor if alpha is None else positive("alpha", alpha)
    left, values, right = _product_modes(adapter)
    modes = min(rank, int((values > values.max(initial=0.0) * np.finfo(float).eps * max(left.shape)).sum()))
    total = float((values**2).sum())
    error = float(np.sqrt((values[modes:] ** 2).sum())) if modes < values.size else 0.0
    root = np.sqrt(values[:modes] * divisor / new_alpha)
    if not (root < LARGEST_WEIGHT).all():
        raise ValueError(
            f"`alpha` must be such that the new weights are numbers of float32: {new_alpha:g} is too small."
        )
    check_fits(16 * rank * max(left.shape[0], right.shape[1]), f"an adapter of rank {rank}", "Use a smaller `rank`.")
    first = np.zeros((rank, right.shape[1]))
    second = np.zeros((left.shape[0], rank))
    first[:modes], second[:, :modes] = root[:, None] * right[:modes], left[:, :modes] * root
    bound = right.shape[1] ** -0.5
    first[modes:] = generator(key).uniform(-bound, bound, size=(rank - modes, right.shape[1]))
    conditions = [STATE_IS_LOST]
    if adapter.optimizer is not None:
        conditions.append("the rates act on balanced factors now, so that A and B take equal parts of the first steps")
    if rank > modes:
        conditions.append(f"{rank - modes} of {rank} directions are new: A drawn at random, B zero")
    new = adapter.with_(rank=rank, alpha=new_alpha, weights=Weights(first, second))
    return Resized(new, error, 1.0 if total == 0 else 1 - error**2 / total, tuple(conditions))


def _product_modes(adapter: Adapter) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The SVD of sBA from factors of its rank, never from the full matrix."""
    assert adapter.weights is not None  # checked by `resized`
    outer, upper = np.linalg.qr(adapter.weights.second)
    inner, lower = np.linalg.qr(adapter.weights.first.T)
    left, values, right = np.linalg.svd(adapter.scale * upper @ lower.T, full_matrices=False)
    return outer @ left, values, right @ inner.T


def resize_folder(source: Path | str, rank: int, out: Path | str, *, alpha: float | None = None) -> dict[str, Resized]:
    """Write a saved adapter at another rank into a new folder, for peft to load.

    For an adapter in memory, use `resized`.

    **Arguments:**

    - `source`: folder of an adapter with `adapter_model.safetensors`
    - `rank`: new rank of all modules
    - `out`: a folder that does not exist yet
    - `alpha`: new alpha of all modules; by default the one that leaves the scale s unchanged

    **Returns** a `Resized` for each module, by name.

    **Example:**

        >>> from linnet.lora import resize_folder
        >>> resize_folder("no-such-adapter", 4, "smaller")
        Traceback (most recent call last):
        ...
        ValueError: `source` must be a folder with adapter_model.safetensors: no-such-adapter has none.
    """
    folder, target = path_of("source", source), path_of("out", out)
    if not (folder / TENSORS).is_file():
        raise ValueError(f"`source` must be a folder with {TENSORS}: {folder} has none.")
    if target.exists():
        raise ValueError(f"`out` must not exist yet: {target} does.")
    adapters, tensors = read(folder), read_tensors(folder / TENSORS)
    config = configuration(folder / CONFIG)
    rslora = bool(config.get("use_rslora"))
    rank = count("rank", rank)
    divisor = (np.sqrt if rslora else float)(rank)
    old = config["lora_alpha"] / (np.sqrt if rslora else float)(config["r"])
    new_alpha = float(old * divisor) if alpha is None else positive("alpha", alpha)
    made = {name: resized(adapter, rank, alpha=new_alpha) for name, adapter in adapters.items()}
    for key, array in list(tensors.items()):
        if "lora_" in key and array.ndim != 2:
            raise ValueError(f"`source` must adapt matrices only: {key} has the shape {array.shape}.")
        if ".lora_A" in key:
            label = key.split(".lora_A")[0].removeprefix("base_model.model.")
            weights = made[label].adapter.weights
            assert weights is not None  # `resized` gives them
            tensors[key], tensors[key.replace("lora_A", "lora_B")] = weights.first, weights.second
        elif "lora_embedding" in key:
            raise ValueError(f"`source` must adapt linear layers only: {key} is of an embedding.")
    config |= {"r": rank, "lora_alpha": new_alpha, "rank_pattern": {}, "alpha_pattern": {}}
    with whole_folder(target):
        write_tensors(target / TENSORS, tensors)
        write_whole(target / CONFIG, json.dumps(config, indent=2))
    return made
