"""A classifier as a two-layer linear network: the logistic loss at any width, and what is conserved.

`Problem.from_cost` takes any differentiable cost of the product W2 W1; the reduction of the width does not need the
square loss.
"""

import numpy as np

import linnet as ln


def main() -> None:
    draw = np.random.default_rng(0)
    centers = 1.5 * draw.standard_normal((3, 10))
    labels = draw.integers(0, 3, 600)
    inputs = centers[labels] + draw.standard_normal((600, 10))
    problem = ln.problems.logistic(inputs, labels)
    small = ln.inits.gaussian(key=1, in_dim=10, out_dim=3, width=500, stds=0.01)
    run = ln.gradient_descent(problem, small, learning_rate=0.5, steps=400, save_every=100)
    full = ln.gradient_descent(problem, small, learning_rate=0.5, steps=400, save_every=100, reduce=False)
    right = (inputs @ run.products[-1].T).argmax(axis=1) == labels
    print(f"loss {run.loss[0]:.3f} -> {run.loss[-1]:.3f}, {right.mean():.1%} of the points classified")
    print(
        f"width 500 trained as {run.reduced.first.shape[-2]}: same products to "
        f"{np.abs(run.products - full.products).max():.0e}"
    )
    values = np.linalg.svd(run.products[-1], compute_uv=False)
    print(f"singular values of the classifier: {np.round(values, 2)}; rank 2 is what three classes need")


if __name__ == "__main__":
    main()
