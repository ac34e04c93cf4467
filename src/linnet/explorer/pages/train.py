"""The page *Train*: a network of any width learns, mode by mode, beside the closed form."""

from __future__ import annotations

from linnet.explorer.computing.train import LEAST_STEPS, MOST_STEPS, POINTS, RTOL, SHARE, train
from linnet.explorer.controls import Control, State
from linnet.explorer.loading import TRAINING
from linnet.explorer.page import Page, View
from linnet.explorer.pictures.train import draw_losses, draw_modes, tell_cursor

CONTROLS = (
    Control(
        "target",
        "Target",
        "What the network is to learn.",
        "values",
        "choice",
        choices=(("values", "singular values"), ("low_rank", "low rank + noise"), ("spiked", "spiked inputs")),
        group="Target",
    ),
    Control(
        "values",
        "Singular values",
        "Of the target matrix, with commas; inputs are white.",
        (8.0, 4.0, 2.0, 1.0),
        "numbers",
        low=0.05,
        high=100,
        most=8,
        when=("target", ("values",)),
        group="Target",
    ),
    Control("in_dim", "Inputs d", "Columns of the target.", 6, "whole", low=2, high=24, group="Target"),
    Control("out_dim", "Outputs k", "Rows of the target.", 6, "whole", low=1, high=24, group="Target"),
    Control(
        "rank",
        "Rank K",
        "Of the truth under the noise.",
        2,
        "whole",
        low=1,
        high=8,
        when=("target", ("low_rank",)),
        group="Target",
    ),
    Control(
        "noise_std",
        "Noise",
        "Standard deviation of the noise on what is learned from.",
        0.5,
        "number",
        low=0,
        high=3,
        step=0.05,
        when=("target", ("low_rank", "spiked")),
        group="Target",
    ),
    Control(
        "spike",
        "Spike ρ",
        "Extra variance of the inputs along one direction.",
        5.0,
        "number",
        low=0,
        high=30,
        step=0.5,
        when=("target", ("spiked",)),
        group="Target",
    ),
    Control(
        "alignment",
        "Alignment A",
        "Cosine between the spike and the target.",
        0.7,
        "number",
        low=0,
        high=1,
        step=0.01,
        when=("target", ("spiked",)),
        group="Target",
    ),
    Control(
        "samples",
        "Samples n",
        "Drawn to learn from; 0 stands for infinitely many, without noise.",
        0,
        "whole",
        low=0,
        high=200,
        when=("target", ("spiked",)),
        group="Target",
    ),
    Control(
        "width", "Width h", "Hidden units; they cost nothing.", 1000, "log", low=1, high=1e12, step=0.1, group="Network"
    ),
    Control(
        "first_std",
        "Scale of W₁",
        "Standard deviation of the first layer's entries at the start.",
        0.04,
        "log",
        low=1e-7,
        high=1,
        step=0.05,
        group="Network",
    ),
    Control(
        "second_std",
        "Scale of W₂",
        "Standard deviation of the second layer's entries at the start.",
        0.04,
        "log",
        low=1e-7,
        high=1,
        step=0.05,
        group="Network",
    ),
    Control("seed", "Seed", "Of the start and of what is drawn.", 0, "whole", low=0, high=999, group="Network"),
    Control(
        "how",
        "Training",
        "Gradient flow has no step size; descent has one, and may diverge.",
        "descent",
        "choice",
        choices=(("flow", "gradient flow"), ("descent", "gradient descent")),
        group="Training",
    ),
    Control(
        "learning_rate",
        "Learning rate η",
        "In units of a rate that is certainly stable; far above 1 descent diverges.",
        0.05,
        "log",
        low=0.005,
        high=20,
        step=0.05,
        when=("how", ("descent",)),
        group="Training",
    ),
    Control(
        "until",
        "Length",
        "In units of the time in which the weakest mode of the truth is learned.",
        1.0,
        "log",
        low=0.1,
        high=5,
        step=0.02,
        group="Training",
    ),
    Control(
        "cursor",
        "Cursor",
        "Where in the run the modes are called lazy or active, in parts of its length.",
        0.5,
        "number",
        low=0,
        high=1,
        step=0.01,
        computes=False,
        plays=True,
        group="Time",
    ),
)


