"""How far one sweep's results lie apart on different devices, and whether each device repeats its own bits.

    python benchmarks/sweep_devices.py [PLATFORM...]

runs `examples/sweep.toml` twice on each JAX platform (default: those that JAX finds here), each time in a process of
its own, and prints whether the two runs have the same bits and the largest relative difference from the first platform.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr

from linnet import sweeps

CONFIG = Path(__file__).parents[1] / "examples" / "sweep.toml"
NAMES = ("loss", "test_loss", "stable_rank", "steps")


def computed(platform: str, store: Path) -> xr.Dataset:
    """The sweep on one platform."""
    command = [sys.executable, "-m", "linnet", "sweep", str(CONFIG), "--store", str(store)]
    subprocess.run(command, env={**os.environ, "JAX_PLATFORMS": platform}, check=True)
    return sweeps.open(store).load()


def found() -> list[str]:
    """The platforms of this machine, an accelerator first."""
    import jax

    return ["cuda", "cpu"] if jax.default_backend() == "gpu" else [jax.default_backend()]


def main(platforms: list[str]) -> None:
    """Runs and prints."""
    if len(platforms) == 1:
        print(f"only {platforms[0]} here: its own repetition is compared, no other device")
    first: xr.Dataset | None = None
    with tempfile.TemporaryDirectory() as folder:
        for platform in platforms:
            once, again = (computed(platform, Path(folder) / f"{platform}{run}") for run in range(2))
            same = all(np.array_equal(once[name], again[name], equal_nan=True) for name in NAMES)
            print(f"{platform} ({once.attrs['device']}): two runs have {'the same' if same else 'different'} bits")
            first = once if first is None else first
            apart = {name: float(np.abs(once[name] / first[name] - 1).max()) for name in NAMES}
            print(f"  from {platforms[0]}: " + ", ".join(f"{name} {value:.1e}" for name, value in apart.items()))


if __name__ == "__main__":
    main(sys.argv[1:] or found())
