# %% [markdown]
# # A lecture
#
# How do networks learn, one step before non-linearity makes everything hard? Two linear layers suffice for plateaus and sudden progress, for lazy and rich training, for early stopping. This page has
# the pictures of such a lecture, computed in seconds. On the [live pages](../live.md) the same quantities move under sliders, on the lecturer's screen and on every phone in the room:
#
# 1. [One mode after the other](../live/index.html#/lecture?step=1)
# 2. [The formula is the training](../live/index.html#/lecture?step=2)
# 3. [Lazy or active: a map](../live/index.html#/lecture?step=3)
# 4. [When to stop](../live/index.html#/lecture?step=4)
# 5. [Two phases under one strong direction](../live/index.html#/lecture?step=5)
#
# *Present* makes them large enough for a projector, the arrow keys go from step to step, and *QR code* gives the audience the view that is shown.

# %%
import numpy as np

import linnet as ln
from linnet import style

# %% [markdown]
# ## 1. Modes are learned one after the other
#
# A network with whitened inputs, started small, learns the singular values $S_i$ of its target one by one: each rests, then rises along a sigmoid. In closed form, for any threshold $g$:
#
# $$ \dot s = 2\sqrt{s^2 + g^2}\,(S - s) $$

# %% From a small initialization the modes are learned one after the other; from a large one all at once
values, times = np.array([8.0, 4.0, 2.0, 1.0]), np.linspace(0, 4, 300)
with style.applied():
    picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.38), sharey=True)
    for axis, threshold, word in zip(axes, (1e-3, 10.0), ("active", "lazy")):
        for mode, color in enumerate(style.shades(4)):
            axis.plot(times, ln.theories.lazy_active.mode_values(values, threshold, times)[:, mode], color=color)
        axis.set(xlabel="time t", title=f"{word}: g = {threshold:g}", xlim=(0, 4 if threshold < 1 else 0.4))
    axes[0].set_ylabel("singular values")
picture

# %% [markdown]
# ## 2. The formula is the training
#
# Ask the audience for a width. Here a million: the reduction is exact, so width costs nothing.

# %% A million hidden units, trained (solid), and the closed form (dashed)
weights = ln.inits.reduced_gaussian(key=0, in_dim=4, out_dim=4, width=10**6, stds=3e-4)
run = ln.gradient_flow(ln.Problem.from_target(np.diag(values)), weights, times=times)
theory = ln.theories.lazy_active.self_consistent(np.diag(values), weights.product, 3e-4**2 * 10**6, times)
print(f"largest distance over the run: {np.abs(run.products - theory).max():.1e}")
with style.applied():
    picture, axis = style.subplots(size=style.column(1.5, ratio=0.5))
    axis.plot(times, run.singular_values, color=style.PRODUCT, **style.TRAINING)
    axis.plot(times, ln.observables.singular_values(theory), color=style.BLACK, **style.THEORY)
    axis.axhline(3e-4**2 * 10**6, **style.GUIDELINE)
    axis.set(xlabel="time t", ylabel="singular values")
picture

# %% [markdown]
# ## 3. Lazy or active: a map
#
# Learning from a noisy matrix, which initializations find the signal behind the noise? Every pixel is a network; none was trained. On the live page, a touch trains that network.

# %% Minimum test error over the variance and the width of the initialization, d = 100
dim = 100
task = ln.problems.low_rank_plus_noise(dim, rank=3, key=0)
variances, widths = dim ** np.linspace(-3, 0, 31), np.round(dim ** np.linspace(1.35, 2.8, 25))
diagram = ln.theories.lazy_active.predicted_diagram(task, variances, widths, points=16, draws=0)
with style.applied():
    picture, axis = style.subplots(size=style.column(1.5, ratio=0.6))
    image = axis.pcolormesh(
        np.log(variances) / np.log(dim), np.log(widths) / np.log(dim), np.log10(2 / dim**2 * diagram.min_test_loss)
    )
    axis.plot([-3, 0], [4, 1], color="white", linestyle="--")
    axis.set(xlabel=r"$\log_d \sigma^2$", ylabel=r"$\log_d w$", ylim=(1.35, 2.8), title=r"dashed: $\sigma^2 w = d$")
    picture.colorbar(image, label=r"$\log_{10}$ minimum test error")
picture

# %% [markdown]
# ## 4. When to stop
#
# Along one run the test error falls, then rises, because the noise is learned later than the signal. The map above shows its minimum.

# %% Train and test error along one active run
run = ln.theories.lazy_active.predicted_run(task, dim**-2.2, dim**2, np.linspace(0, 0.25, 200))
with style.applied():
    picture, axis = style.subplots(size=style.column(1.5, ratio=0.5))
    axis.plot(np.linspace(0, 0.25, 200), run.loss, color=style.LOSS, label="train")
    axis.plot(np.linspace(0, 0.25, 200), run.test_loss, color=style.TEST_LOSS, label="test: distance to the signal")
    axis.set(xlabel="time t", ylabel="loss")
    axis.legend()
picture

# %% [markdown]
# ## 5. Two phases under one strong direction
#
# If the inputs have one strong direction that differs from the target's direction, learning turns a corner: first along the correlation, then along the rest.

# %% The path of the network in the plane of the two directions
phases = ln.theories.spiked.TwoPhase(spike=20.0, alignment=0.3)
path = phases.reduced(1e-5, np.linspace(0, 12, 400))
with style.applied():
    picture, axis = style.subplots(size=style.column(1.2, ratio=0.7))
    axis.plot(path[:, 0], path[:, 1], color=style.SIGNAL)
    axis.set(xlabel="component along the correlation", ylabel="component orthogonal to it")
picture

# %% [markdown]
# ## For the handout
#
# Every live page shows, under "As Python", a script that computes its numbers with linnet's public functions. Questions that lead further: which of the papers' statements about these pictures are true? [This site](../claims.md) has
# all of them. The figures of the papers themselves, ready to be shown, are in the [gallery](../gallery.md).
