"""All 300 published cells of the phase diagram trained again (d = 200), several draws of the task each.

    python benchmarks/published_cells.py [DRAWS]      minutes on an accelerator, an hour on a CPU

Prints how far the mean test error at the printed step is from the printed one. Asserts nothing.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.tu.grids import published


def main(draws: int = 16) -> None:
    sweep = published.sweep(Trial()).model_copy(
        update={
            "axes": {"cell": published.cell_names((1, 1)), "replicate": list(range(draws))},
            "block": draws,
        }
    )
    began = time.perf_counter()
    found = published.read(ln.sweeps.run(sweep))
    shares, noise = (np.array(part) for part in zip(*found["share"], strict=True))
    apart = shares - 1
    print(f"{apart.size} cells, {draws} draws each, {time.perf_counter() - began:.0f} s")
    print(f"off by at most {np.abs(apart).max():.2%}, median {np.median(np.abs(apart)):.2%}, mean {apart.mean():+.2%}")
    print(f"standard error of a mean: at most {noise.max():.2%}, median {np.median(noise):.2%}")
    for i in np.argsort(-np.abs(apart))[:10]:
        print(
            f"  {found['gamma_variance'][i]:.3f} {found['gamma_width'][i]:.3f} step {found['step'][i]:.0f}: "
            f"{apart[i]:+.2%} +- {noise[i]:.2%}"
        )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
