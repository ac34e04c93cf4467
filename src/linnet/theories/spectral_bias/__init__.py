"""Spectral bias of training from the orthogonal initialization (Varre et al. 2023): modes over time, mirror flows, the
variational problem.

The noise process of the same paper is in `linnet.theories.noise_process`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
