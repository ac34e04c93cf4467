"""How peft starts A and B, as laws: the eigenvalues of A A^T and of B^T B that each initialization has on average.

| name (`init_lora_weights`) | A | B | $A A^T$ | $B^T B$ |
|---|---|---|---|---|
| default (`True`) | uniform, variance $1/(3d)$ | 0 | $I/3$ | 0 |
| gaussian | normal, variance $1/r^2$ | 0 | $(d/r^2) I$ | 0 |
| eva | orthonormal rows | 0 | $I$ | 0 |
| random (`False`) | uniform, variance $1/(3d)$ | uniform, variance $1/(3r)$ | $I/3$ | $(k/3r) I$ |
| orthogonal | half of the directions | the other half | $(d/100) P$ | $(k/100)(I - P)$ |
| pissa | from the frozen matrix | from the frozen matrix | equal to $B^T B$ | equal to $A A^T$ |
| olora, corda, loftq, lora_ga, mica | from the frozen matrix or from gradients | | not known without it | |

**References:** the code of peft 0.21; Meng et al. 2024 (PiSSA), Büyükakyüz 2024 (OLoRA), Paischer et al. 2024 (EVA),
Wang et al. 2024 (LoRA-GA).
"""

from __future__ import annotations

import numpy as np

LAWS = ("default", "gaussian", "eva", "random", "orthogonal")
FROM_DATA = ("pissa", "olora", "corda", "loftq", "lora_ga", "mica")
SECOND_IS_ZERO = ("default", "gaussian", "eva")


def initialization_name(name: object) -> str:
    """The initialization under linnet's name: peft's True is "default", False "random", "pissa_niter_4" "pissa"."""
    if name is True or name is None:
        return "default"
    if name is False:
        return "random"
    plain = str(name).lower()
    if plain.startswith("pissa"):
        plain = "pissa"
    if plain.startswith("corda"):
        plain = "corda"
    if plain not in LAWS + FROM_DATA:
        raise ValueError(f"`init` must be one of {LAWS + FROM_DATA} (or peft's True, False): got {name!r}.")
    return plain


def second_is_zero(name: str) -> bool:
    """Whether B is zero at initialization."""
    return name in SECOND_IS_ZERO


def is_balanced(name: str) -> bool:
    """Whether A A^T equals B^T B at initialization, whatever the matrix it is made from."""
    return name == "pissa"


def grams(name: str, rank: int, in_dim: int | None, out_dim: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (mode,) of A A^T and of B^T B in their common basis, on average over the law `name`."""
    ones, zeros = np.ones(rank), np.zeros(rank)
    if name == "default":
        return ones / 3, zeros
    if name == "eva":
        return ones, zeros
    if name == "gaussian":
        return ones * _check_given("in_dim", in_dim, name) / rank**2, zeros
    if name == "random":
        return ones / 3, ones * _check_given("out_dim", out_dim, name) / (3 * rank)
    if name == "orthogonal":
        half = (np.arange(rank) < rank / 2).astype(float)
        return half * _check_given("in_dim", in_dim, name) / 100, (1 - half) * _check_given(
            "out_dim", out_dim, name
        ) / 100
    raise ValueError(
        f"`init` {name!r} is made from the frozen matrix or from gradients: its distribution is not known in advance. "
        "Read the adapter from the model, or from a folder with its weights."
    )


def _check_given(name: str, value: int | None, init: str) -> int:
    """Return a dimension; refuse an adapter that does not say it."""
    if value is None:
        raise ValueError(f"`{name}` is needed for the law of the initialization {init!r}: give it with the adapter.")
    return value
