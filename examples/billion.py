"""A network of a billion hidden units, trained exactly, against its closed form."""

import matplotlib.pyplot as plt
import numpy as np

import linnet as ln

target = np.diag([8.0, 4.0, 2.0, 1.0])  # what is to be learned, with whitened inputs
width, std = 10**9, 1e-5  # a billion hidden units; the lazy/active threshold is std^2 width = 0.1
start = ln.inits.reduced_gaussian(key=0, in_dim=4, out_dim=4, width=width, stds=std)

run = ln.gradient_flow(ln.Problem.from_target(target), start, times=np.linspace(0, 3, 200))
theory = ln.theories.lazy_active.self_consistent(target, start.product, std**2 * width, run.times)
print(f"largest distance over the run: {np.abs(run.products - theory).max():.1e}")

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(run.times, ln.observables.singular_values(run.products), color="tab:blue", lw=4, alpha=0.4)
axes.plot(run.times, ln.observables.singular_values(theory), "k--", lw=1.2)
axes.axhline(std**2 * width, color="gray", lw=0.8)
axes.set(
    xlabel="time t (canonical)",
    ylabel="singular values of $W_2 W_1$",
    title="Width $10^9$: trained (blue), closed form (dashed)",
)
figure.savefig("billion.png", dpi=150)
