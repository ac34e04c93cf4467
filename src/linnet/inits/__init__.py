"""Initial weights."""

from linnet.inits.balanced_weights import balanced
from linnet.inits.gaussian_weights import gaussian, reduced_gaussian
from linnet.inits.scalings import Scaling, scaling
from linnet.inits.structured import orthogonal, orthogonal_layers, signed
from linnet.inits.weights import Weights

__all__ = [
    "Scaling",
    "Weights",
    "balanced",
    "gaussian",
    "orthogonal",
    "orthogonal_layers",
    "reduced_gaussian",
    "scaling",
    "signed",
]
