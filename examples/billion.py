"""A network of a billion hidden units: trained exactly, and predicted without training."""

import numpy as np

import linnet as ln

problem = ln.Problem.from_target(np.diag([8.0, 4.0, 2.0, 1.0]))  # the target matrix, with whitened inputs
weights = ln.inits.reduced_gaussian(key=0, in_dim=4, out_dim=4, width=10**9, stds=1e-5)  # a billion hidden units

prediction = ln.predict(problem, weights, np.linspace(0, 3, 200))
run = ln.gradient_flow(problem, weights, times=prediction.times)
print(prediction)
print(f"difference from training: {prediction.difference(run).value:.1e}")

ln.draw.modes(run, prediction).figure.savefig("billion.png", dpi=150)
