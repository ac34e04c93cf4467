"""How weights start."""

from linnet.inits.gaussian_weights import gaussian, reduced_gaussian
from linnet.inits.structured import balanced, orthogonal, signed
from linnet.inits.weights import Weights

__all__ = ["Weights", "balanced", "gaussian", "orthogonal", "reduced_gaussian", "signed"]
