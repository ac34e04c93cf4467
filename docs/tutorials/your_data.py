# %% [markdown]
# # Your own data
#
# You have a table, and a linear network (a bottleneck, an autoencoder, a low-rank or many-output regression) that you want to train on it. What will it learn, in which order, lazily or actively, when
# should it stop, and would ridge regression do as well? Here on a real table that comes with scikit-learn: 442 patients, ten measurements, and the progress of diabetes a year later.

# %%
import numpy as np
from sklearn.datasets import load_diabetes

table = load_diabetes(as_frame=True, scaled=False).frame
table.to_csv("diabetes.csv", index=False)
print(table.head(3).to_string())

# %% [markdown]
# ## One command
#
#     linnet diagnose diabetes.csv --target target --out diagnosis
#
# reads CSV, TSV, Parquet, NPY or NPZ, prints its recommendation and the evidence, and writes a page with plots. This is what it prints:

# %%
import subprocess
import sys

command = [sys.executable, "-m", "linnet", "diagnose", "diabetes.csv", "--target", "target", "--out", "diagnosis"]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

# %% [markdown]
# The first two lines are the advice: which method to use, and when to stop if you train the network anyway. Below *Stopping* is the range of steps that are as good. If it is wide, any of its steps will do, and the earliest is the cheapest.
#
# ## The same in Python
#
# `ln.diagnose` returns the numbers behind the sentences. One initialization (`seeds=1`) instead of three is faster, and finds another step of that range.

# %%
import linnet as ln

X, Y = table.drop(columns="target").to_numpy(), table[["target"]].to_numpy()
found = ln.diagnose(X, Y, width=512, init="pytorch", seeds=1)
print("stop at step", found.stop)
for name, errors in found.comparison.baselines.items():
    print(f"held-out error in each fold, {name}: {errors.round(3)}")

# %% The run on all rows: errors, and what each mode does
found.forecast.plot()

# %% [markdown]
# ## What a smaller initialization changes
#
# From PyTorch's initialization a network of width 512 learns this table lazily: its kernel hardly moves. The regime follows from the threshold, which is the variance of the initial weights times the width, and from the strength of the
# mode. Here are two Gaussian initializations of a million hidden units (width is free) whose scales differ by a factor of a hundred:

# %%
problem = found.forecast.problem
for scale in (1.0, 0.01):
    std = scale / np.sqrt(10**6)
    weights = ln.inits.reduced_gaussian(key=0, in_dim=10, out_dim=1, width=10**6, stds=std)
    run = ln.forecast(problem, weights, steps=3000)
    print(f"scale {scale:g}: threshold {run.regimes.thresholds.mean():.1e}, learned {run.learned}")

# %% [markdown]
# ## In a pipeline
#
# The estimator stops at the step found above; with `steps="cv"` it finds the step by itself.

# %%
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

model = make_pipeline(StandardScaler(), ln.estimators.LinearNetworkRegressor(width=512, steps=found.stop))
print("R2 in five folds:", cross_val_score(model, X, Y.ravel(), cv=5).round(3))

# %% [markdown]
# Do not expect this network to beat ridge regression. On most tables the two are equally good, and the output compares them.
#
# ## A noisy matrix, and no rows to hold out
#
# If the data are one matrix, a low-rank signal in noise, SURE (Stein's unbiased risk estimate) finds the stopping time from the matrix alone.

# %% The estimated risk along the path of training, and what was chosen
random = np.random.default_rng(0)
truth = random.normal(size=(80, 3)) @ random.normal(size=(3, 60))
noisy = truth + 2.0 * random.normal(size=truth.shape)
clean = ln.denoise(noisy)
print(f"rank {clean.rank}, noise {clean.noise_std:.2f} (true 2), stop at t = {clean.time:.3f}")
print(
    f"squared error before {np.sum((noisy - truth) ** 2):.0f}, after {np.sum((clean.matrix - truth) ** 2):.0f}, estimated {clean.risk:.0f}"
)
clean.plot()

# %% [markdown]
# More: [the guide](../own_data.md) explains every option and every line. [Denoising](../denoising.md) compares this method with other shrinkage, with the cases in which it loses.
