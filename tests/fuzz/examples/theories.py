"""Theories: what is predicted without training."""

from __future__ import annotations

import numpy as np

import linnet as ln
from fuzz.examples import example, instance
from fuzz.examples import materials as m
from linnet.theories import denoising, spectral_descent
from linnet.theories import feature_learning as f
from linnet.theories import lazy_active as x

S = "theories.spectral_bias."
example(S + "activation_times", values=m.VALUES, gamma=0.25)
example(S + "alpha", product=m.TARGET, gamma=0.25)
example(S + "alpha_velocity", alpha=m.START / 4, cov=m.COV, cross=m.TARGET, gamma=0.25)
example(S + "bregman", values=m.VALUES, reference=[1.0, 0.5, 0.25], gamma=0.25)
example(S + "convergence_bound", beta=[3.0, 4.0], gamma=1.0, times=[0.5, 1.0])
example(S + "duality_gap", first=m.FIRST, second=m.SECOND / 4, cov=m.COV, cross=m.TARGET, gamma=0.25)
example(S + "kkt_residual", first=m.FIRST, second=m.SECOND, cov=m.COV, cross=m.TARGET, gamma=0.25)
example(S + "variational_potential", first=m.FIRST, second=m.SECOND, gamma=0.25)
example(S + "final_singular_values", values=m.VALUES, gamma=0.25, dim=4, second_gamma=0.125)
example(S + "half_times", values=m.VALUES, gamma=0.25)
example(S + "loss_rate", cov=m.COV, gamma=0.25)
example(S + "mirror", values=m.VALUES, gamma=0.25)
example(S + "potential", values=m.VALUES, gamma=0.25)
example(S + "predictor", alpha=m.START / 4, gamma=0.25)
example(S + "predictor_bregman", beta=[3.0, 4.0], reference=[1.0, 0.5], gamma=0.25)
for name in ("predictor_mirror", "predictor_warp"):
    example(S + name, beta=[3.0, 4.0], gamma=0.25)
example(S + "singular_values", values=m.VALUES, gamma=0.25, times=m.TIMES)

ONE_OUTPUT = "theories.one_output."
ONE = {"problem": ln.Problem.from_moments(m.COV, [[0.5, 0.25, 0.125]], truth=[[1.0, 0.5, 0.0]]), "threshold": 0.25}
for name in ("product_over_time", "error_over_time"):
    example(ONE_OUTPUT + name, **ONE, times=m.TIMES)
example(
    ONE_OUTPUT + "asymptotic",
    eigenvalues=[4.0, 1.0],
    overlaps=[0.5, 0.25],
    samples=20.0,
    threshold=0.25,
    times=m.TIMES,
    noise_variance=0.25,
    multiplicities=[1.0, 9.0],
)

CURVE = m.made(lambda: ln.theories.one_output.error_over_time(ONE["problem"], 0.25, m.TIMES))
instance(ONE_OUTPUT + "ErrorOverTime", CURVE, received=True)

