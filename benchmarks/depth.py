"""Deep linear networks: full width in PyTorch against the reduced network, by depth and by the longest word kept.

    python benchmarks/depth.py [--device cuda] [--steps 50]

Prints reduced widths, memory, time per step and error by order, for 50 inputs and outputs at widths 1e4 and 1e6, and
for 784 inputs and 10 outputs, at depth 3 and 4. The error of an order is the largest distance of the product, over
the run, from that of the longest words tried (and from full width, where it fits), relative to the largest product.
"""

import argparse
import time

import numpy as np

from linnet.inits import deep_gaussian, reduced_deep_gaussian

try:
    import torch
except ImportError:
    torch = None

ORDERS = {3: (1, 2, 3, 4, 6), 4: (2, 3, 4, 5)}


def descend(layers, target, rate, steps, *, on):
    """Products at every step, seconds per step and bytes of the weights, of full and of reduced layers."""
    if torch is None:
        weights, goal = [np.array(layer) for layer in layers], target
    else:
        weights = [torch.as_tensor(layer, dtype=torch.float64, device=on) for layer in layers]
        goal = torch.as_tensor(target, dtype=torch.float64, device=on)
    held, products, begun = sum(layer.nbytes for layer in layers), [], None
    for step in range(steps + 3):
        if step == 3:  # the first steps warm up
            if torch is not None and on != "cpu":
                torch.cuda.synchronize()
            begun = time.perf_counter()
        below = [weights[0]]
        for layer in weights[1:]:
            below.append(layer @ below[-1])
        products.append(below[-1])
        pull = goal - below[-1]
        for at in range(len(weights) - 1, -1, -1):
            push = pull @ below[at - 1].T if at else pull
            pull = weights[at].T @ pull
            weights[at] = weights[at] + rate * push
    if torch is not None and on != "cpu":
        torch.cuda.synchronize()
    seconds = (time.perf_counter() - begun) / steps
    kept = [np.asarray(p if torch is None else p.cpu().numpy()) for p in products]
    return np.stack(kept), seconds, held


def compressed(layers, order):
    """The full network in words up to an order."""
    from linnet.reductions.words import Words

    words = Words(layers)
    while words.order < order and not words.closed:
        words.grow()
    return words.projected(words.at(order))


def table(inputs, outputs, width, depth, steps, on, full):
    random = np.random.default_rng(0)
    target = random.standard_normal((outputs, inputs)) / np.sqrt(max(inputs, outputs))
    sizes = {"in_dim": inputs, "out_dim": outputs, "width": width, "depth": depth}
    stds, rate = 0.7 * width**-0.5, 0.05
    print(f"\n{inputs} -> {outputs}, width {width:.0e}, depth {depth}, {steps} steps")
    rows, start = [], deep_gaussian(**sizes, stds=stds, key=0) if full else None
    if start is not None:
        rows.append(("full", start.widths, *descend(start.layers, target, rate, steps, on=on)))
    for order in ORDERS[depth]:
        if start is None:
            drawn = reduced_deep_gaussian(**sizes, stds=stds, key=0, order=max(ORDERS[depth])).layers
            layers = compressed(drawn, order)
        else:
            layers = compressed(start.layers, order)
        widths = tuple(layer.shape[0] for layer in layers[:-1])
        rows.append((f"order {order}", widths, *descend(layers, target, rate, steps, on=on)))
    exact = rows[0][2] if start is not None else rows[-1][2]
    print(f"{'':9} {'hidden widths':>24} {'MiB':>10} {'ms/step':>10} {'error':>9}")
    for name, widths, products, seconds, held in rows:
        error = np.abs(products - exact).max() / np.abs(exact).max()
        shown = "-" if products is exact else f"{error:.1e}"
        print(f"{name:9} {'-'.join(map(str, widths)):>24} {held / 2**20:10.2f} {1e3 * seconds:10.3f} {shown:>9}")
    if start is not None:
        print(f"full over reduced, time of a step: {rows[0][3] / rows[-1][3]:.0f}x (longest words)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch is not None and torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--width", type=int, default=10**4, help="the largest width that is trained in full")
    options = parser.parse_args()
    print(f"{'NumPy' if torch is None else 'PyTorch'} in float64 on {options.device}")
    for depth in (3, 4):
        table(50, 50, options.width, depth, options.steps, options.device, full=True)
        table(50, 50, 10**6, depth, options.steps, options.device, full=False)
        table(784, 10, options.width, depth, options.steps, options.device, full=True)


if __name__ == "__main__":
    main()
