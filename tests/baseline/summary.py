"""A few numbers that stand for an array: enough to find that it changed, and by how much."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

SAMPLES, SIGNED_SUMS = 12, 4
SMALLEST = 1e-12  # an array whose entries are all smaller is rounding: differences are relative to this


def summarize(values: np.ndarray) -> dict[str, Any]:
    """Summarize an array: its digest, and entries and signed sums in full, from which a distance is estimated.

    **Arguments:**

    - `values`: numbers, or words, of any shape

    **Returns** a dictionary that JSON can hold. The signs of the sums are the same for arrays of the same size.
    """
    values = np.asarray(values)
    shape = list(values.shape)
    if values.dtype.kind not in "biuf":
        words = [one.decode() if isinstance(one, bytes) else str(one) for one in values.ravel().tolist()]
        return {"shape": shape, "words": words}
    flat = np.ascontiguousarray(values, dtype="<f8").ravel()
    flat = np.where(np.isnan(flat), np.nan, flat)  # one kind of NaN
    finite = np.where(np.isfinite(flat), flat, 0.0)
    signs = np.random.default_rng(0).integers(0, 2, (SIGNED_SUMS, flat.size)) * 2 - 1
    chosen = np.unique(np.linspace(0, max(flat.size - 1, 0), SAMPLES).round().astype(int))[: flat.size]
    return {
        "shape": shape,
        "digest": hashlib.blake2b(flat.tobytes(), digest_size=8).hexdigest(),
        "largest": float(np.abs(finite).max(initial=0.0)),
        "not_finite": int(flat.size - np.isfinite(flat).sum()),
        "samples": [float(flat[i]) for i in chosen],
        "sums": [math.fsum(row * finite) for row in signs],
    }


def distance(old: dict[str, Any], new: dict[str, Any]) -> float:
    """Estimate the largest difference of two summarized arrays, as a fraction of the largest entry; 0 for equal bits.

    An infinite distance means other words, another shape, or other entries that are NaN or infinite.
    """
    if "words" in old or "words" in new:
        return 0.0 if old == new else math.inf
    if (old["shape"], old["not_finite"]) != (new["shape"], new["not_finite"]):
        return math.inf
    if old["digest"] == new["digest"]:
        return 0.0
    scale = max(old["largest"], new["largest"], SMALLEST)
    pairs = [*zip(old["samples"], new["samples"]), *zip(old["sums"], new["sums"])]
    apart = [0.0 if a == b or (math.isnan(a) and math.isnan(b)) else abs(a - b) / scale for a, b in pairs]
    if any(math.isnan(one) for one in apart):
        return math.inf
    return max(*apart, np.finfo(float).eps / 2)  # other bits, however close
