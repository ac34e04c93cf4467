"""Deep linear networks: full width against the reduced network, by depth and by the words that are kept.

    taskset -c 0,1 python benchmarks/depth.py [--steps 8] [--width 10000] [--depths 3 4] [--out depth.json]

Tells hidden widths, memory, time of a step, ratio of times and error for 50 inputs and outputs at widths 1e4 and 1e6,
and for 784 inputs and 10 outputs at width 1e4, at depth 3 and 4. Full width runs in PyTorch, float64, with as many
threads as there are cores, and carries the columns of the inputs or of the outputs, whichever are fewer. A reduced step
is one of `ln.gradient_descent`, timed as the difference between a long and a short run, so that compiling does not
count. Words are kept by length (`order`) or by weight (`rtol`, as `gradient_descent` does by itself). The error is the
largest distance of the products over the run from those at full width, relative to the largest product; at width 1e6,
where the full network does not fit, from those of longer words.
"""

import argparse
import json
import os
import pathlib
import time

import numpy as np

import linnet as ln

ORDERS = {3: (1, 2, 3, 4), 4: (2, 3, 4)}
RATE = 0.05


def descend(layers, target, steps, on=None):
    """Products at every step and seconds per step, in PyTorch on a device, or in NumPy."""
    turned = target.shape[0] < target.shape[1]
    if turned:  # the same network from its outputs to its inputs
        layers, target = [np.ascontiguousarray(layer.T) for layer in reversed(layers)], target.T
    weights = [np.array(layer) for layer in layers]
    if on is not None:
        import torch

        weights = [torch.as_tensor(layer, device=on) for layer in weights]
        target = torch.as_tensor(np.ascontiguousarray(target), device=on)
    products, seconds = [], []
    for _ in range(steps + 1):
        begun = time.perf_counter()
        below = [weights[0]]
        for layer in weights[1:]:
            below.append(layer @ below[-1])
        products.append(below[-1].T if turned else below[-1])
        pull = target - below[-1]
        for at in range(len(weights) - 1, -1, -1):
            push = pull @ below[at - 1].T if at else pull
            pull = weights[at].T @ pull
            weights[at] += RATE * push
        if on not in (None, "cpu"):
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begun)
    return np.stack([np.asarray(one if on is None else one.cpu().numpy()) for one in products]), np.median(seconds[1:])


def seconds_per_step(problem, layers):
    """Of `gradient_descent`, the network as it is: the difference between a long and a short run, best of three."""
    start = ln.Weights(*layers)

    def taken(steps):
        begun = time.perf_counter()
        run = ln.gradient_descent(
            problem,
            start,
            learning_rate=RATE,
            steps=steps,
            save_every=ln.trajectories.last(),
            keep="losses",
            reduce=False,
        )
        assert run.status.steps == steps and np.isfinite(run.loss).all()
        return time.perf_counter() - begun

    taken(20)  # compiles
    short = min(taken(20) for _ in range(3))
    many = 20 + max(50, min(2000, round(20 * 0.5 / short)))
    return (min(taken(many) for _ in range(3)) - short) / (many - 20)


def rows_of(inputs, outputs, width, depth, steps, on):
    """One row for full width, where `on` says on which device, for each order and for words by weight."""
    random = np.random.default_rng(0)
    target = random.standard_normal((outputs, inputs)) / np.sqrt(max(inputs, outputs))
    problem = ln.Problem.from_target(target)
    sizes = {"in_dim": inputs, "out_dim": outputs, "width": width, "depth": depth, "stds": 0.7 * width**-0.5, "key": 0}
    full = None
    if on is None:
        longest = max(ORDERS[depth]) + 2
        start = ln.inits.reduced_gaussian(**sizes, order=longest)
        exact, reduced = descend(start.layers, target, steps)[0], [(f"order {longest}", start.layers, 0.0)]
    else:
        start, reduced = ln.inits.gaussian(**sizes), []
        exact, full = descend(start.layers, target, steps, on)
        yield row(sizes, "all (full)", start.layers, full)
    by = [{"order": order} for order in ORDERS[depth]] if inputs == outputs else []
    path = ln.reductions.deep.StepSizes(np.full(steps, RATE))
    by += [{"rtol": rtol, "paths": [path]} for rtol in (1e-4, 1e-8)] if on else []
    for chosen in by:
        begun = time.perf_counter()
        layers = ln.reductions.deep.reduced_layers(problem, start, **chosen).weights.layers
        name = f"order {chosen['order']}" if "order" in chosen else f"by weight, {chosen['rtol']:g}"
        reduced.append((name, layers, time.perf_counter() - begun))
    for name, layers, reducing in reduced:
        products, _ = descend(layers, target, steps)
        error = float(np.abs(products - exact).max() / np.abs(exact).max())
        step = seconds_per_step(problem, layers)
        yield row(sizes, name, layers, step, full and full / step, error if products is not exact else None, reducing)


def row(sizes, words, layers, seconds, ratio=None, error=None, reducing=None):
    """What is told of one network."""
    told = {name: sizes[name] for name in ("in_dim", "out_dim", "width", "depth")} | {
        "words": words,
        "widths": [layer.shape[0] for layer in layers[:-1]],
        "mib": sum(layer.nbytes for layer in layers) / 2**20,
        "ms_per_step": 1e3 * float(seconds),
        "ratio": ratio and float(ratio),
        "error": error,
        "seconds_to_reduce": reducing,
    }
    print(
        f"{told['in_dim']} -> {told['out_dim']} width {told['width']:.0e} depth {told['depth']} {words:16} "
        f"{'-'.join(map(str, told['widths'])):>20} {told['mib']:9.2f} MiB {told['ms_per_step']:10.3f} ms/step  "
        f"ratio {'-' if ratio is None else format(ratio, '.0f')}  "
        f"error {'-' if error is None else format(error, '.1e')}",
        flush=True,
    )
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="of full width in PyTorch")
    parser.add_argument("--steps", type=int, default=8, help="of the full network, and those that errors are of")
    parser.add_argument("--width", type=int, default=10**4, help="the width that is trained in full")
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--out", help="a JSON file")
    options = parser.parse_args()
    import torch

    cores = len(os.sched_getaffinity(0))
    torch.set_num_threads(cores)
    print(f"{cores} cores; PyTorch {torch.__version__} in float64 on {options.device}")
    told = []
    for depth in options.depths:
        for inputs, outputs, width in ((50, 50, options.width), (784, 10, options.width), (50, 50, 10**6)):
            on = options.device if width == options.width else None
            for one in rows_of(inputs, outputs, width, depth, options.steps, on):
                told.append(one)
                if options.out:
                    run = {"cores": cores, "device": options.device, "pytorch": torch.__version__, "rows": told}
                    pathlib.Path(options.out).write_text(json.dumps(run, indent=1))


if __name__ == "__main__":
    main()
