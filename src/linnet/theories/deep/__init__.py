"""Networks of any depth, mode by mode: balanced, wide Gaussian and orthogonal starts, limits and phase diagram."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
