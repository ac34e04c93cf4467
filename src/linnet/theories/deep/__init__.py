"""Networks of any depth, mode by mode: balanced, wide Gaussian and orthogonal starts, limits and phase diagram."""

from linnet.theories.deep.balanced import balanced_modes, balanced_products, balanced_times
from linnet.theories.deep.diagram import deep_diagram
from linnet.theories.deep.limits import threshold
from linnet.theories.deep.modes import gaussian_modes, orthogonal_modes

__all__ = [
    "balanced_modes",
    "balanced_products",
    "balanced_times",
    "deep_diagram",
    "gaussian_modes",
    "orthogonal_modes",
    "threshold",
]
