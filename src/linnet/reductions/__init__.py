"""Smaller problems with the same dynamics: exactly, or approximately with an error estimate."""

from linnet.reductions.deep import DeepReduction
from linnet.reductions.reduction import Reduction, reduce

__all__ = ["DeepReduction", "Reduction", "reduce"]