M = "theories.lazy_active."
FLOW = {"target": m.TARGET, "initial_product": m.START, "threshold": 0.25}
MODES = {"targets": m.VALUES, "initial_values": [0.25, 0.5, 0.125]}
PLANE = {"gamma_variance": -1.5, "gamma_width": 1.25, "dim": 50}
instance(M + "GramGap", m.made(lambda: x.gram_gap(m.FIRST, m.SECOND, 0.25)), received=True)
instance(M + "PredictedDiagram", m.made(lambda: x.predicted_diagram(m.target_problem(), [0.01], [50])), received=True)
instance(M + "PredictedRun", m.made(lambda: x.predicted_run(m.target_problem(), 0.01, 50, m.TIMES)), received=True)
instance(M + "Solution", m.made(lambda: x.self_consistent_solution(m.TARGET, m.START, 0.25, m.TIMES)), received=True)
instance(M + "TaskSpectrum", m.spectrum, received=True)
example(M + "TaskSpectrum.grouped", on=m.spectrum, points=1)
example(M + "aligned_modes", **MODES, threshold=0.25, times=m.TIMES)
example(M + "balanced_modes", **MODES, times=m.TIMES)
example(M + "crossing_times", **MODES, threshold=0.25, level=0.375)
example(M + "alignment_bound", product=m.TARGET, reference=m.TRUTH, rank=2)
example(M + "alignment_defect", product=m.TARGET, truth=m.TRUTH, rank=2)
example(M + "asymptotic_spectrum", strengths=[90.0, 5.0], dim=200, noise_std=1.0, points=8)
example(M + "phase_boundaries", gamma_width=[1.0, 1.5], dim=50, rank=3, size=20.0)
example(M + "gram_cubic", own=m.COV, other=np.eye(2), product=m.TARGET, threshold=0.25)
example(M + "cubic_residuals", first=m.FIRST, second=m.SECOND, threshold=0.25)
example(M + "error_terms", **PLANE, step=0.125)
example(M + "self_consistent_layers", initial_product=m.START, threshold=0.25)
example(M + "gram_gap", first=m.FIRST, second=m.SECOND, threshold=0.25, width=7)
example(M + "gram_matrices", product=m.TARGET, threshold=0.25)
example(
    M + "integrate",
    problem=m.data_problem,
    initial_product=m.START,
    threshold=0.25,
    times=m.TIMES,
    rtol=1e-6,
    atol=1e-8,
)
example(M + "lazy_boundary", size=20.0, dim=50)
example(M + "lazy_descent", **FLOW, learning_rate=0.125, steps=[0, 1, 4])
example(M + "lazy_error_floor", truth=m.TRUTH, noise=m.TARGET, remaining=[1.0, 0.5])
example(M + "lazy_flow", **FLOW, times=m.TIMES)
example(M + "predicted_alignment", values=m.VALUES, threshold=0.25)
example(M + "mode_slopes", values=m.VALUES, threshold=0.25, times=m.TIMES, nan=("times",))
example(M + "mode_speed", values=m.VALUES, threshold=0.25)
example(M + "mode_values", values=m.VALUES, threshold=0.25, times=m.TIMES, nan=("times",))
example(M + "phase", gamma_variance=-1.5, gamma_width=1.25)
example(
    M + "predicted_diagram",
    problem=m.target_problem,
    variances=[0.01],
    widths=[50],
    points=2,
    draws=2,
    limit=0.03,
    key=0,
)
example(
    M + "predicted_run",
    problem=m.target_problem,
    variance=0.01,
    width=50,
    times=m.TIMES,
    draws=1,
    key=0,
    nan=("times",),
)
example(M + "self_consistent", **FLOW, times=m.TIMES)
example(M + "self_consistent_solution", **FLOW, times=m.TIMES)
example(M + "spectrum_constant", spectrum=[1.0, 0.5])
example(M + "split_flow", problem=m.target_problem, weights=m.weights, times=m.TIMES, steps=2)
example(M + "stage_lengths", spectrum=[1.0, 0.5], **PLANE)
example(M + "stopping_time", spectrum=[1.0, 0.5], **PLANE, clock="paper")
example(M + "task_spectrum", problem=m.target_problem)

BALANCED = m.made(lambda: x.balanced_solution(m.TARGET, np.eye(2, 3), np.zeros((2, 2)), m.TIMES))
instance(M + "BalancedSolution", BALANCED, received=True)
example(M + "BalancedSolution.ntk", on=BALANCED, X=np.eye(3))
example(M + "balanced_solution", target=m.TARGET, first=np.eye(2, 3), second=np.zeros((2, 2)), times=m.TIMES)

D = "theories.spectral_descent."
instance(D + "SpectralMinimum", m.made(lambda: spectral_descent.minimum(m.target_problem(), 0.25)), received=True)
example(D + "level", threshold=0.25, times=m.TIMES, nan=("times",))
example(D + "mode_values", target_values=m.VALUES, threshold=0.25, times=m.TIMES, nan=("times",))
example(D + "product", target=m.TARGET, threshold=0.25, times=m.TIMES, nan=("times",))
example(D + "minimum", problem=m.target_problem, threshold=0.25, width=50)
example(D + "time_of_level", levels=[0.5, 1.0], threshold=0.25)

