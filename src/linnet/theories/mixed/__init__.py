"""Mixed lazy/active dynamics (Tu et al. 2024): one equation from lazy to balanced, and its phase diagram."""

from linnet.theories.mixed.alignment import alignment_bound, alignment_defect
from linnet.theories.mixed.asymptotic_spectra import asymptotic_spectrum
from linnet.theories.mixed.closed_form import Solution, UndeterminedError, factors, self_consistent, solve
from linnet.theories.mixed.gram import GramGap, cubic, cubic_residuals, gram_gap, gram_matrices, projection_gap
from linnet.theories.mixed.integrated import integrate
from linnet.theories.mixed.limits import (
    aligned_modes,
    balanced_modes,
    crossing_times,
    lazy_descent,
    lazy_error_floor,
    lazy_flow,
    mode_speed,
    predicted_alignment,
)
from linnet.theories.mixed.phase_diagram import (
    borders,
    error_terms,
    lazy_border,
    phase,
    spectrum_constant,
    stage_lengths,
    stopping_time,
)
from linnet.theories.mixed.predicted_diagrams import PredictedDiagram, predicted_diagram
from linnet.theories.mixed.predicted_runs import PredictedRun, predicted_run
from linnet.theories.mixed.spectral_flows import mode_slopes, mode_values, spectral_flow
from linnet.theories.mixed.splitting import split_flow
from linnet.theories.mixed.task_spectra import Spectrum, task_spectrum

__all__ = [
    "GramGap",
    "PredictedDiagram",
    "PredictedRun",
    "Solution",
    "Spectrum",
    "UndeterminedError",
    "aligned_modes",
    "alignment_bound",
    "alignment_defect",
    "asymptotic_spectrum",
    "balanced_modes",
    "borders",
    "crossing_times",
    "cubic",
    "cubic_residuals",
    "error_terms",
    "factors",
    "gram_gap",
    "gram_matrices",
    "integrate",
    "lazy_border",
    "lazy_descent",
    "lazy_error_floor",
    "lazy_flow",
    "mode_slopes",
    "mode_speed",
    "mode_values",
    "phase",
    "predicted_alignment",
    "predicted_diagram",
    "predicted_run",
    "projection_gap",
    "self_consistent",
    "solve",
    "spectral_flow",
    "spectrum_constant",
    "split_flow",
    "stage_lengths",
    "stopping_time",
    "task_spectrum",
]