def script(state: State) -> str:
    """The same run with public names."""
    return "\n".join([_problem(state), _start(state), _run(state), _theory(state)])


def _problem(state: State) -> str:
    d, k, seed = state["in_dim"], state["out_dim"], state["seed"]
    lines = "import numpy as np\n\nimport linnet as ln\n\n"
    if state["target"] == "values":
        count = len(state["values"])
        return lines + (
            f"target = np.zeros(({k}, {d}))\n"
            f"target[:{count}, :{count}] = np.diag({sorted(state['values'], reverse=True)})\n"
            "problem = ln.Problem.from_target(target, truth=target)\n"
        )
    if state["target"] == "low_rank":
        return lines + (
            "problem = ln.problems.low_rank_plus_noise(\n"
            f"    {d}, out_dim={k}, rank={state['rank']}, noise_std={state['noise_std']!r}, key={seed}\n)\n"
        )
    drawn = f", samples={state['samples']}, noise_std={state['noise_std']!r}" if state["samples"] else ""
    return lines + (
        "problem = ln.problems.spiked_covariance(\n"
        f"    {d}, out_dim={k}, spike={state['spike']!r}, alignment={state['alignment']!r}, key={seed}{drawn}\n)\n"
    )


def _start(state: State) -> str:
    return f"""width, first_std, second_std = {state["width"]}, {state["first_std"]!r}, {state["second_std"]!r}
start = ln.inits.reduced_gaussian(
    key={state["seed"]},
    in_dim=problem.in_dim,
    out_dim=problem.out_dim,
    width=width,
    first_std=first_std,
    second_std=second_std,
)
threshold = (first_std**2 + second_std**2) * width / 2  # below it a mode learns lazily, above it actively

# long enough for the weakest mode of the truth
modes = np.linalg.svd(problem.truth, compute_uv=False)
weakest = modes[modes > 1e-9 * modes[0]][-1]
end = {state["until"]!r} * ln.theories.mixed.crossing_times([weakest], [0.0], threshold, level={SHARE} * weakest)[0]
"""


def _run(state: State) -> str:
    if state["how"] == "flow":
        return f"run = ln.gradient_flow(problem, start, times=np.linspace(0, end, {POINTS}), rtol={RTOL})\n"
    return f"""rate = {state["learning_rate"]!r} * ln.stable_learning_rate(problem, start)
steps = int(np.clip(np.ceil(end / rate), {LEAST_STEPS}, {MOST_STEPS}))
run = ln.gradient_descent(
    problem, start, learning_rate=rate, steps=steps, save_every=max(1, steps // {POINTS - 1})
)
"""


def _theory(state: State) -> str:
    if state["target"] == "spiked":
        theory = "ln.theories.mixed.integrate(problem, start.product, threshold, run.times, rtol=1e-7)"
    else:
        theory = "ln.theories.mixed.self_consistent(problem.cross, start.product, threshold, run.times, throw=False)"
    return f"""theory = {theory}
trained, predicted = run.singular_values, np.linalg.svd(theory, compute_uv=False)  # (time, mode)
loss, test_loss = run.loss, run.test_loss
"""


PAGE = Page(
    name="train",
    title="Train",
    introduction=(
        "A two-layer linear network W₂W₁ of any width, trained from a Gaussian start. Broad: trained; dashed: the "
        "self-consistent dynamics of Tu et al. from the same start. A mode below the threshold (σ₁² + σ₂²)h/2 learns "
        "lazily, above it actively."
    ),
    controls=CONTROLS,
    compute=train,
    views=(
        View("modes", "Singular values of the product", draw_modes, height=420),
        View("losses", "Loss and test error", draw_losses, height=420),
        View("at", "At the cursor", tell_cursor, kind="html", wide=True),
    ),
    script=script,
    folders=TRAINING,
    ahead=("", "how=flow"),
    freezes=True,
)