F = "theories.feature_learning."
NEURONS = {"alignments": [0.5, -0.25], "magnitudes": [0.5, -0.5]}
instance(F + "Stages", m.stages)
instance(
    F + "Assumption",
    m.made(
        lambda: f.assumption(m.regression(), width=8, learning_rate=0.05, first_std=0.25, magnitude=0.5, epsilon=0.1)
    ),
    received=True,
)
instance(F + "Condition", m.made(lambda: f.Condition("1", "text", 1.0, "<=", 2.0)), received=True)
example(F + "Stages", X=m.X, y=m.LABELS, width=8, learning_rate=0.05, first_std=0.25, magnitude=0.5)
example(F + "Stages.linear", on=m.stages, overlaps=[0.25, 0.5], magnitudes=[0.5, -0.5], steps=[0, 2, 5])
example(F + "Stages.two_variable", on=m.stages, **NEURONS, steps=[0, 2, 5], overlaps=[0.25, 0.5])
example(F + "Stages.one_variable", on=m.stages, alignments=[0.5, 0.25], steps=[0, 2, 5])
example(F + "Stages.proxy", on=m.stages, alignments=[0.5, 0.25])
example(F + "Stages.loss", on=m.stages, **NEURONS, overlaps=[0.25, 0.5])
example(F + "Stages.first_time", on=m.stages, level=1.0)
example(F + "Stages.second_time", on=m.stages, share=0.25, initial_alignment=0.5)
example(F + "Stages.kernel", on=m.stages, square=0.5)
example(F + "Stages.network_kernel", on=m.stages, **NEURONS, overlaps=[0.25, 0.5])
example(F + "admissible", data=m.regression, width=8, epsilon=0.25, margin=10.0)
example(
    F + "assumption",
    data=m.regression,
    width=8,
    learning_rate=0.05,
    first_std=0.25,
    magnitude=0.5,
    epsilon=0.25,
    constants={"width": 2.0},
)
example(F + "target_aligned_kernel", gram=m.COV, outputs=[1.0, -0.5, 0.25])
instance(F + "FinalState", m.made(lambda: f.final_state(m.COV, [1.0, -0.5, 0.25])), received=True)
example(F + "final_state", gram=m.COV, outputs=[1.0, -0.5, 0.25])
example(F + "lazy_feature_ratio", initial_ratio=[0.5, 2.0], share=0.25)

