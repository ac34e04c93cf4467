"""Mixed lazy/active dynamics (Tu et al. 2024): one equation from lazy to balanced, and its phase diagram."""

from linnet.theories.lazy_active.alignment import alignment_bound, alignment_defect
from linnet.theories.lazy_active.asymptotic_spectra import asymptotic_spectrum
from linnet.theories.lazy_active.closed_form import (
    Solution,
    UndeterminedError,
    self_consistent,
    self_consistent_layers,
    self_consistent_solution,
)
from linnet.theories.lazy_active.gram import (
    GramGap,
    cubic_residuals,
    gram_cubic,
    gram_gap,
    gram_matrices,
)
from linnet.theories.lazy_active.integrated import integrate
from linnet.theories.lazy_active.lambda_balanced import BalancedSolution, balanced_solution
from linnet.theories.lazy_active.limits import (
    aligned_modes,
    balanced_modes,
    crossing_times,
    lazy_descent,
    lazy_error_floor,
    lazy_flow,
    mode_speed,
    predicted_alignment,
)
from linnet.theories.lazy_active.phase_diagram import (
    error_terms,
    lazy_boundary,
    phase,
    phase_boundaries,
    spectrum_constant,
    stage_lengths,
    stopping_time,
)
from linnet.theories.lazy_active.predicted_diagrams import PredictedDiagram, predicted_diagram
from linnet.theories.lazy_active.predicted_runs import PredictedRun, predicted_run
from linnet.theories.lazy_active.spectral_flows import mode_slopes, mode_values
from linnet.theories.lazy_active.splitting import split_flow
from linnet.theories.lazy_active.task_spectra import TaskSpectrum, task_spectrum

__all__ = [
    "BalancedSolution",
    "GramGap",
    "PredictedDiagram",
    "PredictedRun",
    "Solution",
    "TaskSpectrum",
    "UndeterminedError",
    "aligned_modes",
    "alignment_bound",
    "alignment_defect",
    "asymptotic_spectrum",
    "balanced_modes",
    "balanced_solution",
    "crossing_times",
    "cubic_residuals",
    "error_terms",
    "gram_cubic",
    "gram_gap",
    "gram_matrices",
    "integrate",
    "lazy_boundary",
    "lazy_descent",
    "lazy_error_floor",
    "lazy_flow",
    "mode_slopes",
    "mode_speed",
    "mode_values",
    "phase",
    "phase_boundaries",
    "predicted_alignment",
    "predicted_diagram",
    "predicted_run",
    "self_consistent",
    "self_consistent_layers",
    "self_consistent_solution",
    "spectrum_constant",
    "split_flow",
    "stage_lengths",
    "stopping_time",
    "task_spectrum",
]
