"""Deep linear networks: full width against the reduced network, by depth and by the words that are kept.

    python benchmarks/depth.py [--device cuda] [--steps 20] [--width 10000] [--out depth.json]

Tells reduced widths, memory, time of a step and error for 50 inputs and outputs at widths 1e4 and 1e6, and for 784
inputs and 10 outputs, at depth 3 and 4. Words are kept by length (`order`) or by weight (`rtol`, as `gradient_descent`
does). The error is the largest distance of the products over the run from those at full width, relative to the largest
product; at width 1e6, where the full network does not fit, from those of the longest words. Full width runs in PyTorch
in float64; where PyTorch is missing, that column is left out and NumPy runs the reduced networks.
"""

import argparse
import json
import pathlib
import time

import numpy as np

import linnet as ln

try:
    import torch
except ImportError:
    torch = None

ORDERS = {3: (1, 2, 3, 4), 4: (2, 3, 4)}
RATE = 0.05
TIMED = 200  # steps of a reduced network, for its time


def descend(layers, target, steps, *, on):
    """Products at every step and seconds per step."""
    if torch is None:
        weights, goal = [np.array(layer) for layer in layers], target
    else:
        weights = [torch.as_tensor(np.array(layer), dtype=torch.float64, device=on) for layer in layers]
        goal = torch.as_tensor(target, dtype=torch.float64, device=on)

    def waited():
        if torch is not None and on != "cpu":
            torch.cuda.synchronize()
        return time.perf_counter()

    products, begun = [], 0.0
    for step in range(steps + 1):
        if step == 1:  # the first step warms up
            begun = waited()
        below = [weights[0]]
        for layer in weights[1:]:
            below.append(layer @ below[-1])
        products.append(below[-1])
        pull = goal - below[-1]
        for at in range(len(weights) - 1, -1, -1):
            push = pull @ below[at - 1].T if at else pull
            pull = weights[at].T @ pull
            weights[at] += RATE * push
    seconds = (waited() - begun) / steps
    return np.stack([np.asarray(p if torch is None else p.cpu().numpy()) for p in products]), seconds


def rows_of(inputs, outputs, width, depth, steps, on, full):
    """One row for full width, for each order and for words by weight."""
    random = np.random.default_rng(0)
    target = random.standard_normal((outputs, inputs)) / np.sqrt(max(inputs, outputs))
    problem = ln.Problem.from_target(target)
    sizes = {"in_dim": inputs, "out_dim": outputs, "width": width, "depth": depth, "stds": 0.7 * width**-0.5, "key": 0}
    rows, exact = [], None
    if full:
        start = ln.inits.deep_gaussian(**sizes)
        if torch is not None:
            exact, seconds = descend(start.layers, target, steps, on=on)
            rows.append(["full", start.layers, seconds, exact, 0.0])
    else:
        start = ln.inits.reduced_deep_gaussian(**sizes, order=max(ORDERS[depth]) + 2)  # the reference, too
    for order in ORDERS[depth] if inputs < 784 else ():
        begun = time.perf_counter()
        layers = ln.reduce(problem, start, order=order).weights.layers
        rows.append([f"order {order}", layers, None, None, time.perf_counter() - begun])
    if not full:
        rows.append([f"order {max(ORDERS[depth]) + 2}", start.layers, None, None, 0.0])
    for rtol in (1e-4, 1e-8) if full else ():
        begun = time.perf_counter()
        path = ln.reductions.deep.Path(np.full(steps, RATE))
        layers = ln.reductions.deep.reduced_layers(problem, start, rtol=rtol, paths=[path]).weights.layers
        rows.append([f"rtol {rtol:g}", layers, None, None, time.perf_counter() - begun])
    told = []
    for row in rows:
        if row[0] != "full":
            row[3], row[2] = descend(row[1], target, TIMED, on=on)
    exact = rows[-1][3] if exact is None else exact
    for name, layers, seconds, products, reducing in rows:
        least = min(len(products), len(exact))
        error = np.abs(products[:least] - exact[:least]).max() / np.abs(exact).max()
        told.append(
            {
                "in_dim": inputs,
                "out_dim": outputs,
                "width": width,
                "depth": depth,
                "words": name,
                "widths": [layer.shape[0] for layer in layers[:-1]],
                "mib": sum(layer.nbytes for layer in layers) / 2**20,
                "ms_per_step": 1e3 * seconds,
                "error": None if products is exact else float(error),
                "seconds_to_reduce": reducing,
            }
        )
        row = told[-1]
        shown = "-" if row["error"] is None else f"{row['error']:.1e}"
        print(
            f"{inputs} -> {outputs} width {width:.0e} depth {depth} {name:10} {'-'.join(map(str, row['widths'])):>20} "
            f"{row['mib']:9.2f} MiB {row['ms_per_step']:10.3f} ms/step  error {shown}  reduced in {reducing:.1f} s",
            flush=True,
        )
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch is not None and torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=20, help="of the full network, and those that errors are of")
    parser.add_argument("--width", type=int, default=10**4, help="the width that is trained in full")
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--out", help="a JSON file")
    options = parser.parse_args()
    print("no PyTorch: full width is left out" if torch is None else f"PyTorch in float64 on {options.device}")
    told = []
    for depth in options.depths:
        for inputs, outputs, width in ((50, 50, options.width), (50, 50, 10**6), (784, 10, options.width)):
            full = width == options.width
            told += rows_of(inputs, outputs, width, depth, options.steps, options.device, full)
            if options.out:
                run = {"device": options.device, "pytorch": torch is not None, "rows": told}
                pathlib.Path(options.out).write_text(json.dumps(run, indent=1))


if __name__ == "__main__":
    main()
