"""How weights start."""

from linnet.inits.deep import deep_balanced, deep_gaussian, deep_orthogonal
from linnet.inits.gaussian_weights import gaussian, reduced_gaussian
from linnet.inits.layers import Layers
from linnet.inits.reduced_deep import reduced_deep_gaussian
from linnet.inits.scalings import Scaling, scaling
from linnet.inits.structured import balanced, orthogonal, signed
from linnet.inits.weights import Weights

__all__ = [
    "Layers",
    "Scaling",
    "Weights",
    "balanced",
    "deep_balanced",
    "deep_gaussian",
    "deep_orthogonal",
    "gaussian",
    "orthogonal",
    "reduced_deep_gaussian",
    "reduced_gaussian",
    "scaling",
    "signed",
]