N = "theories.noise_process."
example(N + "second_moments", first_square=2.0, second_square=0.5, times=m.TIMES, in_dim=3, out_dim=2, noise_std=0.5)
example(
    N + "euler_second_moments",
    first_square=2.0,
    second_square=0.5,
    steps=[0.25, 0.5],
    in_dim=3,
    out_dim=2,
    noise_std=0.5,
)
example(N + "exponent_sum", clock=0.5, in_dim=3, columns=2)
example(N + "lyapunov_exponents", in_dim=3, noise_std=0.5)
example(N + "commutator_mean_limit", determinant=2.0)
example("theories.label_noise.decay_rates", problem=m.data_problem, learning_rate=0.25, noise_std=0.5)
example("theories.label_noise.expansion_parameters", problem=m.data_problem, learning_rate=0.25, noise_std=0.5)
B = "theories.noise_bulk."
example(B + "ratio_of", outputs=2, inputs=3)
example(B + "bulk_edges", ratio=0.25)
example(B + "bulk_cdf", values=[0.75, 1.0], ratio=0.25)
example(B + "bulk_quantile", share=0.25, ratio=0.25)
D = "theories.denoising."
FILTER = {"filtered": [1.0, 0.5, 0.25], "slopes": [0.75, 0.5, 0.25], "noise_variance": 0.25}
instance(D + "SpectralRisk", m.made(lambda: denoising.SpectralRisk(m.VALUES, (3, 4))))
example(D + "sure", values=m.VALUES, **FILTER, shape=(3, 4))
example(D + "SpectralRisk", values=m.VALUES, shape=(3, 4))
example(D + "SpectralRisk.estimate", on=m.made(lambda: denoising.SpectralRisk(m.VALUES, (3, 4))), **FILTER)
R = "theories.ridge."
SPECTRUM = {"eigenvalues": m.VALUES, "samples": 2.0, "ridge": 0.25, "multiplicities": [1, 2, 3]}
instance(R + "RidgeSpectrum", m.made(lambda: ln.theories.ridge.estimate(m.X, m.Y)), received=True)
example(R + "risk", **SPECTRUM, overlaps=[0.5, 0.25, 1.0], noise_variance=0.25)
example(R + "estimate", X=m.X, Y=m.Y)
example("theories.aligned_flow.aligned_flow", problem=m.spiked_problem, u0=0.25, times=m.TIMES)
example("theories.aligned_flow.aligned_flow", problem=m.spiked_problem, u0=[0.25, 0.5, 0.0, 0.0], times=m.TIMES)
example("theories.aligned_flow.growth_direction", problem=m.scalar_problem, weights=m.scalar_weights)
example(
    "theories.aligned_flow.integrate",
    cov=m.COV,
    cross=np.array([1.0, 0.5, 0.25]),
    times=m.TIMES,
    initial_product=np.array([0.25, 0.5, 0.0]),
)
P = "theories.spiked."
instance(P + "TwoPhase", m.two_phase)
example(P + "TwoPhase", spike=3.0, alignment=0.5, variance=1.5)
for name in ("correlation", "lambda1", "lambda2", "nu", "has_second_phase", "basis", "fixed_point"):
    example(
        P + f"TwoPhase.{name}",
        call=lambda spike, alignment, variance, name=name: getattr(
            ln.theories.spiked.TwoPhase(spike, alignment, variance), name
        ),
        spike=3.0,
        alignment=0.5,
        variance=1.5,
    )
example(P + "TwoPhase.vector_field", on=m.two_phase, w=[0.25, 0.5])
example(P + "TwoPhase.nullclines", on=m.two_phase, points=5, radius=2.0)
example(P + "TwoPhase.growth", on=m.two_phase, u0=0.25, times=m.TIMES)
example(P + "TwoPhase.early", on=m.two_phase, u0=0.25, times=m.TIMES)
example(P + "TwoPhase.early_second", on=m.two_phase, u0=0.25, times=m.TIMES)
example(P + "TwoPhase.reduced", on=m.two_phase, u0=0.25, times=m.TIMES)
example(P + "TwoPhase.early_time", on=m.two_phase, scale=0.125)
example(P + "TwoPhase.later_bound", on=m.two_phase, delta=3.0)
example(P + "TwoPhase.later_time", on=m.two_phase, scale=0.125, delta=3.0)
example(P + "TwoPhase.strong_spike_length", on=m.two_phase, delta=3.0)
example(P + "late_rate", covariance=m.COV, target=[1.0, 0.5, 0.25])
example(P + "generalization_error", spike=3.0, alignment=0.5, ratio=2.0, variance=1.5, normalized=True)

D = "theories.deep."
DEEP_MODES: dict = {"values": [2.0, 0.5], "depth": 3, "times": m.TIMES}
example(D + "balanced_modes", **DEEP_MODES, initial_values=0.25)
example(D + "balanced_times", values=[2.0, 0.5], initial_values=0.125, reached=0.25, depth=3)
example(D + "gaussian_modes", **DEEP_MODES, coupling=0.5, order=3, slow=True)
example(D + "gaussian_modes", **DEEP_MODES, coupling=0.5, rtol=1e-2, slow=True)
example(D + "orthogonal_modes", **DEEP_MODES, scales=0.5, slow=True)
example(D + "threshold", coupling=0.5, depth=3)
example(
    D + "deep_diagram",
    problem=m.target_problem,
    variances=[1e-4, 1e-2],
    widths=[1000],
    depth=2,
    points=4,
    slow=True,
)
