"""Mixed lazy/active dynamics (Tu et al. 2024): one equation from lazy to balanced, and its phase diagram."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
