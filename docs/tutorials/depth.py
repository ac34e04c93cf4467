# %% [markdown]
# # Deeper networks
#
# What changes when a linear network has three or four layers instead of two? This page draws initial weights a million units wide, trains them, predicts the run without training, and shows what depth changes.

# %% [markdown]
# ## A wide initialization
#
# The hidden layers of a Gaussian initialization are drawn directly in their reduced form, so the width does not matter for the cost. The scale of the initialization is its coupling $c = \sqrt w\,\mathrm{std}$.

# %%
import numpy as np

import linnet as ln
from linnet import style

width, coupling = 10**6, 0.5
target = np.diag([2.0, 1.0])
problem = ln.Problem.from_target(target)
weights = ln.inits.reduced_gaussian(
    in_dim=2, out_dim=2, width=width, depth=3, stds=coupling * width**-0.5, key=0, order=5
)
weights

# %% [markdown]
# ## Training, and the mode equations
#
# Every singular value of the target is learned by itself, like a network of one input and one output (`theories.deep.gaussian_modes`). Networks of width $w$ are away from that by about $w^{-1/2}$.

# %%
times = np.linspace(0, 12, 60)
run = ln.gradient_flow(problem, weights, times=times)
modes = ln.theories.deep.gaussian_modes([2.0, 1.0], coupling, depth=3, times=times)
print(f"largest distance: {np.abs(run.singular_values - modes).max():.1e}")

with style.applied():
    picture, axes = style.subplots(1, 1)
    axes.plot(times, modes, **style.CURVE)
    axes.plot(times[::4], run.singular_values[::4], color="black", **style.MARKS)
    axes.set(xlabel="time", ylabel="singular values")
picture

# %% [markdown]
# ## What depth buys
#
# Only $S/c^L$ decides whether a mode is lazy or active. The minimum test error over training, for a matrix of low rank plus noise, by formula and at the same initial kernel $L c^{2L-2}$:

# %%
task = ln.problems.low_rank_plus_noise(40, rank=2, key=1)
for kernel in (0.5, 5.0, 50.0):
    errors = []
    for depth in (2, 3, 4):
        c = (kernel / depth) ** (1 / (2 * depth - 2))
        errors.append(
            float(ln.theories.deep.deep_diagram(task, [c**2 / 1e9], [10**9], depth=depth).min_test_loss[0, 0])
        )
    print(f"kernel {kernel:4}: {errors[0]:.0f} at depth 2, {errors[1]:.0f} at depth 3, {errors[2]:.0f} at depth 4")

# %% [markdown]
# `.uncertainty` of a diagram estimates how far one network may be off, by width and depth. More is on the page [deep networks](../depth.md).
