"""Smaller problems with exactly the same dynamics."""

from linnet.reductions.reduction import Reduction, reduce

__all__ = ["Reduction", "reduce"]
