"""A cost of one's own: fill in a low-rank matrix from half of its entries, lazily and actively.

The same network, task and step; only the scale of the start differs. Above the threshold sigma^2 w ~ |target| training
is lazy and leaves the unseen entries where they started; below it, it finds the low rank. The self-consistent dynamics
says so beforehand, for this cost as for any other.
"""

import numpy as np

import linnet as ln

DIM, RANK, WIDTH = 40, 2, 100_000


def main() -> None:
    truth = np.asarray(ln.problems.low_rank_plus_noise(DIM, rank=RANK, noise_std=0.0, key=0).truth)
    mask = np.random.default_rng(1).random((DIM, DIM)) < 0.5
    problem = ln.problems.matrix_completion(truth, mask, truth=truth)
    size = float(np.linalg.norm(truth, 2))
    everything = 0.5 * (truth**2).sum()
    print(f"{mask.sum()} of {mask.size} entries seen, rank {RANK}, |truth| = {size:.0f}")
    for name, threshold in (("active", 0.01 * size), ("lazy", 3 * size)):
        std = (threshold / WIDTH) ** 0.5
        start = ln.inits.reduced_gaussian(key=2, in_dim=DIM, out_dim=DIM, width=WIDTH, stds=std)
        rate = 0.1 / max(size, threshold)
        trained = ln.gradient_descent(problem, start, learning_rate=rate, steps=600, save_every=100)
        times = trained.times
        predicted = ln.theories.lazy_active.integrate(problem, start.product, threshold, times, rtol=1e-6)
        gap = np.abs(predicted - trained.products).max() / np.abs(truth).max()
        left, guess = trained.test_loss[-1] / everything, problem.test_loss(predicted[-1]) / everything
        print(
            f"{name:>6}: train loss {trained.loss[-1] / everything:.1e}, error on all entries {left:.3f} "
            f"(predicted {guess:.3f}; products within {gap:.2f})"
        )


if __name__ == "__main__":
    main()
